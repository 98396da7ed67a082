/** Sizes of the boxes of a chart, and where the inner states lie within their group. Text is measured by a table: the same everywhere. */
import type { StateBox, StateKind } from '../../src/page/chart/layout.js';
import type { ReadChart, ReadState } from './read-chart.js';

export interface Size {
  width: number;
  height: number;
}

/** Size of a group, and its inner states, each relative to the corner of the group. */
export interface Block extends Size {
  /** Calls that run in inner states: written once, beside the name of the group. */
  runs?: string[];
  /** The calls stand below the name. */
  isStacked?: true;
  inner: StateBox[];
}

/** Sizes of letters in the chart (chart.css). */
export const letters = { name: 13.5, runs: 13.5, label: 12 };

const wide = /[mwMWG@]/;
const narrow = /[iljtfrI.\-:,'[\]() ]/;

/** Width of a text in Geist, a little too wide rather than too narrow. */
export const textWidth = (text: string, size: number): number =>
  Math.ceil(
    [...text].reduce((sum, letter) => sum + (wide.test(letter) ? 0.86 : narrow.test(letter) ? 0.37 : 0.585), 0) * size,
  );

/** Last part of a path: the name that a box shows. */
const nameOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const runsText = (runs: readonly string[] = []): string => (runs.length > 0 ? `↗ ${runs.join(', ')}` : '');

/** Size of a box without inner states. */
export function sizeOf({ path, role, runs, passes }: ReadState): Size {
  if (role === 'start') return { width: 12, height: 12 };
  const width = Math.max(textWidth(nameOf(path), letters.name) + 26, textWidth(runsText(runs), letters.runs) + 20, 64);
  return { width: even(width), height: runs && !passes ? 44 : 30 };
}

const even = (length: number): number => 2 * Math.ceil(length / 2);

const row = { height: 23, gap: 6 };
const padding = 10;

const head = 27;

/**
 * Arranges inner states: in one column, with the calls under the name of the group, or in rows of at most this width, with the calls
 * beside the name.
 */
export function blockOf(chart: ReadChart, group: ReadState, mostWidth: 'column' | number): Block {
  const inner = chart.states.filter(({ path }) => path.startsWith(`${group.path}.`));
  const states = inner.filter(({ role }) => role !== 'group');
  const runs = [...new Set(states.flatMap(({ runs = [] }) => runs))];
  const nameAt = (path: string): string => path.slice(group.path.length + 1);
  const texts = [textWidth(nameOf(group.path), letters.name), textWidth(runsText(runs), letters.runs)] as const;
  const isColumn = mostWidth === 'column';
  const least = isColumn ? Math.max(...texts) + 2 * padding : texts[0] + texts[1] + 3 * padding;
  const top = isColumn && runs.length > 0 ? head + 17 : head;
  const widths = states.map(({ path }) => even(textWidth(nameAt(path), letters.name) + 16));
  const room = Math.max(least, isColumn ? 0 : mostWidth, ...widths.map((width) => width + 2 * padding)) - 2 * padding;
  const rows: number[][] = [[]];
  for (const [index, width] of widths.entries()) {
    const last = rows.at(-1) ?? [];
    const used = last.reduce((sum, at) => sum + (widths[at] ?? 0) + row.gap, 0);
    if (last.length > 0 && (isColumn || used + width > room)) rows.push([index]);
    else last.push(index);
  }
  const usedIn = (indexes: number[]): number =>
    indexes.reduce((sum, at) => sum + (widths[at] ?? 0) + row.gap, -row.gap);
  const width = even(Math.max(least - 2 * padding, ...rows.map(usedIn)));
  const boxes = rows.flatMap((indexes, line) => {
    const spare = (width - usedIn(indexes)) / indexes.length;
    let x = padding;
    return indexes.flatMap((index) => {
      const state = states[index];
      if (!state) return [];
      const box = boxOf(state, 'inner', {
        x,
        y: top + line * (row.height + row.gap),
        width: (widths[index] ?? 0) + spare,
        height: row.height,
      });
      x += box.width + row.gap;
      return [box];
    });
  });
  const calls = runs.length > 0 ? { runs, ...(isColumn && { isStacked: true as const }) } : {};
  return {
    ...calls,
    width: width + 2 * padding,
    height: top + rows.length * (row.height + row.gap) - row.gap + padding,
    inner: boxes,
  };
}

export function boxOf(
  state: ReadState & { isStacked?: true },
  kind: StateKind,
  { x, y, width, height }: Size & { x: number; y: number },
): StateBox {
  const { path, passes, initial, health, unneeded, runs, isStacked } = state;
  return {
    ...{ path, kind },
    ...(passes && { passes }),
    ...(initial && { initial }),
    ...(health && { health }),
    ...(unneeded && { unneeded }),
    ...(runs && { runs }),
    ...(isStacked && { isStacked }),
    ...{ x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) },
  };
}

export const rounded = (length: number): number => Math.round(length * 2) / 2;

/** Marks the box of a group with what its block shows. */
export const withRuns = (
  state: ReadState,
  { runs, isStacked }: Partial<Block> = {},
): ReadState & { isStacked?: true } => ({
  ...state,
  ...(runs && { runs }),
  ...(isStacked && { isStacked }),
});

/** Moves a block's inner states to where the block lies. */
export const placedAt = ({ inner }: Block, x: number, y: number): StateBox[] =>
  inner.map((box) => ({ ...box, x: rounded(box.x + x), y: rounded(box.y + y) }));
