/** Merges the transitions of a chart into lines: one for each pair of boxes. */
import type { Line, LineMove } from '../../src/page/chart/layout.js';
import { textWidth } from './boxes.js';
import type { ReadChart } from './read-chart.js';

/** @param endOf box at which a line to this state ends */
export function linesOf({ transitions }: ReadChart, endOf: (path: string) => string): Line[] {
  const lines = new Map<string, Line>();
  for (const { event, guard, from, to } of transitions) {
    const ends = { from: endOf(from), to: endOf(to) };
    const isWithin = ends.from === ends.to;
    const { from: begin, to: end } = isWithin ? { from, to } : ends;
    const key = `${begin} ${end}`;
    const line = lines.get(key) ?? { from: begin, to: end, moves: [] };
    const move: LineMove = {
      event,
      ...(guard && { guard }),
      ...(from !== begin && { from }),
      ...(to !== end && { to }),
    };
    if (!line.moves.some((other) => isSame(other, move))) line.moves.push(move);
    lines.set(key, line);
  }
  return [...lines.values()];
}

const isSame = (a: LineMove, b: LineMove): boolean =>
  a.event === b.event && a.guard === b.guard && a.from === b.from && a.to === b.to;

const longest = 24;

/** Label of a line: its first event, and how many more there are. */
export function labelOf({ moves }: Line): string {
  const names = [
    ...new Set(moves.map(({ event, guard }) => (event === 'always' ? (guard ? `[${guard}]` : '') : event))),
  ].filter(Boolean);
  const [first = ''] = names;
  const text = first.length > longest ? `${first.slice(0, longest - 1)}…` : first;
  return names.length > 1 ? `${text} +${names.length - 1}` : text;
}

export const labelSize = (text: string, size: number): { width: number; height: number } => ({
  width: textWidth(text, size) + 8,
  height: 16,
});
