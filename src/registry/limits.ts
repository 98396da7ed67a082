/** Asks somebody who may not heed a signal: the wait ends by signals and by time all the same. */
import { unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import type { Change } from './change.js';

export interface Limits {
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
  /** Ends the wait too. */
  change?: Change | undefined;
}

/** @param ask gets a signal that is aborted once nobody waits for the answer any more */
export const bounded = <T>(
  { clock, timeoutMs, signal, change }: Limits,
  ask: (limit: AbortSignal) => Promise<T>,
): Promise<T> =>
  withDeadline(
    {
      ...{ clock, timeoutMs, late: () => new Error(`no answer within ${timeoutMs} ms`) },
      ends: [abortedBy(signal), change && ((end) => change.on(() => end()))],
    },
    (limit) => unlessAborted(limit, () => ask(limit)),
  );
