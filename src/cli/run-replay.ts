/** `stagecraft replay`: an actor at any moment of its past, from a running agent, an exported journal or a data directory. */
import { existsSync } from 'node:fs';
import type { StoredPast as Past, StoredAt } from '../agent/stored-past.js';
import type { JournalPage, MomentAnswer } from '../api/actor-routes.js';
import { StagecraftError } from '../errors.js';
import { MomentAnswers } from '../inspector/journal-pages.js';
import { checkJournal, type Difference, differencesOf, type JournalCheck } from '../journal/check-journal.js';
import { lastLines } from '../journal/history.js';
import { type JournalFile, openJournal } from '../journal/journal-file.js';
import { misuse } from './arguments.js';
import { type LookOptions, lookAtAgent, soon, storedAt } from './connection.js';
import { addressIn, agentNode, durationText, fromTo, historyTable } from './history.js';
import { print, printJson, warn } from './output.js';
import { factsTable, lineChars, table } from './print.js';
import type { InNamespace } from './resource-commands.js';

export interface ReplayOptions extends LookOptions, InNamespace, StoredAt {
  to?: number;
  step?: number;
  back?: number;
  diff?: boolean;
  crash?: boolean;
  check?: boolean;
}

/** Steps shown that led to a crash. */
const mostSteps = 20;

export async function replay(what: string, more: string[], options: ReplayOptions): Promise<void> {
  if (options.check) return check([what, ...more], options);
  const stored = storedAt(options);
  if (stored) {
    const { storedPast, withStoredJournal } = await import('../agent/stored-past.js');
    const address = await addressIn(what, more[0], options);
    return withStoredJournal(stored, async (journal) => show(await storedPast(journal, address), options));
  }
  if (existsSync(what)) {
    const [given, name] = more;
    return show(await pastInFile(what, given && (await addressIn(given, name, options))), options);
  }
  if (/^[./]|\.\w+$/.test(what)) throw misuse(`there is no file ${what}`);
  return show(await pastOfAgent(what, more[0], options), options);
}

async function show(past: Past, options: ReplayOptions): Promise<void> {
  const seq = await wishedSeq(past, options);
  const moment = await past.at(seq);
  const before = seq > 1 ? await past.at(seq - 1).catch(() => undefined) : undefined;
  const steps = options.crash ? await past.steps(seq, mostSteps) : undefined;
  if (options.json)
    return printJson(options.diff || steps ? { ...(options.diff && { before }), steps, moment } : moment);
  if (steps) print(`${historyTable({ address: past.address, lines: steps }, lineChars(options))}\n`);
  print(momentText(moment, { last: past.last, before, isDiff: options.diff ?? false }));
}

async function wishedSeq(past: Past, { to, step = 0, back = 0, crash }: ReplayOptions): Promise<number> {
  const from = crash ? await past.lastCrash() : (to ?? past.last);
  if (from === undefined) throw misuse(`the machine of ${past.address} never threw, as far as its journal is kept`);
  const wished = from + step - back;
  const seq = Math.max(1, Math.min(past.last, wished));
  if (seq !== wished) warn(`there is no entry ${wished}, but 1 to ${past.last}: this is entry ${seq}`);
  return seq;
}

