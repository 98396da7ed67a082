/** Draws a chart as a picture that fits one screen. */
import { Graphviz } from '@hpcc-js/wasm/graphviz';
import { type IStateMachine, render } from 'state-machine-cat';
import type { Random } from '../../src/engine/random.js';
import { seededRandom } from '../../src/testing/seeded-random.js';

/** Size in pixels. */
export const screen = { width: 1280, height: 800 };
/** Least size of letters that people can still read. */
export const smallestScale = 0.7;
const pixelsPerPoint = 4 / 3;

const layouts = (['top-down', 'left-right'] as const).flatMap((direction) =>
  [0.4, 0.25].flatMap((nodesep) => [0.4, 0.25, 0.2].map((ranksep) => ({ direction, nodesep, ranksep }))),
);
/** Number of random orders of arrows to try if a chart does not fit: the layout depends on the order. */
const mostOrders = 24;
/** Scale that is good enough to stop trying: nobody sees the difference to 1. */
const largeEnough = 0.95;
/** Loss of scale that is worth one overlap of labels less. */
const clearness = 0.04;

export interface Picture {
  svg: string;
  /** Size of the letters on one screen; 1 is the size of text on the page. */
  scale: number;
}

/**
 * Draws the chart with the best layout found. The same chart gives the same picture.
 * @param before the picture of this chart on disk, if there is one. It ends with a note of its layout: where that layout
 *   gives the same picture, the search is left out. Delete the picture to search again.
 */
export async function pictureOf(chart: IStateMachine, before = ''): Promise<Picture> {
  const again = await redrawn(chart, before);
  return again?.svg === before ? again : bestOf(chart);
}

/** The order of the arrows (0: as they are, else the seed that shuffles them), and the index in `layouts`. */
interface Layout {
  order: number;
  index: number;
}

/** Tries layout by layout; further orders of the arrows only until a picture is large and clear enough. */
async function bestOf(chart: IStateMachine): Promise<Picture> {
  let best: { picture: Picture; worth: number } | undefined;
  for (let order = 0; order < mostOrders && (best?.worth ?? 0) < largeEnough; order += 1) {
    for (const index of layouts.keys()) {
      const picture = await drawn(chart, { order, index });
      if (!picture) continue;
      const isReadable = picture.scale >= smallestScale;
      const worth = picture.scale - clearness * overlapsIn(picture.svg) - (isReadable ? 0 : 1);
      if (!best || worth > best.worth) best = { picture, worth };
    }
  }
  if (!best) throw new Error('Graphviz fails in every layout of this chart');
  return best.picture;
}

/** Lays out the chart; undefined where Graphviz fails, as it does with some orders of arrows. It begins anew: a failure spoils it. */
async function laidOut(dot: string): Promise<string | undefined> {
  Graphviz.unload();
  const graphviz = await Graphviz.load();
  try {
    return graphviz.layout(dot, 'svg', 'dot');
  } catch {
    return undefined;
  }
}

const noteOf = ({ order, index }: Layout): string => `<!-- Layout ${index} of the arrows in order ${order} -->`;
const notes = /<!-- Layout (\d+) of the arrows in order (\d+) -->/;

/** Draws the chart in the layout that a picture notes; undefined if it notes none. */
async function redrawn(chart: IStateMachine, svg: string): Promise<Picture | undefined> {
  const [, index, order] = svg.match(notes) ?? [];
  if (index === undefined || order === undefined || !layouts[Number(index)]) return undefined;
  return drawn(chart, { order: Number(order), index: Number(index) });
}

function shuffled({ states, transitions = [] }: IStateMachine, random: Random): IStateMachine {
  const drawn = transitions.map((arrow) => ({ arrow, at: random.next() }));
  return { states, transitions: drawn.sort((one, other) => one.at - other.at).map(({ arrow }) => arrow) };
}

async function drawn(chart: IStateMachine, layout: Layout): Promise<Picture | undefined> {
  const { direction, ...spacing } = layouts[layout.index] ?? layouts[0] ?? { direction: 'top-down' };
  const ordered = layout.order === 0 ? chart : shuffled(chart, seededRandom(layout.order));
  const dotGraphAttrs = Object.entries({ ...spacing, bgcolor: 'white' }).map(([name, value]) => ({
    name,
    value: String(value),
  }));
  const dot = render(JSON.stringify(ordered), { inputType: 'json', outputType: 'dot', direction, dotGraphAttrs });
  const svg = await laidOut(String(dot));
  if (svg === undefined) return undefined;
  const { width, height } = pointsOf(svg);
  const scale = Math.min(1, screen.width / (width * pixelsPerPoint), screen.height / (height * pixelsPerPoint));
  return { svg: `${scaled({ svg, scale }).trimEnd()}\n${noteOf(layout)}\n`, scale };
}

const texts = /<text [^>]*?text-anchor="(\w+)" x="([-\d.]+)" y="([-\d.]+)"[^>]*?font-size="([\d.]+)"[^>]*>([^<]*)</g;
/** Width and height of a letter, as a share of the font size. */
const letter = { width: 0.5, height: 0.8 };

/** Counts pairs of lines of text that overlap. */
function overlapsIn(svg: string): number {
  const boxes = [...svg.matchAll(texts)].map(([, anchor, x, y, size, text = '']) => {
    const width = text.replace(/ *&#160;/g, '').replace(/&#\d+;/g, '-').length * Number(size) * letter.width;
    const left = Number(x) - (anchor === 'middle' ? width / 2 : 0);
    const bottom = Number(y);
    return { left, right: left + width, top: bottom - Number(size) * letter.height, bottom };
  });
  return boxes.reduce((sum, one, at) => {
    const met = boxes.slice(at + 1).filter((other) => isMeeting(one, other));
    return sum + met.length;
  }, 0);
}

interface TextBox {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const isMeeting = (one: TextBox, other: TextBox): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const sizes = /<svg width="([\d.]+)pt" height="([\d.]+)pt"/;

function pointsOf(svg: string): { width: number; height: number } {
  const [, width, height] = svg.match(sizes) ?? [];
  if (!width || !height) throw new Error('the SVG does not say how large it is');
  return { width: Number(width), height: Number(height) };
}

function scaled({ svg, scale }: Picture): string {
  const { width, height } = pointsOf(svg);
  const pixels = (points: number): number => Math.floor(points * pixelsPerPoint * scale);
  return svg.replace(sizes, `<svg width="${pixels(width)}" height="${pixels(height)}"`);
}
