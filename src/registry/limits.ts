/** Waiting for what somebody else does: ended by signals and by time, whether the asked one heeds them or not. */
import { onAbort, unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { Change } from './change.js';

export interface Limits {
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
  /** Ends the wait too. */
  change?: Change | undefined;
}

/** As `unlessAborted`, for a time at most. What is asked is told by a signal of its own when nobody waits for it any more. */
export async function bounded<T>(
  { clock, timeoutMs, signal, change }: Limits,
  ask: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort(new Error(`no answer within ${timeoutMs} ms`)));
  const unsubscribe = onAbort(signal, (reason) => limit.abort(reason));
  const stopWaiting = change?.on(() => limit.abort());
  try {
    return await unlessAborted(limit.signal, () => ask(limit.signal));
  } catch (error) {
    limit.abort(error);
    throw error;
  } finally {
    cancel();
    stopWaiting?.();
    unsubscribe();
  }
}
