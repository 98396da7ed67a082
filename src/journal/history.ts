/**
 * History of an actor, one line per step: what came, from whom, what it changed, and for a call its answer. Pure; made of
 * replayed moments, so it is the same on a live store and in an exported file. The words: history-words.ts
 */
import type { StateValue } from 'xstate';
import { catalogEntryOf } from '../../machines/catalog.js';
import type { AnswerClass, CallOutcome } from '../../machines/kit/csi-types.js';
import { type PartView, partChanges } from '../../machines/kit/parts.js';
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

/** Path of a state: `pending-publish.calling`. */
export const pathOf = (value: StateValue): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value)
        .map(([key, inner]) => (inner === undefined ? key : `${key}.${pathOf(inner)}`))
        .join(' + ');

/** Makes the lines of one actor, moment after moment. */
export class History {
  readonly #parts: (context: never) => PartView[];
  #before: Moment | undefined;
  /** Attempts so far at each call that has not been answered OK. */
  readonly #attempts = new Map<string, number>();

  constructor(address: string) {
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
      ...(before?.snapshot && { before: pathOf(before.snapshot.value) }),
      ...(snapshot && { after: pathOf(snapshot.value) }),
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

  #partsOf(moment: Moment | undefined): PartView[] {
    return moment?.snapshot ? this.#parts(moment.snapshot.context as never) : [];
  }

  /** Fields that an answer of a plugin adds to the line. */
  #callOf({ entry }: Moment, before: Moment | undefined): Partial<HistoryLine> {
    const { source, event, at, sentAtMs } = entry;
    if (source.kind !== 'effect' || !event || entry.kind !== 'event') return {};
    const effect = before?.effects.find(({ id }) => id === source.id);
    const rpc = rpcOf(effect?.src ?? source.id);
    if (!rpc || !event.type.startsWith('xstate.')) return {};
    const outcome: Outcome | undefined = event.output;
    const input: { plugin?: string } = effect?.input instanceof Object ? effect.input : {};
    const from = input.plugin ?? 'plugin';
    const took = sentAtMs === undefined ? {} : { tookMs: at - sentAtMs };
    if (outcome?.status === 'done') {
      const attempt = (this.#attempts.get(source.id) ?? 0) + 1;
      this.#attempts.delete(source.id);
      return {
        rpc,
        from,
        code: answeredOk,
        what: `${rpc}: OK`,
        tone: 'done',
        ...took,
        ...(attempt > 1 && { attempt }),
      };
    }
    if (outcome?.status === 'must-wait')
      return { rpc, from: 'engine', what: `${rpc} has to wait`, message: outcome.reason, tone: 'waiting' };
    if (outcome?.status === 'call-again') return { rpc, from: 'engine', what: `${rpc} may be made now` };
    const failure = outcome?.failure ?? event.error;
    const { grpcCode, code = 'FAILED', message = '', answerClass, final } = failure ?? {};
    if (outcome?.status === 'not-sent')
      return { rpc, from: 'engine', code, what: `${rpc} was not sent`, message, tone: final ? 'failed' : 'waiting' };
    const attempt = (this.#attempts.get(source.id) ?? 0) + 1;
    this.#attempts.set(source.id, attempt);
    const status: string = grpcCode ?? code;
    const tone = final ? 'failed' : repeatable.has(answerClass) ? 'waiting' : 'in-doubt';
    return { rpc, from, code: status, what: `${rpc}: ${status}`, message, attempt, tone, ...took };
  }
}

function fromOf({ source }: Moment['entry']): string {
  switch (source.kind) {
    case 'request':
      return 'caller';
    case 'message':
      return source.address;
    default:
      return source.kind;
  }
}
