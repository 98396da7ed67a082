/** Waiting for what somebody else does: ended by signals and by time, whether the asked one heeds them or not. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../engine/clock.js';

export interface Limits {
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Asks, until the signal is aborted: rejects with its reason then. */
export async function unlessAborted<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let ended = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      ended = () => reject(signal.reason);
      signal.addEventListener('abort', ended);
      ask().then(resolve, reject);
    });
  } finally {
    signal.removeEventListener('abort', ended);
  }
}

/** The same, for a time at most. What is asked is told by a signal of its own when nobody waits for it any more. */
export async function bounded<T>(
  { clock, timeoutMs, signal }: Limits,
  ask: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const ended = (): void => limit.abort(signal.reason);
  const cancel = clock.after(timeoutMs, () => limit.abort(new Error(`no answer within ${timeoutMs} ms`)));
  signal.addEventListener('abort', ended);
  try {
    return await unlessAborted(limit.signal, () => ask(limit.signal));
  } catch (error) {
    limit.abort(error);
    throw error;
  } finally {
    cancel();
    signal.removeEventListener('abort', ended);
  }
}

/**
 * A signal that is aborted with the first of these, until it is released: they may live much longer. (What
 * AbortSignal.any gives holds on to them for ever.)
 */
export function firstOf(signals: AbortSignal[]): { signal: AbortSignal; release(): void } {
  const first = new AbortController();
  const end = (): void => first.abort();
  for (const signal of signals) {
    setMaxListeners(0, signal); // one for each instance is no leak
    signal.addEventListener('abort', end);
  }
  return {
    signal: first.signal,
    release() {
      for (const signal of signals) signal.removeEventListener('abort', end);
    },
  };
}
