/** Time as the engine sees it: one port, so that tests can run years in milliseconds. */
import { onAbort } from '../abort.js';

export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes back. */
  monotonicMs(): number;
  /** Runs `callback` once the delay has passed; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** The longest delay that node's timers take; longer ones are cut up. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const partMs = Math.min(leftMs, longestTimerMs);
      timer = setTimeout(() => (leftMs > partMs ? arm(leftMs - partMs) : callback()), Math.max(partMs, 0));
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Resolves after the delay, or at once when the signal is aborted. */
export const pause = (clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      cancel();
      unsubscribe?.();
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    const unsubscribe = signal && onAbort(signal, done);
  });
