/**
 * One thing that calls make and undo (an attachment, a staging, a published target, a volume), as far as the caller can
 * know of it: by the answers that it got. An answer that was lost leaves a `maybe`.
 */
import { type AnswerClass, answerClassOf } from '../../../csi/answers.js';
import type { RecordedCall } from '../call.js';

export type Certainty = 'no' | 'maybe' | 'yes';

export class KnownThing {
  #certainty: Certainty = 'no';
  /** By the number of each call under way, what was known before it. */
  readonly #before = new Map<number, Certainty>();

  get certainty(): Certainty {
    return this.#certainty;
  }

  /** A call that makes it, or undoes it, is under way: from now on nothing is known, unless it changes nothing. */
  begin(number: number, change: 'make' | 'undo'): void {
    this.#before.set(number, this.#certainty);
    if (this.#certainty === (change === 'make' ? 'no' : 'yes')) this.#certainty = 'maybe';
  }

  end(number: number, change: 'make' | 'undo', answer: AnswerClass): void {
    const before = this.#before.get(number);
    this.#before.delete(number);
    if (before === undefined) return;
    if (isDone(answer)) this.#certainty = change === 'make' ? 'yes' : 'no';
    else if (changedNothing.has(answer)) this.#certainty = before;
  }
}

const isDone = (answer: AnswerClass): boolean =>
  answer === 'done' || answer === 'already-so' || answer === 'already-so-if-unmounted';

const changedNothing: ReadonlySet<AnswerClass> = new Set<AnswerClass>(['final', 'repair', 'busy']);

/** When the call was over for its caller, and what that was told; undefined while it waits. */
export function heardAt({ rpc, goneAtMs, end }: RecordedCall): { atMs: number; answer: AnswerClass } | undefined {
  if (goneAtMs !== undefined && (!end || goneAtMs < end.atMs)) return { atMs: goneAtMs, answer: 'unknown' };
  if (!end) return undefined;
  const answer = end.how === 'answered' && end.code ? answerClassOf(rpc, end.code, end.text) : 'unknown';
  return { atMs: end.atMs, answer };
}
