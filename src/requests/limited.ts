/** Work that is given up: when its time is over, when its caller gives it up, and at the end of the runtime. */
import { onAbort, TimeOver } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { AwaitOptions } from './await-options.js';

export interface Limits {
  clock: Clock;
  /** Default: as long as it takes. */
  timeoutMs?: number | undefined;
  /** The caller's. */
  signal?: AbortSignal | undefined;
  /** The error where its time is over, or its caller gives it up. */
  failed(code: 'TIMEOUT' | 'ABORTED'): Error;
  /** Gives it up for its own reason. */
  end: AbortSignal;
}

/**
 * A request within its caller's time. `work` gets what ends it, whose reason is a TimeOver or the caller's own; nothing
 * where nothing ends it.
 */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: AwaitOptions,
  work: (limit?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return work(signal);
  const limit = new AbortController();
  const cancel = clock.after(timeoutMs, () => limit.abort(new TimeOver(timeoutMs)));
  const unsubscribe = signal && onAbort(signal, (reason) => limit.abort(reason));
  try {
    return await work(limit.signal);
  } finally {
    cancel();
    unsubscribe?.();
  }
}

/**
 * What is asked of others along the way is given up with it, also where it fails by itself.
 * @param work is to end by itself at the signal: what it has taken as that comes must not be lost
 */
export async function limited<T>(
  { clock, timeoutMs, signal, failed, end }: Limits,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = timeoutMs === undefined ? undefined : clock.after(timeoutMs, () => limit.abort(failed('TIMEOUT')));
  const unsubscribe = signal && onAbort(signal, () => limit.abort(failed('ABORTED')));
  const unsubscribeEnd = onAbort(end, (reason) => limit.abort(reason));
  try {
    return await work(limit.signal);
  } catch (error) {
    limit.abort(error);
    throw error;
  } finally {
    cancel?.();
    unsubscribe?.();
    unsubscribeEnd();
  }
}
