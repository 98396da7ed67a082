/** Measures time as this process observes it: time while the process or host was suspended does not count. */
import { type Clock, pause } from '../engine/clock.js';

/** Longest time that one pause counts for, however far the clock has moved. */
const longestLookMs = 5_000;

/** Resolves after `totalMs` of observed time on the monotonic clock, or at once when aborted. */
export async function observed(clock: Clock, totalMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = totalMs;
  do {
    const lookMs = Math.min(leftMs, longestLookMs);
    await pause(clock, lookMs, signal);
    leftMs -= lookMs;
  } while (leftMs > 0 && !signal.aborted);
}
