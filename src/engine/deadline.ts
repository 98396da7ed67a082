/** Runs work that ends at a deadline, on a caller's abort, or with its own failure. */
import { type Abortable, onAbort, TimeOver } from '../abort.js';
import type { Clock } from './clock.js';

/** Calls `end` with the reason once the work must end. @returns a function that stops listening */
type Ending = (end: (reason?: unknown) => void) => () => void;

interface Deadline {
  clock: Clock;
  /** Milliseconds; default: no limit. */
  timeoutMs?: number | undefined;
  /** Makes the abort reason for work that runs out of time; default: a TimeOver. */
  late?: (() => Error) | undefined;
  /** Other conditions that end the work. */
  ends?: readonly (Ending | undefined)[];
}

/** Ends the work when the source is aborted, with the same reason. */
export const abortedBy =
  (source: Abortable): Ending =>
  (end) =>
    onAbort(source, end);

/**
 * Runs work under a signal that is aborted once the work must end. A failure of the work aborts the signal too, and
 * with it all requests that the work has sent.
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
