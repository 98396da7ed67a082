/** What bounds a call to a plugin, and what goes with it. */
import type { AbortSource } from '../abort.js';

export interface CallBounds {
  /** Resolved for this very call. */
  secrets: Record<string, string>;
  signal: AbortSignal;
  /** The same, where a signal is made only for those who look at it. */
  onAbort?: AbortSource['onAbort'];
}

const mostSlackMs = 5_000;

/** When an effect that makes such a call is given up: after the deadline of the call itself, which says more. */
export const givenUpAfterMs = (timeoutMs: number, calls = 1): number =>
  calls * timeoutMs + Math.min(timeoutMs, mostSlackMs);
