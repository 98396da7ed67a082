/** Ends requests at their time limit, on their caller's abort, and at the end of the runtime. */
import { onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import type { AwaitOptions } from './await-options.js';

export interface Limits {
  clock: Clock;
  /** Default: no limit. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Makes the error for a timeout or an abort by the caller. */
  failed(code: 'TIMEOUT' | 'ABORTED'): Error;
  /** Ends the request with the reason of this signal. */
  end: AbortSignal;
}

/**
 * Runs a request within its caller's limits. `work` gets the signal that ends it, or none if nothing limits the
 * request. The reason is a TimeOver or the caller's own.
 */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: AwaitOptions,
  work: (limit?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === undefined) return work(signal);
  return withDeadline({ clock, timeoutMs, ends: [signal && abortedBy(signal)] }, work);
}

/** @param work must end at the signal, and keep what it received until then */
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
