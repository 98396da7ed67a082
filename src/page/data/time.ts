/** Times and durations as the page writes them. */

const two = (count: number): string => String(count).padStart(2, '0');

/** Time of day (UTC), to the second. */
export const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

/** Time of day (UTC), to the millisecond. */
export const momentOf = (at: number): string => new Date(at).toISOString().slice(11, 23);

/** Day (UTC). */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Day and time of day; the time alone if that was today. */
export const datedMomentOf = (at: number, now = Date.now()): string =>
  dayOf(at) === dayOf(now) ? momentOf(at) : `${dayOf(at)} ${momentOf(at)}`;

/** `340 ms`, `2.4 s`, `28 s`, `4:12`, `3 h`, `5 d`. */
export function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${two(Math.floor(seconds % 60))}`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
