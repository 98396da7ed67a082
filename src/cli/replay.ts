/** `stagecraft replay`: an actor at any moment of its past, from a running agent or from an exported journal. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { HistoryPage, JournalPage, MomentAnswer } from '../inspector/answers.js';
import { MomentAnswers } from '../inspector/moment-answers.js';
import { checkJournal } from '../journal/check-journal.js';
import { History, type HistoryLine } from '../journal/history.js';
import { type JournalFile, openJournal } from '../journal/journal-file.js';
import { countIn } from './arguments.js';
import { type LookOptions, look, lookAt, print, printJson, socketOf } from './connection.js';
import { addressIn } from './history.js';
import { lineChars } from './print.js';
import { historyTable } from './print-history.js';
import { checkText, momentText } from './print-replay.js';
import { type InNamespace, inNamespace, misuse } from './requests.js';

interface ReplayOptions extends LookOptions, InNamespace {
  to?: number;
  step?: number;
  back?: number;
  diff?: boolean;
  crash?: boolean;
  check?: boolean;
}

/** Steps shown that led to a crash. */
const mostSteps = 20;

export function addReplay(program: Command): void {
  inNamespace(
    lookAt(
      program
        .command('replay <what> [more...]')
        .description(
          "show an actor at a moment of its past: its address, 'volume NAME', or FILE [ADDRESS] of an exported journal",
        ),
    ),
    'volume',
  )
    .option('--to <seq>', 'the moment right after this entry of its journal; default: the last one', countIn)
    .option('--step <n>', 'so many entries later', countIn)
    .option('--back <n>', 'so many entries earlier', countIn)
    .option('--diff', 'only what has changed since the entry before')
    .option('--crash', 'the last entry at which its machine threw: the steps that led there, and the stack')
    .option('--check', 'compare journal files with the machines of this version; exit code 1 if one differs')
    .action(replay);
}

/** Past of one actor, wherever it is. */
interface Past {
  address: string;
  /** Seq of the newest entry. */
  last: number;
  at(seq: number): Promise<MomentAnswer>;
  /** Steps up to this one, the newest of them. */
  steps(to: number): Promise<HistoryLine[]>;
  /** Seq of the last entry at which the machine threw; undefined: it never did. */
  lastCrash(): Promise<number | undefined>;
}

async function replay(what: string, more: string[], options: ReplayOptions): Promise<void> {
  if (options.check) return check([what, ...more], options);
  const past = existsSync(what) ? await pastInFile(what, more[0]) : await pastOfAgent(what, more[0], options);
  const seq = await wishedSeq(past, options);
  const moment = await past.at(seq);
  const before = seq > 1 ? await past.at(seq - 1).catch(() => undefined) : undefined;
  const steps = options.crash ? await past.steps(seq) : undefined;
  if (options.json)
    return printJson(options.diff || steps ? { ...(options.diff && { before }), steps, moment } : moment);
  if (steps) print(`${historyTable({ address: past.address, lines: steps }, lineChars(options))}\n`);
  print(momentText(moment, { last: past.last, before, isDiff: options.diff ?? false }));
}

async function wishedSeq(past: Past, { to, step = 0, back = 0, crash }: ReplayOptions): Promise<number> {
  const from = crash ? await past.lastCrash() : (to ?? past.last);
  if (from === undefined) throw misuse(`the machine of ${past.address} never threw, as far as its journal is kept`);
  return Math.max(1, Math.min(past.last, from + step - back));
}

async function pastOfAgent(given: string, name: string | undefined, options: ReplayOptions): Promise<Past> {
  const socketPath = socketOf(options);
  const address = addressIn(given, name, options);
  const path = encodeURIComponent(address);
  const page = (query: string): Promise<JournalPage> => look<JournalPage>(socketPath, `/v1/journal/${path}?${query}`);
  const { last } = await page('limit=1');
  return {
    ...{ address, last },
    at: (seq) => look<MomentAnswer>(socketPath, `/v1/moments/${path}?seq=${seq}`),
    steps: async (to) => {
      const query = `before=${to + 1}&limit=${mostSteps}`;
      return (await look<HistoryPage>(socketPath, `/v1/history/${path}?${query}`)).lines;
    },
    lastCrash: async () => {
      for (let before: number | undefined = last + 1; before !== undefined; ) {
        const { entries, before: earlier }: JournalPage = await page(`before=${before}&limit=1000`);
        const crash = entries.findLast(({ kind }) => kind === 'crash');
        if (crash) return crash.seq;
        before = earlier;
      }
      return undefined;
    },
  };
}

async function pastInFile(path: string, named: string | undefined): Promise<Past> {
  const file = await openJournal(path);
  const [only, ...others] = file.actors;
  if (named === undefined && others.length > 0)
    throw misuse(`${path} has ${file.actors.length} actors: name one after it, such as ${only?.address}`);
  const address = named ?? only?.address ?? '';
  return {
    address,
    last: file.actors.find((actor) => actor.address === address)?.last ?? 0,
    at: (seq) => momentInFile(file, address, seq),
    steps: (to) => stepsInFile(file, address, to),
    lastCrash: async () => {
      let crash: number | undefined;
      for await (const { kind, seq } of file.entries(address)) if (kind === 'crash') crash = seq;
      return crash;
    },
  };
}

async function momentInFile(file: JournalFile, address: string, seq: number): Promise<MomentAnswer> {
  const answers = new MomentAnswers(address);
  for await (const moment of file.moments(address)) {
    const answer = answers.answerOf(moment);
    if (answer.seq === seq) return answer;
  }
  throw misuse(
    `the state of ${address} after entry ${seq} is not known: its beginning, or that version, is not in the file`,
  );
}

async function stepsInFile(file: JournalFile, address: string, to: number): Promise<HistoryLine[]> {
  const history = new History(address);
  const steps: HistoryLine[] = [];
  for await (const moment of file.moments(address)) {
    if (moment.seq > to) break;
    steps.push(history.lineOf(moment));
    if (steps.length > mostSteps) steps.shift();
  }
  return steps;
}

async function check(paths: readonly string[], { json }: ReplayOptions): Promise<void> {
  const checks: ({ file: string } & Awaited<ReturnType<typeof checkJournal>>)[] = [];
  for (const path of paths) {
    const file = await openJournal(path);
    for (const { address } of file.actors)
      checks.push({ file: path, ...(await checkJournal(address, file.entries(address))) });
  }
  if (json) printJson(checks);
  else print(checkText(checks));
  if (checks.some(({ divergence }) => divergence)) process.exitCode = 1;
}
