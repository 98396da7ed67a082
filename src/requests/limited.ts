/** Requests that end when their time is over, when their caller gives them up, and at the end of the runtime. */
import { onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import type { AwaitOptions } from './await-options.js';

export interface Limits {
  clock: Clock;
  /** Default: as long as it takes. */
  timeoutMs?: number | undefined;
  /** The caller's. */
  signal?: AbortSignal | undefined;
  /** The error where the time is over, or the caller gives the request up. */
  failed(code: 'TIMEOUT' | 'ABORTED'): Error;
  /** Ends the request for its own reason. */
  end: AbortSignal;
}

/**
 * Runs a request within its caller's time. `work` gets the signal that ends it, whose reason is a TimeOver or the caller's own;
 * none where nothing ends it.
 */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: AwaitOptions,
  work: (limit?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return work(signal);
  return withDeadline({ clock, timeoutMs, ends: [signal && abortedBy(signal)] }, work);
}

/** @param work ends by itself at the signal: what it has taken as that comes must not be lost */
export const limited = <T>(
  { clock, timeoutMs, signal, failed, end }: Limits,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> =>
  withDeadline(
    {
      ...{ clock, timeoutMs, late: () => failed('TIMEOUT') },
      ends: [signal && ((stop) => onAbort(signal, () => stop(failed('ABORTED')))), abortedBy(end)],
    },
    work,
  );
