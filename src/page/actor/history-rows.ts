/** Rows of a history: its lines, with long runs of failed attempts folded into one row. Pure. */
import type { HistoryLine } from '../../journal/history.js';

export interface AttemptGroup {
  /** Its lines, oldest first. */
  lines: HistoryLine[];
  rpc: string;
  attempts: number;
  /** How often each status was the answer, most often first. */
  codes: [code: string, count: number][];
}

type HistoryRow = { line: HistoryLine } | { group: AttemptGroup };

/** Which steps of a history are shown. */
export const historyFilters = {
  all: { name: 'All', has: (): boolean => true },
  calls: { name: 'Calls', has: ({ rpc }: HistoryLine): boolean => rpc !== undefined },
  failures: { name: 'Failures', has: ({ tone }: HistoryLine): boolean => tone === 'in-doubt' || tone === 'failed' },
};
export type HistoryFilter = keyof typeof historyFilters;

/** Up to so many attempts of one call are shown one by one. */
const mostAttempts = 5;

const hasFailed = ({ rpc, attempt, tone }: HistoryLine): boolean =>
  rpc !== undefined && attempt !== undefined && tone !== 'done';

/** Lines between attempts: the pause is over, the call waits or may be made. */
const isBetween = (line: HistoryLine, rpc: string): boolean =>
  line.from === 'timer' || (line.rpc === rpc && line.from === 'engine');

/**
 * Folds runs of more than five failed attempts at one call. The first and the last attempt of a run stay.
 * @param lines oldest first
 */
export function historyRows(lines: readonly HistoryLine[]): HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const run = runFrom(lines, at);
    const failed = run.filter(hasFailed);
    const last = failed.at(-1);
    if (failed.length <= mostAttempts || !last) {
      const line = lines[at];
      if (line) rows.push({ line });
      at += 1;
      continue;
    }
    const [first, ...others] = run;
    const folded = others.slice(0, others.indexOf(last));
    if (first) rows.push({ line: first });
    rows.push({ group: groupOf(folded, last.rpc ?? '') });
    at += 1 + folded.length;
    rows.push({ line: last });
    at += 1;
  }
  return rows;
}

/** Failed attempts at one call from this line on, with what lies between them. */
function runFrom(lines: readonly HistoryLine[], at: number): HistoryLine[] {
  const first = lines[at];
  if (!first?.rpc || !hasFailed(first)) return [];
  const { rpc } = first;
  const end = lines.findIndex(
    (line, index) => index > at && !(hasFailed(line) && line.rpc === rpc) && !isBetween(line, rpc),
  );
  return lines.slice(at, end < 0 ? lines.length : end);
}

function groupOf(lines: HistoryLine[], rpc: string): AttemptGroup {
  const counts = new Map<string, number>();
  for (const { code = '' } of lines.filter(hasFailed)) counts.set(code, (counts.get(code) ?? 0) + 1);
  const codes = [...counts].sort(([, a], [, b]) => b - a);
  return { lines, rpc, attempts: lines.filter(hasFailed).length, codes };
}

/** Why, without the call and the status that the sentence names already. */
export function reasonOf({ message = '', rpc, code }: Pick<HistoryLine, 'message' | 'rpc' | 'code'>): string {
  const said = [`${rpc}: ${code}: `, `${rpc}: `].find((words) => message.startsWith(words)) ?? '';
  return message.slice(said.length);
}

/** Adds newer or older lines to those that are known. */
export function mergedLines(known: readonly HistoryLine[], more: readonly HistoryLine[]): HistoryLine[] {
  const bySeq = new Map([...known, ...more].map((line) => [line.seq, line]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}
