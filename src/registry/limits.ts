/** Limits a wait by signals and time, also if the one who is asked ignores its signal. */
import { unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
import type { Replacement } from './replacement.js';

interface Limits {
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
  /** Ends the wait, too. */
  change?: Replacement | undefined;
}

/** @param ask gets a signal that is aborted once nobody waits for the answer */
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
