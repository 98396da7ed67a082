/** Marks of many lanes as plain rectangles: what a canvas draws, and what is under the pointer. Pure. */
import type { Health } from '../../api/actor-routes.js';
import type { Bar, CallBar, Lane, StepPoint } from './model.js';

/** Lanes with more marks than these are drawn on a canvas. */
export const mostElements = 400;

export const laneHeight: Record<Lane['kind'], number> = { callers: 48, states: 50, calls: 80, commits: 34 };
export const axisHeight = 30;

/** Top of each lane, and after the last one the height of all. */
export function topsOf(lanes: readonly Lane[]): number[] {
  const tops = [axisHeight];
  for (const { kind } of lanes) tops.push((tops.at(-1) ?? 0) + laneHeight[kind]);
  return tops;
}

export function markCount(lane: Lane): number {
  switch (lane.kind) {
    case 'states':
      return lane.bars.length;
    case 'calls':
      return lane.calls.length;
    default:
      return lane.points.length;
  }
}

/** A mark in pixels. Commits and requests have no health. */
export interface Mark {
  kind: Lane['kind'];
  left: number;
  top: number;
  width: number;
  height: number;
  step: StepPoint;
  text: string;
  health?: Health;
  isOpen?: true;
}

/** Narrower marks are as wide as this. */
const leastWidth: Record<Lane['kind'], number> = { callers: 3, states: 1, calls: 3, commits: 2 };
const insets: Record<Lane['kind'], number> = { callers: 19, states: 10, calls: 11, commits: 8 };

/** Marks within a width, lane after lane. */
export function marksOf(lanes: readonly Lane[], x: (at: number) => number, width: number): Mark[] {
  const tops = topsOf(lanes);
  return lanes.flatMap((lane, index) => {
    const { kind } = lane;
    const place = { kind, top: (tops[index] ?? 0) + insets[kind], height: laneHeight[kind] - 2 * insets[kind] };
    return stretchesOf(lane).flatMap(({ address, seq, from, to, text, health, isOpen }): Mark[] => {
      const left = x(from);
      const size = Math.max(leastWidth[kind], x(to) - left - 1);
      if (left > width || left + size < 0) return [];
      const mark = { ...place, left, width: size, step: { address, seq }, text };
      return [{ ...mark, ...(health && { health }), ...(isOpen && { isOpen }) }];
    });
  });
}

type Drawn = Omit<Bar, 'health'> & Partial<Pick<CallBar, 'health' | 'isOpen'>>;

function stretchesOf(lane: Lane): Drawn[] {
  switch (lane.kind) {
    case 'states':
      return lane.bars;
    case 'calls':
      return lane.calls;
    default:
      return lane.points.map(({ at, ...point }) => ({ ...point, from: at, to: at }));
  }
}

/** Distance at which a mark is still met. */
const reach = 4;

/** The mark at a place, or the nearest one beside it in the same lane. */
export function markAt(marks: readonly Mark[], left: number, top: number): Mark | undefined {
  let nearest: Mark | undefined;
  let least = reach;
  for (const mark of marks) {
    if (top < mark.top || top > mark.top + mark.height) continue;
    const distance = Math.max(mark.left - left, left - mark.left - mark.width, 0);
    if (distance > least || (distance === least && nearest)) continue;
    nearest = mark;
    least = distance;
  }
  return nearest;
}
