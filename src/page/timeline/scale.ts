/** From moments to places on the timeline. Stretches in which nothing happens are folded to a fixed width. Pure. */

export type Fold = readonly [from: number, to: number];

/** Shorter stretches are never folded, in milliseconds. */
const leastIdle = 3000;
/** Time that stays visible before and after a fold. */
const rim = 200;
/** Width of a fold in pixels. */
const foldWidth = 34;

/**
 * Stretches to fold: longer than three seconds, and longer than a fifth of the time in which something happens.
 * @param moments at which something happens, in order
 * @param busy stretches that stay as they are, such as calls
 */
export function foldsOf(moments: readonly number[], busy: readonly { from: number; to: number }[] = []): Fold[] {
  const gaps = moments.slice(1).map((to, index) => [moments[index] ?? to, to] as const);
  const short = gaps.reduce((sum, [from, to]) => sum + Math.min(to - from, leastIdle), 0);
  const least = Math.max(leastIdle, short / 5);
  const isIdle = ([from, to]: Fold): boolean => !busy.some((one) => one.from < to && one.to > from);
  return gaps
    .filter((gap) => gap[1] - gap[0] > least && isIdle(gap))
    .map(([from, to]) => [from + rim, to - rim] as const);
}

interface Range {
  from: number;
  to: number;
}

/** Part of the width that is shown: `{ from: 0, to: 1 }` is all of it. */
export type Zoom = Range;

export const wholeZoom: Zoom = { from: 0, to: 1 };

/** Share of the time at the ends that is left free. */
const end = 0.012;

/** @returns place of a moment in pixels */
export function scaleOf(
  { from, to }: Range,
  width: number,
  folds: readonly Fold[],
  zoom: Zoom = wholeZoom,
): (at: number) => number {
  const folded = folds.reduce((sum, [begin, stop]) => sum + stop - begin, 0);
  const time = Math.max(1, to - from - folded) * (1 + 2 * end);
  const room = Math.max(1, width - folds.length * foldWidth);
  const place = (at: number): number => {
    let skipped = 0;
    let extra = 0;
    for (const [begin, stop] of folds) {
      if (at >= stop) {
        skipped += stop - begin;
        extra += foldWidth;
      } else if (at > begin) {
        skipped += at - begin;
        extra += (foldWidth * (at - begin)) / (stop - begin);
      }
    }
    return ((at - from - skipped + time * end) / time) * room + extra;
  };
  return (at) => ((place(at) / width - zoom.from) / (zoom.to - zoom.from)) * width;
}

/** Narrowest part that can be shown. */
const leastZoom = 0.005;

/** @param factor below 1 shows less, larger @param center of the change, as a share of what is shown */
export function zoomed({ from, to }: Zoom, factor: number, center = 0.5): Zoom {
  const size = Math.min(1, Math.max(leastZoom, (to - from) * factor));
  const middle = from + center * (to - from);
  return moved({ from: middle - center * size, to: middle - center * size + size });
}

/** Keeps a part within the whole. */
export function moved({ from, to }: Zoom): Zoom {
  const size = Math.min(1, to - from);
  const begin = Math.max(0, Math.min(1 - size, from));
  return { from: begin, to: begin + size };
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000,
  86_400_000,
];
const leastDistance = 84;

/** Round times for the axis, far enough from one another, none within a fold. */
export function axisTimes(
  range: Range,
  width: number,
  folds: readonly Fold[],
  x: (at: number) => number,
): { step: number; times: number[] } {
  const folded = folds.reduce((sum, [begin, stop]) => sum + stop - begin, 0);
  const visible = Math.max(
    1,
    (range.to - range.from - folded) * (width / Math.max(1, Math.abs(x(range.to) - x(range.from)))),
  );
  const step = steps.find((one) => (visible / one) * leastDistance < width) ?? 86_400_000;
  const times: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  let stretch = range.from;
  for (const [begin, stop] of [...folds, [range.to, range.to] as Fold]) {
    for (let at = Math.ceil(stretch / step) * step; at <= begin; at += step) {
      const place = x(at);
      if (place > width) return { step, times };
      const isBesideFold = begin < range.to && x(begin) - place < leastDistance;
      if (place < 0 || place - last < leastDistance || isBesideFold) continue;
      times.push(at);
      last = place;
    }
    stretch = stop;
  }
  return { step, times };
}
