/** Port for time, so that tests can simulate years in milliseconds. */
import { onAbort } from '../abort.js';

export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since a fixed moment; never goes back. */
  monotonicMs(): number;
  /** Runs `callback` after the delay. @returns a function that cancels the timer */
  after(delayMs: number, callback: () => void): () => void;
}

/** Longest delay that Node's timers accept; a longer delay is split. */
const longestTimerMs = 2 ** 31 - 1;

/** Lateness of a timer that shows that the process stood still: stopped, or on a host that was paused. */
const stoodStillMs = 100;

/** Answers that came while the process stood still are heard before its timers run. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const dueAtMs = performance.now() + delayMs;
    let timer: NodeJS.Timeout;
    let turn: NodeJS.Immediate | undefined;
    const arm = (leftMs: number): void => {
      const partMs = Math.min(leftMs, longestTimerMs);
      timer = setTimeout(
        () => {
          if (leftMs > partMs) arm(leftMs - partMs);
          else if (performance.now() < dueAtMs + stoodStillMs) callback();
          else turn = setImmediate(callback);
        },
        Math.max(partMs, 0),
      );
    };
    arm(delayMs);
    return () => {
      clearTimeout(timer);
      clearImmediate(turn);
    };
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
