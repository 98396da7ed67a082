/**
 * Lays out a chart with a hub, a state that only picks the next piece of work: the hub is a bar, states at rest lie above it, states
 * at work below, and each has a line to the bar and one from it.
 */
import type { ChartLayout, Line, StateBox } from '../../src/page/chart/layout.js';
import { type Block, blockOf, boxOf, placedAt, rounded, type Size, sizeOf, withRuns } from './boxes.js';
import { linesOf } from './lines.js';
import type { ReadChart, ReadState } from './read-chart.js';

const gap = 11;
/** Width that is seen without scrolling beside the parts, on a screen of 1280 pixels and at the smallest scale that people can read. */
const room = 700;
/** Between the boxes of the first row at work, if there is a second one: lines to that one pass here. */
const passage = 36;
const bar = { height: 26, above: 30, below: 30 };
const margin = 12;

/** Up to this many states at work stand in one row. */
const mostInRow = 4;

interface Row {
  state: ReadState;
  block: Block;
}

/** Leaves out the names of calls in the boxes where these would need more room. */
export function hubLayout(chart: ReadChart): ChartLayout {
  const layout = arranged(chart, sizeOf);
  return layout.width <= room ? layout : arranged(chart, ({ runs, ...state }) => sizeOf(state));
}

function arranged(chart: ReadChart, sizeIn: (state: ReadState) => Size): ChartLayout {
  const hub = chart.states.find(({ role }) => role === 'hub');
  if (!hub) throw new Error(`${chart.machine} has no hub`);
  const rows = chart.states
    .filter((state) => state.parent === '' && state !== hub)
    .map(
      (state): Row => ({
        state,
        block: state.role === 'group' ? blockOf(chart, state, 'column') : { ...sizeIn(state), inner: [] },
      }),
    );
  const isAtWork = ({ state }: Row): boolean => state.runs !== undefined;
  const rest = rows.filter((row) => !isAtWork(row));
  const work = rows.filter(isAtWork);
  const split = work.length > mostInRow ? Math.ceil(work.length / 2) : work.length;
  const [first, second] = [work.slice(0, split), work.slice(split)];
  const between = second.length > 0 ? passage : gap;
  const firstWidth = widthOf(first, between) + (second.length === first.length ? passage : 0);
  const width = Math.max(widthOf(rest, gap), firstWidth) + 2 * margin;

  const states: StateBox[] = [];
  const place = ({ state, block }: Row, x: number, y: number): void => {
    states.push(boxOf(withRuns(state, block), state.role, { ...block, x, y }), ...placedAt(block, x, y));
  };
  const restHeight = Math.max(0, ...rest.map(({ block }) => block.height));
  const spare = (width - 2 * margin - widthOf(rest, 0)) / rest.length;
  let x = margin + spare / 2;
  for (const row of rest) {
    place(row, x, margin + restHeight - row.block.height);
    x += row.block.width + spare;
  }
  const hubTop = margin + restHeight + bar.above;
  const hubBox = boxOf(hub, 'hub', { x: margin, y: hubTop, width: width - 2 * margin, height: bar.height });
  states.push(hubBox);
  const firstTop = hubTop + bar.height + bar.below;
  x = margin + (second.length > 0 ? 0 : (width - 2 * margin - widthOf(first, between)) / 2);
  const gaps: number[] = [];
  for (const row of first) {
    place(row, x, firstTop);
    x += row.block.width + between;
    gaps.push(x - between / 2);
  }
  const secondTop = firstTop + Math.max(...first.map(({ block }) => block.height)) + 22;
  for (const [index, row] of second.entries()) place(row, (gaps[index] ?? 0) - row.block.width / 2, secondTop);
  const right = Math.max(...states.map((box) => box.x + box.width)) + margin;
  hubBox.width = right - 2 * margin;
  return {
    ...{ machine: chart.machine, version: chart.version },
    width: Math.ceil(right),
    height: Math.ceil(Math.max(...states.map((box) => box.y + box.height)) + margin),
    states,
    lines: linesOf(chart, topOf).map((line) => routed(line, hubBox, states)),
    ...{ stays: chart.stays, anywhere: chart.anywhere },
  };
}

const topOf = (path: string): string => path.split('.')[0] ?? path;

const widthOf = (row: readonly Row[], between: number): number =>
  row.reduce((sum, { block }) => sum + block.width + between, row.length > 0 ? -between : 0);

/** Draws lines from and to the hub straight, side by side. Others are seen only while they are lit. */
function routed(line: Line, hub: StateBox, states: readonly StateBox[]): Line {
  const isBack = line.to === hub.path;
  if (!isBack && line.from !== hub.path) return line;
  const box = states.find(({ path }) => path === (isBack ? line.from : line.to));
  if (!box) return line;
  const isAbove = box.y < hub.y;
  const x = rounded(box.x + box.width / 2 + (isBack ? -8 : 8));
  const atBox: [number, number] = [x, isAbove ? box.y + box.height : box.y];
  const atHub: [number, number] = [x, isAbove ? hub.y : hub.y + hub.height];
  return { ...line, points: isBack ? [atBox, atHub] : [atHub, atBox] };
}
