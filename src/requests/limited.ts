/** Ends requests at their time limit, on their caller's abort, and at the end of the runtime. */
import { onAbort, TimeOver } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { AwaitOptions } from './await-options.js';

interface Limits {
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
 * request. The reason is a TimeOver or the caller's own: `work` may end with it as long as it has changed nothing.
 * @throws StagecraftError TIMEOUT, ABORTED in place of the reason; errors of `work`
 */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: AwaitOptions,
  work: (limit?: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = async (limit?: AbortSignal): Promise<T> => {
    try {
      return await work(limit);
    } catch (error) {
      throw limit?.aborted && error === limit.reason ? endedEarly(error) : error;
    }
  };
  if (timeoutMs === undefined) return ending(signal);
  return withDeadline({ clock, timeoutMs, ends: [signal && abortedBy(signal)] }, ending);
}

function endedEarly(reason: unknown): StagecraftError {
  if (reason instanceof StagecraftError) return reason;
  const isLate = reason instanceof TimeOver;
  const why = isLate ? reason.message : `given up (${messageOf(reason)})`;
  const message = `${why} before anything was asked for; nothing has changed`;
  return new StagecraftError(isLate ? 'TIMEOUT' : 'ABORTED', message, { outcome: 'refused', cause: reason });
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
