/**
 * Time limits: how a clock, a limit and signals go together. Work gets one signal, which is aborted once the time has passed,
 * once one of the others is aborted, or once the work itself has failed.
 */
import { type Abortable, onAbort, unlessAborted } from '../abort.js';
import type { Clock } from './clock.js';

export interface Limits {
  clock: Clock;
  /** Milliseconds; default: no limit. */
  timeoutMs?: number | undefined;
  /** Makes the reason of the abort once the time has passed. */
  late?(timeoutMs: number): Error;
  /** End the work, each with its own reason. */
  ends?: readonly (Abortable | undefined)[];
}

/** Abort reason of work whose time has passed. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';

  constructor(readonly timeoutMs: number) {
    super(`${timeoutMs} ms have passed`);
  }
}

/** Abort reason of a question that was not answered in time. */
export class Unanswered extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
  }
}

/**
 * Runs work that ends at its signal, and keeps what it received until then, as a place in a queue. Default reason: a TimeOver.
 */
export async function withDeadline<T>(
  { clock, timeoutMs, late = (ms) => new TimeOver(ms), ends = [] }: Limits,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const end = (reason?: unknown): void => limit.abort(reason);
  const stops = ends.flatMap((source) => (source ? [onAbort(source, end)] : []));
  if (timeoutMs !== undefined) stops.push(clock.after(timeoutMs, () => end(late(timeoutMs))));
  try {
    return await work(limit.signal);
  } catch (error) {
    end(error);
    throw error;
  } finally {
    for (const stop of stops) stop();
  }
}

/**
 * Asks, and waits for the answer: rejects with the reason at once, even if whoever is asked ignores the signal. An answer that
 * comes later is lost. Default reason: a Unanswered.
 */
export const answerWithin = <T>(limits: Limits, ask: (limit: AbortSignal) => Promise<T>): Promise<T> =>
  withDeadline({ late: (timeoutMs) => new Unanswered(timeoutMs), ...limits }, (limit) => {
    limit.throwIfAborted();
    return unlessAborted(limit, ask(limit));
  });
