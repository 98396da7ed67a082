/**
 * History of an actor, one line per step: what came, from whom, what it changed, and for a call its answer. Pure; made of
 * replayed moments, so it is the same on a live store and in an exported file. The words: history-words.ts
 */
import { catalogEntryOf, shownPathOf } from '../../machines/catalog.js';
import type { AnswerClass, CallOutcome } from '../../machines/kit/csi-types.js';
import { type PartView, partChanges } from '../../machines/kit/parts.js';
import { pathOf } from '../../machines/kit/state-path.js';
import type { JournalEntry } from '../engine/actor/actor-record.js';
import type { PersistedSnapshot } from '../engine/machine/hosted-machine.js';
import type { Moment } from '../engine/machine/replay.js';
import { rpcOf, sentenceOf } from './history-words.js';

export interface HistoryLine {
  seq: number;
  /** Milliseconds since the epoch. */
  at: number;
  /** The input, in words. */
  what: string;
  /** `caller`, `timer`, `engine`, `effect`, the name of a plugin, or the address of another actor. */
  from: string;
  /** State before and after, as a path; absent: no actor. */
  before?: string;
  after?: string;
  /** State before in the chart of the machine, where people see another path. */
  chartBefore?: string;
  parts: { id: string; before?: string; after?: string }[];
  /** Call to the plugin whose answer came, its status, and how long the answer took since the request was sent. */
  rpc?: string;
  code?: string;
  tookMs?: number;
  /** Number of this attempt, and when the next one is due. */
  attempt?: number;
  nextAttemptAtMs?: number;
  /** Why, in the words of the plugin or of the machine. */
  message?: string;
  tone: HistoryTone;
}

/** Meaning of the step for the work: `in-doubt` may have taken effect; `failed` stays so until somebody acts. */
export type HistoryTone = 'plain' | 'done' | 'waiting' | 'in-doubt' | 'failed';

type Outcome = CallOutcome<unknown>;

/** Status of gRPC. */
const answeredOk = 'OK';

/** Answers after which nothing has changed, and the same call is repeated. */
const repeatable: ReadonlySet<AnswerClass | undefined> = new Set(['busy', 'repair', 'not-so', 'start-over']);

/** Makes the lines of one actor, moment after moment. */
export class History {
  readonly #address: string;
  readonly #parts: (context: never) => PartView[];
  #before: Moment | undefined;
  /** Attempts so far at each call that goes on, by the thing that the call is about. */
  readonly #attempts = new Map<string, Map<string, number>>();

  constructor(address: string) {
    this.#address = address;
    this.#parts = catalogEntryOf(address)?.parts ?? (() => []);
  }

