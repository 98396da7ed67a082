/** Times and durations as the page writes them, in the zone that the reader has chosen. */
import { signal } from '@preact/signals';

/** UTC, as the command line and logs have it, or the zone of the reader. A view is made again when it changes. */
export const zone = signal<'UTC' | 'local'>('UTC');

const minuteMs = 60_000;

/** A moment in the chosen zone, as `2026-01-31T12:00:00.000`. */
function textIn(at: number): string {
  // Not `value`: a component that reads a signal is painted again for signals and properties alone.
  const ahead = zone.peek() === 'UTC' ? 0 : -new Date(at).getTimezoneOffset() * minuteMs;
  return new Date(at + ahead).toISOString().slice(0, -1);
}

const two = (count: number): string => String(count).padStart(2, '0');

/** Time of day, to the second. */
export const timeOf = (at: number): string => textIn(at).slice(11, 19);

/** Time of day, to the millisecond. */
export const momentOf = (at: number): string => textIn(at).slice(11, 23);

export const dayOf = (at: number): string => textIn(at).slice(0, 10);

/** Day and time of day; the time alone if that was today. */
export const datedMomentOf = (at: number, now = Date.now()): string =>
  dayOf(at) === dayOf(now) ? momentOf(at) : `${dayOf(at)} ${momentOf(at)}`;

/** `340 ms`, `2.4 s`, `28 s`, `4:12`, `3 h`, `5 d`. */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${two(Math.floor(seconds % 60))}`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
