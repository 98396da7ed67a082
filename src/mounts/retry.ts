/** What may go well later: done again and again until it does. */
import { type Clock, pause } from '../engine/clock.js';
import { messageOf } from '../errors.js';

/** How long it is gone on with. */
export interface RetryPolicy {
  clock: Clock;
  signal: AbortSignal;
  /** Told why it does not get on, and the error that says so, if there is one; null: it does. */
  tell(reason: string | null, error?: unknown): void;
  /** Whether what was thrown may not be thrown another time. */
  mayRetry(error: unknown): boolean;
  /** Whether it is a reason to be told; default: it is. */
  isReason?(error: unknown): boolean;
}

export const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** With pauses that grow, where it may go well; tells meanwhile why it does not. */
export async function retrying<T>(policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  const { clock, signal, tell, mayRetry, isReason } = policy;
  let hasTold = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted();
    try {
      const done = await work();
      // What goes on beside it may have told something, too.
      if (hasTold) tell(null);
      return done;
    } catch (error) {
      if (signal.aborted || !mayRetry(error)) throw error;
      if (isReason?.(error) !== false) {
        hasTold = true;
        tell(messageOf(error), error);
      }
    }
    await pause(clock, pauseMs, signal);
  }
}
