/** Filters of the log. */
import type { LogRow } from '../data/log-rows.js';

export interface LogFilter {
  /** Part of the text or the address, in any case of letters. */
  text: string;
  /** Beginning of the address. */
  address: string;
  /** Empty: all. */
  kinds: readonly LogRow['kind'][];
}

export const recordKinds: readonly LogRow['kind'][] = [
  ...(['event', 'snapshot', 'part', 'effect', 'timer', 'message', 'broadcast', 'actor', 'crash'] as const),
];

/** Rows that fit, newest first. */
export function filtered(rows: readonly LogRow[], { text, address, kinds }: LogFilter): LogRow[] {
  const wanted = text.toLowerCase();
  const found: LogRow[] = [];
  for (let i = rows.length - 1; i >= 0; i -= 1) {
    const row = rows[i];
    if (!row?.address.startsWith(address)) continue;
    if (kinds.length > 0 && !kinds.includes(row.kind)) continue;
    if (wanted !== '' && !`${row.text} ${row.address}`.toLowerCase().includes(wanted)) continue;
    found.push(row);
  }
  return found;
}
