/** Time as somebody has watched it pass: what went by while this process stood still does not count. */
import { type Clock, pause } from '../engine/clock.js';

/** However long the clock goes on between two looks, one look stands for no more than this. */
const longestLookMs = 5_000;

/** Resolves after so many milliseconds of the monotonic clock that this process has seen, or at once when aborted. */
export async function observed(clock: Clock, totalMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = totalMs;
  do {
    const lookMs = Math.min(leftMs, longestLookMs);
    await pause(clock, lookMs, signal);
    leftMs -= lookMs;
  } while (leftMs > 0 && !signal.aborted);
}
