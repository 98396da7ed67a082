/**
 * One thing that calls make and undo (an attachment, a staging, a published target, a volume), as far as the caller
 * can know it from its answers. A lost answer leaves a `maybe`.
 */
import { isDeepStrictEqual } from 'node:util';
import { type AnswerClass, answerClassOf } from '../../../csi/answers.js';
import type { GrpcCode } from '../../../csi/grpc-codes.js';
import type { RecordedCall } from '../call.js';

type Certainty = 'no' | 'maybe' | 'yes';

/** Answer that a caller got, and its time. */
interface Heard {
  readonly atMs: number;
  readonly answer: AnswerClass;
  /** Absent if the answer was lost. */
  readonly code?: GrpcCode;
}

type Change = 'make' | 'undo';

/** In-doubt call, and the knowledge before it; `several`: more than one kind of call. */
type Doubt = { readonly call: RecordedCall; readonly before: Certainty } | 'several';

export class KnownThing {
  #certainty: Certainty = 'no';
  /** Knowledge before each call in flight, by its number. */
  readonly #before = new Map<number, Certainty>();
  #doubt: Doubt | undefined;

  get certainty(): Certainty {
    return this.#certainty;
  }

  /**
   * A call that makes or undoes the thing has begun: nothing is certain until its answer, unless it changes nothing.
   */
  begin({ number }: RecordedCall, change: Change): void {
    this.#before.set(number, this.#certainty);
    if (this.#certainty === (change === 'make' ? 'no' : 'yes')) this.#certainty = 'maybe';
  }

  end(call: RecordedCall, change: Change, heard: Heard): void {
    const before = this.#before.get(call.number);
    this.#before.delete(call.number);
    if (before === undefined) return;
    const settled = this.#doubtSettledBy(call, heard);
    if (isDone(heard.answer)) this.#settle(change === 'make' ? 'yes' : 'no');
    else if (settled) this.#settle(settled.before);
    else if (changedNothing.has(heard.answer)) this.#certainty = before;
    else if (this.#certainty === 'maybe') this.#doubt = this.#doubtOf(call, before);
  }

  #settle(certainty: Certainty): void {
    this.#certainty = certainty;
    this.#doubt = undefined;
  }

  /** A call repeated until its answer is final has not happened, unless that answer says that the thing exists. */
  #doubtSettledBy(call: RecordedCall, { answer, code }: Heard): Exclude<Doubt, 'several'> | undefined {
    if (answer !== 'final' || code === 'ALREADY_EXISTS' || this.#before.size > 0) return undefined;
    return this.#doubt !== 'several' && isRepeat(call, this.#doubt?.call) ? this.#doubt : undefined;
  }

  #doubtOf(call: RecordedCall, before: Certainty): Doubt {
    if (!this.#doubt) return { call, before };
    return this.#doubt !== 'several' && isRepeat(call, this.#doubt.call) ? this.#doubt : 'several';
  }
}

const isRepeat = (call: RecordedCall, of: RecordedCall | undefined): boolean =>
  call.rpc === of?.rpc && call.nodeId === of.nodeId && isDeepStrictEqual(call.request, of.request);

const isDone = (answer: AnswerClass): boolean =>
  answer === 'done' || answer === 'already-so' || answer === 'already-so-if-unmounted';

const changedNothing: ReadonlySet<AnswerClass> = new Set<AnswerClass>(['final', 'repair', 'busy']);

/** Returns the time and answer with which the call was over for its caller; undefined while the caller waits. */
export function heardAt({ rpc, goneAtMs, end }: RecordedCall): Heard | undefined {
  if (goneAtMs !== undefined && (!end || goneAtMs < end.atMs)) return { atMs: goneAtMs, answer: 'unknown' };
  if (!end) return undefined;
  const { atMs, how, code, text } = end;
  if (how !== 'answered' || !code) return { atMs, answer: 'unknown' };
  return { atMs, answer: answerClassOf(rpc, code, text), code };
}
