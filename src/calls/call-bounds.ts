/** Limits of a call to a plugin, with its secrets. */
import type { AbortSource } from '../abort.js';

export interface CallBounds {
  secrets: Record<string, string>;
  signal: AbortSignal;
  /** Same as the signal; avoids making a signal. */
  onAbort?: AbortSource['onAbort'];
}

const mostSlackMs = 5_000;

/**
 * Milliseconds after which an effect with such calls ends: later than the deadline of the call itself, whose error says
 * more.
 */
export const givenUpAfterMs = (timeoutMs: number, calls = 1): number =>
  calls * timeoutMs + Math.min(timeoutMs, mostSlackMs);
