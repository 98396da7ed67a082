/** Says which states and lines of a chart are lit. Pure. */
import type { Health } from '../../api/actor-routes.js';
import type { ChartLayout, Line, LineMove, StateBox } from './layout.js';

/** Whether the state is this one, or lies within it. */
export const isWithinState = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`);

/** Innermost box that shows this state. */
export const boxOf = ({ states }: ChartLayout, path: string): StateBox | undefined =>
  states.reduce<StateBox | undefined>(
    (found, box) => (isWithinState(path, box.path) && box.path.length > (found?.path.length ?? 0) ? box : found),
    undefined,
  );

/** How an actor or a part in this state is, by the state alone. Undefined: the chart does not say. */
export function healthIn(layout: ChartLayout | undefined, path: string): Health | undefined {
  const box = layout && boxOf(layout, path);
  const health = (box?.path === path && box.unneeded) || box?.health;
  if (health !== 'by-call') return health;
  return path.endsWith('.calling') ? 'working' : 'waiting';
}

/** Most states that a step passes through before it rests. */
const mostPassed = 4;

/**
 * Lines that lead from one state to the other, in order: several if states lie between them in which the machine never rests. A line
 * of its own if the chart draws none.
 */
export function litLines(layout: ChartLayout, before: string, after: string): Line[] {
  if (before === after || !before || !after) return [];
  let ways: { at: string; lines: Line[] }[] = [{ at: before, lines: [] }];
  for (let passed = 0; passed <= mostPassed; passed += 1) {
    const next: typeof ways = [];
    for (const way of ways) {
      for (const line of layout.lines) {
        for (const move of line.moves) {
          const [from, to] = endsOf(line, move);
          if (!isWithinState(way.at, from)) continue;
          if (isWithinState(after, to)) return [...way.lines, line];
          const end = boxOf(layout, entered(layout, to));
          if (end?.passes) next.push({ at: end.path, lines: [...way.lines, line] });
        }
      }
    }
    ways = next;
  }
  return [{ from: before, to: after, moves: [] }];
}

export const endsOf = (line: Line, { from, to }: LineMove): [from: string, to: string] => [
  from ?? line.from,
  to ?? line.to,
];

/** State in which the machine is once it has entered this one. */
function entered({ states }: ChartLayout, path: string): string {
  const inner = states.find(
    (state) => state.initial && state.path.startsWith(`${path}.`) && !state.path.slice(path.length + 1).includes('.'),
  );
  return inner ? entered({ states } as ChartLayout, inner.path) : path;
}

/** Transition in words, for the one who points at a line: `calling: publish.done [isFinal] → failed.refused`. */
export function transitionText(line: Line, move: LineMove): string {
  const guard = move.guard ? ` [${move.guard}]` : '';
  const from = move.from ? `${move.from.slice(line.from.length + 1)}: ` : '';
  const to = move.to ? ` → ${move.to.slice(line.to.length + 1)}` : '';
  return `${from}${move.event}${guard}${to}`;
}
