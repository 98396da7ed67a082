/** Repeats work that may succeed later, until it does. */
import { type Clock, pause } from '../engine/clock.js';
import { messageOf } from '../errors.js';

/** Limits and reports of the repeats. */
export interface RetryPolicy {
  clock: Clock;
  signal: AbortSignal;
  /** Called with the reason and the error while the work makes no progress; with null once it does. */
  onWait(reason: string | null, error?: unknown): void;
  /** Whether a repeat may end otherwise. */
  mayRetry(error: unknown): boolean;
  /** Whether the error is reported; default: it is. */
  isReason?(error: unknown): boolean;
}

export const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Repeats work with growing pauses while that may help, and reports why it makes no progress. */
export async function retrying<T>(policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  const { clock, signal, onWait, mayRetry, isReason } = policy;
  let hasTold = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted();
    try {
      const done = await work();
      // Other work beside it may have reported something, too.
      if (hasTold) onWait(null);
      return done;
    } catch (error) {
      if (signal.aborted || !mayRetry(error)) throw error;
      if (isReason?.(error) !== false) {
        hasTold = true;
        onWait(messageOf(error), error);
      }
    }
    await pause(clock, pauseMs, signal);
  }
}
