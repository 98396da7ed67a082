/** Work with an end: when its time is over, when somebody gives it up, and when it fails by itself. */
import { type Abortable, onAbort, TimeOver } from '../abort.js';
import type { Clock } from './clock.js';

/** Calls `end` with the reason once the work is to end. @returns how to stop listening */
export type Ending = (end: (reason?: unknown) => void) => () => void;

export interface Deadline {
  clock: Clock;
  /** Milliseconds; default: as long as the work takes. */
  timeoutMs?: number | undefined;
  /** The reason for which the work ends once its time is over; default: TimeOver. */
  late?: (() => Error) | undefined;
  /** What else ends the work. */
  ends?: readonly (Ending | undefined)[];
}

/** Ends the work for the reason of the signal. */
export const abortedBy =
  (source: Abortable): Ending =>
  (end) =>
    onAbort(source, end);

/**
 * Runs work under a signal that is aborted when the work is to end. It is aborted also where the work fails by itself, so that all
 * that the work has asked of others is given up with it.
 */
export async function withDeadline<T>(
  { clock, timeoutMs, late, ends = [] }: Deadline,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = (reason?: unknown): void => limit.abort(reason);
  const stops = ends.flatMap((ending) => (ending ? [ending(end)] : []));
  if (timeoutMs !== undefined) stops.push(clock.after(timeoutMs, () => end(late?.() ?? new TimeOver(timeoutMs))));
  try {
    return await work(limit.signal);
  } catch (error) {
    end(error);
    throw error;
  } finally {
    for (const stop of stops) stop();
  }
}
