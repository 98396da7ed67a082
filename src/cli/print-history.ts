/** Prints the history of an actor as a table. */
import type { HistoryPage } from '../api/actor-routes.js';
import { table } from './print.js';

type Line = HistoryPage['lines'][number];

/** Day and time of day (UTC), to the millisecond. */
const momentOf = (at: number): string => new Date(at).toISOString().slice(0, 23).replace('T', ' ');

const dayOf = (at: number): string => momentOf(at).slice(0, 10);

export const changeOf = (before = '', after = ''): string => {
  if (before === after) return after;
  return `${before || 'nothing'} → ${after || 'gone'}`;
};

/** `340 ms`, `2.3 s`, `6 min 12 s`, `3 h 5 min`, `2 d 3 h`. */
export function durationOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}

function detailsOf({ at, parts, attempt, message, nextAttemptAtMs }: Line): string {
  return [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(message === undefined ? [] : [message]),
    ...parts.map(({ id, before, after }) => `${id}: ${changeOf(before, after)}`),
    ...(nextAttemptAtMs === undefined ? [] : [`next attempt in ${durationOf(nextAttemptAtMs - at)}`]),
  ].join('; ');
}

export function historyTable({ address, lines, before, older }: HistoryPage, maxChars?: number): string {
  const [first] = lines;
  if (!first) return older === undefined ? `nothing is known of ${address}` : `${address}: ${older}`;
  const day = dayOf(first.at);
  // Days are told once, unless there are several.
  const isOneDay = lines.every(({ at }) => dayOf(at) === day);
  const rows = lines.map((line) => [
    String(line.seq),
    isOneDay ? momentOf(line.at).slice(11) : momentOf(line.at),
    line.from,
    line.what,
    line.tookMs === undefined ? '-' : durationOf(line.tookMs),
    changeOf(line.before, line.after),
    detailsOf(line),
  ]);
  const text = table(['SEQ', 'TIME', 'FROM', 'WHAT', 'TOOK', 'STATE', 'DETAILS'], rows, maxChars);
  const more = before === undefined ? older : `older: --before ${before}`;
  return `${address}, since ${day}\n${text}${more === undefined ? '' : `\n(${more})`}`;
}