  lineOf(moment: Moment): HistoryLine {
    const before = this.#before;
    this.#before = moment;
    const { entry, seq, snapshot } = moment;
    const parts = partChanges(this.#partsOf(before), this.#partsOf(moment));
    const next = parts.flatMap(({ part }) => part?.nextAttemptAtMs ?? []).filter((at) => at > entry.at);
    return {
      ...{ seq, at: entry.at, what: sentenceOf(entry), from: fromOf(entry), tone: 'plain' },
      ...(before?.snapshot && this.#statesBefore(before.snapshot)),
      ...(snapshot && { after: this.#pathOf(snapshot) }),
      parts: parts.map(({ id, before: was, part }) => ({
        id,
        ...(was && { before: was }),
        ...(part && { after: part.at }),
      })),
      ...(next.length > 0 && { nextAttemptAtMs: Math.min(...next) }),
      ...(entry.error !== undefined && { message: entry.error, tone: 'failed' }),
      ...this.#callOf(moment, before),
    };
  }

  #statesBefore(snapshot: PersistedSnapshot): Pick<HistoryLine, 'before' | 'chartBefore'> {
    const [before, chartBefore] = [this.#pathOf(snapshot), pathOf(snapshot.value)];
    return before === chartBefore ? { before } : { before, chartBefore };
  }

  #pathOf({ value, context }: PersistedSnapshot): string {
    return shownPathOf(this.#address, value, context);
  }

  #partsOf(moment: Moment | undefined): PartView[] {
    return moment?.snapshot ? this.#parts(moment.snapshot.context as never) : [];
  }

  /** Fields that an answer of a plugin adds to the line. */
  #callOf({ entry }: Moment, before: Moment | undefined): Partial<HistoryLine> {
    const { source, sentAtMs, at } = entry;
    if (source.kind !== 'effect') return {};
    const effect = before?.effects.find(({ id }) => id === source.id);
    const input: CallInput = effect?.input instanceof Object ? effect.input : {};
    const answer = recordedAnswer(entry, this.#address, { src: effect?.src ?? source.id, plugin: input.plugin });
    if (!answer?.wasMade) return answer?.line ?? {};
    const attempt = this.#countAttempt(source.id, input, answer.line);
    return {
      ...answer.line,
      ...((attempt > 1 || answer.line.code !== answeredOk) && { attempt }),
      ...(sentAtMs !== undefined && { tookMs: at - sentAtMs }),
    };
  }

  /**
   * Counts attempts at the same goal: each node, alloc and volume has counts of its own. They end with an answer for good, and
   * with a call that was done for the same node or alloc: after it another goal begins.
   */
  #countAttempt(call: string, input: CallInput, { code, tone }: Answer['line']): number {
    const { name, csiId, csiNodeId, allocId } = input;
    const hasPlace = csiNodeId !== undefined || allocId !== undefined;
    const about = JSON.stringify([name ?? csiId, csiNodeId, allocId, hasPlace || call]);
    const counts = this.#attempts.get(about) ?? new Map<string, number>();
    const attempt = (counts.get(call) ?? 0) + 1;
    if (code === answeredOk || tone === 'failed') this.#attempts.delete(about);
    else this.#attempts.set(about, counts.set(call, attempt));
    return attempt;
  }
}

/** Fields of a call that name the thing that it is about. */
interface CallInput {
  plugin?: string;
  /** Of a volume or snapshot that is being made. */
  name?: string;
  csiId?: string;
  csiNodeId?: string;
  allocId?: string;
}

/** Outcome of a call to a plugin. */
interface Answer {
  /** Whether the call was made: not refused before, and not waiting. */
  wasMade: boolean;
  line: Pick<HistoryLine, 'rpc' | 'from' | 'what'> & Partial<HistoryLine>;
}

/** Reads the answer of a plugin in an entry; undefined if it holds none. */
export function recordedAnswer(
  { source, event, kind }: JournalEntry,
  address: string,
  { src, plugin = 'plugin' }: { src: string; plugin?: string | undefined },
): Answer | undefined {
  if (source.kind !== 'effect' || !event || kind !== 'event') return undefined;
  const rpc = rpcOf(src, address);
  if (!rpc || !event.type.startsWith('xstate.')) return undefined;
  const outcome: Outcome | undefined = event.output;
  const engine = { rpc, from: 'engine' };
  switch (outcome?.status) {
    case 'done':
      return { wasMade: true, line: { rpc, from: plugin, code: answeredOk, what: `${rpc}: OK`, tone: 'done' } };
    case 'must-wait':
      return {
        wasMade: false,
        line: { ...engine, what: `${rpc} has to wait`, message: outcome.reason, tone: 'waiting' },
      };
    case 'call-again':
      return { wasMade: false, line: { ...engine, what: `${rpc} may be made now` } };
  }
  const failure = outcome?.failure ?? event.error;
  const { grpcCode, code = 'FAILED', message = '', answerClass, final } = failure ?? {};
  if (outcome?.status === 'not-sent') {
    const tone = final ? 'failed' : 'waiting';
    return { wasMade: false, line: { ...engine, code, what: `${rpc} was not sent`, message, tone } };
  }
  const status: string = grpcCode ?? code;
  const tone = final ? 'failed' : repeatable.has(answerClass) ? 'waiting' : 'in-doubt';
  return { wasMade: true, line: { rpc, from: plugin, code: status, what: `${rpc}: ${status}`, message, tone } };
}

/** The last `most` lines up to entry `to`. @param moments of the actor, from its first known one on */
export async function lastLines(
  address: string,
  moments: AsyncIterable<Moment>,
  { to, most }: { to: number; most: number },
): Promise<HistoryLine[]> {
  const history = new History(address);
  const lines: HistoryLine[] = [];
  for await (const moment of moments) {
    if (moment.seq > to) break;
    lines.push(history.lineOf(moment));
    if (lines.length > most) lines.shift();
  }
  return lines;
}

/** Sender of the input of an entry. */
export function fromOf({ source }: JournalEntry): string {
  switch (source.kind) {
    case 'request':
      return source.by ?? 'caller';
    case 'message':
      return source.address;
    default:
      return source.kind;
  }
}

/**
 * Says what became of the steps before the first one that a history shows.
 * @param shown seq of the oldest step of the whole history
 * @param first seq of the oldest entry of the journal
 * @returns undefined if no step is missing
 */
export function olderSteps(shown: number, first: number): string | undefined {
  const told = [
    ...(first > 1 ? [`${stepsText(1, first - 1)} not kept any more (retention.journalEntries)`] : []),
    ...(shown > first
      ? [`${stepsText(first, shown - 1)} kept, but this version can't replay them: see stagecraft journal export`]
      : []),
  ];
  return told.length > 0 ? told.join('; ') : undefined;
}

const stepsText = (from: number, to: number): string => (from === to ? `step ${to} is` : `steps ${from} to ${to} are`);
