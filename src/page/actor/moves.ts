/** Transitions and events of a state, as its chart lists them. Pure. */
import type { ChartLayout, Line, LineMove } from '../chart/layout.js';
import { endsOf, isWithinState } from '../chart/lit.js';

interface MoveFrom {
  line: Line;
  move: LineMove;
  to: string;
}

/** Transitions that lead away from this state, those of the innermost state first, then those of all states. */
export function movesFrom(layout: ChartLayout, state: string): MoveFrom[] {
  const moves = layout.lines.flatMap((line) =>
    line.moves.flatMap((move) => {
      const [from, to] = endsOf(line, move);
      return isWithinState(state, from) && move.event !== 'always' ? [{ line, move, to, depth: from.length }] : [];
    }),
  );
  const anywhere = layout.anywhere.map((move) => ({ line: { from: '', to: '', moves: [] }, move, to: move.to ?? '' }));
  return [...moves.sort((a, b) => b.depth - a.depth).map(({ line, move, to }) => ({ line, move, to })), ...anywhere];
}

/** Events of effects, of timers and of the machine itself: nobody sends them. */
const internal = /^(always$|after |settle$|\*$)| (ended|failed)$/;

/** Types of events that a state takes, by its chart. */
export function eventTypesIn(layout: ChartLayout, state: string): string[] {
  const stays = Object.entries(layout.stays).flatMap(([path, events]) =>
    path === '' || isWithinState(state, path) ? events : [],
  );
  const types = [...movesFrom(layout, state).map(({ move }) => move.event), ...stays];
  return [...new Set(types)].filter((type) => !internal.test(type)).sort();
}