async function pastOfAgent(given: string, name: string | undefined, options: ReplayOptions): Promise<Past> {
  const agent = await lookAtAgent(options);
  const { actors } = agent;
  const address = await addressIn(given, name, options, agentNode(agent));
  const params = { address };
  const { last } = await actors.journal({ params, query: { limit: 1 }, ...soon });
  return {
    ...{ address, last },
    at: async (seq) => {
      const answer = await actors.moments({ params, query: { seq }, ...soon });
      if ('entry' in answer) return answer;
      throw new TypeError(`the agent answered a page, and not entry ${seq}`);
    },
    steps: async (to, most) => {
      const { lines } = await actors.history({ params, query: { before: to + 1, limit: most }, ...soon });
      return lines;
    },
    lastCrash: async () => {
      for (let before: number | undefined = last + 1; before !== undefined; ) {
        const page: JournalPage = await actors.journal({ params, query: { before, limit: 1_000 }, ...soon });
        const crash = page.entries.findLast(({ kind }) => kind === 'crash');
        if (crash) return crash.seq;
        before = page.before;
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
    steps: (to, most) => lastLines(address, file.moments(address), { to, most }),
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

async function check(paths: readonly string[], { json }: ReplayOptions): Promise<void> {
  const checks: ({ file: string } & Awaited<ReturnType<typeof checkJournal>>)[] = [];
  for (const path of paths) {
    try {
      const file = await openJournal(path);
      for (const { address } of file.actors)
        checks.push({ file: path, ...(await checkJournal(address, file.entries(address))) });
    } catch (error) {
      if (!(error instanceof StagecraftError)) throw error;
      const { code, message } = error;
      throw new StagecraftError(code, message.startsWith(path) ? message : `${path}: ${message}`, { cause: error });
    }
  }
  if (json) printJson(checks);
  else print(checkText(checks));
  if (checks.some(({ divergence }) => divergence)) process.exitCode = 1;
}

interface MomentOptions {
  /** Seq of the newest entry. */
  last: number;
  before: MomentAnswer | undefined;
  /** Leaves out what has not changed. */
  isDiff: boolean;
}

function momentText(moment: MomentAnswer, { last, before, isDiff }: MomentOptions): string {
  const { address, seq, entry, line, health, why, snapshot, parts, effects, timers, thrown } = moment;
  const details = [
    `from ${line.from}`,
    ...(line.attempt === undefined ? [] : [`attempt ${line.attempt}`]),
    ...(line.tookMs === undefined ? [] : [`took ${durationText(line.tookMs)}`]),
  ];
  const facts: [string, string][] = [
    ['actor', address],
    ['step', `${seq} of ${last}, ${new Date(entry.at).toISOString()}`],
    ['what', `${line.what} (${details.join(', ')})`],
    ...(line.message === undefined ? [] : [['said', line.message] as [string, string]]),
    ['state', fromTo(line.before, line.after)],
    ['is', `${health.replace('-', ' ')}: ${why}`],
  ];
  const changes = differencesOf(before?.snapshot?.context, snapshot?.context);
  return [
    factsTable(facts),
    ...(parts.length === 0
      ? []
      : [
          table(
            ['PART', 'STATE', 'WHY'],
            parts.map(({ id, at, why: reason = '' }) => [id, at, reason]),
          ),
        ]),
    ...(effects.length === 0
      ? []
      : [
          table(
            ['EFFECT', 'SINCE STEP'],
            effects.map(({ id, seq: since }) => [id, String(since)]),
          ),
        ]),
    ...(timers.length === 0
      ? []
      : [
          table(
            ['TIMER', 'DUE'],
            timers.map(({ id, dueAtMs }) => [id, new Date(dueAtMs).toISOString()]),
          ),
        ]),
    ...(thrown === undefined ? [] : [`the machine threw, and keeps its state:\n${thrown}`]),
    ...(isDiff
      ? [changes.map(changeText).join('\n') || 'its context has not changed']
      : [JSON.stringify(snapshot?.context, null, 2) ?? 'deleted']),
  ].join('\n\n');
}

function changeText({ path, was, is }: Difference): string {
  if (was === undefined) return `+ ${path}: ${JSON.stringify(is)}`;
  if (is === undefined) return `- ${path}: ${JSON.stringify(was)}`;
  return `~ ${path}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`;
}

const checkText = (checks: readonly (JournalCheck & { file: string })[]): string =>
  checks
    .map(({ file, address, compared, skipped, divergence }) => {
      const passed = `${compared} entries lead to the same states`;
      const left = skipped > 0 ? `, ${skipped} could not be compared` : '';
      if (!divergence) return `${file}: ${address}: ${passed}${left}`;
      const { seq, path, expected, got } = divergence;
      const differs = `entry ${seq}: ${path} was ${JSON.stringify(expected)}, and is ${JSON.stringify(got)} now`;
      return `${file}: ${address}: DIFFERS at ${differs}`;
    })
    .join('\n');
