/** Shapes of lines in a chart. Pure. */
import type { StateBox } from './layout.js';

type Point = readonly [x: number, y: number];

const radius = 6;

/** Path of a line with rounded corners. */
export function linePath(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (!first) return '';
  let path = `M${first[0]} ${first[1]}`;
  for (const [index, corner] of others.entries()) {
    const before = points[index] ?? first;
    const after = others[index + 1];
    if (!after) path += `L${corner[0]} ${corner[1]}`;
    else {
      const size = Math.min(radius, distance(before, corner) / 2, distance(corner, after) / 2);
      const [a, b] = [towards(corner, before, size), towards(corner, after, size)];
      path += `L${a[0]} ${a[1]}Q${corner[0]} ${corner[1]} ${b[0]} ${b[1]}`;
    }
  }
  return path;
}

const distance = ([ax, ay]: Point, [bx, by]: Point): number => Math.hypot(bx - ax, by - ay);

function towards(from: Point, to: Point, length: number): Point {
  const whole = distance(from, to) || 1;
  return [
    rounded(from[0] + ((to[0] - from[0]) * length) / whole),
    rounded(from[1] + ((to[1] - from[1]) * length) / whole),
  ];
}

const rounded = (length: number): number => Math.round(length * 10) / 10;

/** Depth of the bow below small boxes that stand in one row. */
const bow = 7;

/**
 * Way between two boxes that the chart draws no line for: straight from border to border, or a bow below them if others may stand
 * between. Empty if one lies within the other.
 */
export function between(from: StateBox, to: StateBox): Point[] {
  const [a, b] = [middle(from), middle(to)];
  if (from.kind === 'inner' && to.kind === 'inner' && from.y === to.y) {
    const bottom = from.y + from.height;
    const [begin, end] = [a[0] + Math.sign(b[0] - a[0]) * 5, b[0]];
    return [
      [begin, bottom],
      [begin, bottom + bow],
      [end, bottom + bow],
      [end, bottom],
    ];
  }
  const overlaps =
    Math.abs(a[0] - b[0]) < (from.width + to.width) / 2 && Math.abs(a[1] - b[1]) < (from.height + to.height) / 2;
  return overlaps ? [] : [atBorder(from, a, b), atBorder(to, b, a)];
}

const middle = ({ x, y, width, height }: StateBox): Point => [x + width / 2, y + height / 2];

function atBorder({ width, height }: StateBox, center: Point, other: Point): Point {
  const [dx, dy] = [other[0] - center[0], other[1] - center[1]];
  const part = Math.min(
    dx === 0 ? Infinity : width / 2 / Math.abs(dx),
    dy === 0 ? Infinity : height / 2 / Math.abs(dy),
  );
  return [rounded(center[0] + dx * part), rounded(center[1] + dy * part)];
}
