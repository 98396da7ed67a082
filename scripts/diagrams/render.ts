/** Draws cards and notes as a picture that fits one screen: in columns, in their order. */
import { Graphviz } from '@hpcc-js/wasm/graphviz';
import type { Card } from './cards.js';
import { arrowsOf, type Box, escaped, font, fontSize, loose, type Placed, placed, tablesOf } from './dot.js';
import { faultsIn } from './legibility.js';
import type { Note } from './notes.js';

/** Size in pixels. */
const screen = { width: 1280, height: 800 };
/** Least size of letters that people can still read; 1 is the size of text on the page. */
const smallestScale = 0.75;
const pixelsPerPoint = 4 / 3;
const fonts = `${font},Verdana,Helvetica,Arial,sans-serif`;

/** Longest lines of text to try, in characters. */
const lengths = [26, 32, 38];
/** Space between columns and between cards, in points. */
interface Gap {
  x: number;
  y: number;
}
const gaps = { withArrows: { x: 30, y: 12 }, withoutArrows: { x: 10, y: 8 } };

/** Number of layouts to try, those with the largest letters first. */
const mostTries = 20;

/** Draws the picture. The same cards give the same picture. @throws Error if no layout can be read on one screen */
export async function pictureOf(cards: Card[], notes: Note[]): Promise<string> {
  const widths = await widthsOfLetters();
  const arrows = arrowsOf(cards);
  const gap = arrows.length > 0 ? gaps.withArrows : gaps.withoutArrows;
  const layouts: { tables: string[]; places: Placed[]; scale: number }[] = [];
  for (const longest of lengths) {
    const tables = tablesOf(cards, notes, longest);
    const boxes = await measured(tables);
    for (const height of heightsOf(boxes, gap)) {
      const places = inColumns(boxes, height, gap);
      layouts.push({ tables, places, scale: scaleOf(sizeOf(places)) });
    }
  }
  layouts.sort((one, other) => other.scale - one.scale);
  const faults = new Set([shrunk(layouts[0]?.scale ?? 1)]);
  for (const { tables, places } of layouts.filter(({ scale }) => scale >= smallestScale).slice(0, mostTries)) {
    const svg = await laidOut(placed(tables, places, arrows), 'svg', 'nop2');
    const scale = Math.min(1, scaleOf(pointsOf(svg)));
    const found = scale < smallestScale ? [shrunk(scale)] : faultsIn(svg, widths);
    if (found.length === 0) return scaled(svg, scale);
    for (const fault of found) faults.add(fault);
  }
  throw new Error([...faults].join('; '));
}

const shrunk = (scale: number): string => `it has to shrink to ${Math.round(scale * 100)} %`;

const alphabet = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).concat('→');

/** Widths of letters in the widest font, as shares of the font size. */
export async function widthsOfLetters(): Promise<Map<string, number>> {
  // A space alone has no width; it is as wide as a dot.
  const boxes = await measured(alphabet.map((letter) => escaped(letter).replace(' ', '.')));
  return new Map(alphabet.map((letter, at) => [letter, (boxes[at]?.width ?? 0) / fontSize]));
}

/** Lays out a graph. It begins anew each time: a failure spoils Graphviz. */
async function laidOut(dot: string, format: 'svg' | 'plain', engine: 'dot' | 'nop2'): Promise<string> {
  Graphviz.unload();
  return (await Graphviz.load()).layout(dot, format, engine);
}

async function measured(tables: string[]): Promise<Box[]> {
  const plain = await laidOut(loose(tables), 'plain', 'dot');
  const sizes = [...plain.matchAll(/^node t(\d+) \S+ \S+ (\S+) (\S+)/gm)].map(([, at, width, height]) => ({
    ...{ at: Number(at), width: Number(width) * 72, height: Number(height) * 72 },
  }));
  return sizes.toSorted((one, other) => one.at - other.at);
}

const heightOf = (column: Box[], gap: Gap): number => column.reduce((sum, { height }) => sum + height + gap.y, -gap.y);

/** Heights of all columns that can be. */
const heightsOf = (boxes: Box[], gap: Gap): Set<number> =>
  new Set(
    boxes.flatMap((_, from) =>
      boxes.slice(from).map((_box, more) => heightOf(boxes.slice(from, from + more + 1), gap)),
    ),
  );

/** Puts each box into the first column that has room for it. @param most height of a column */
function inColumns(boxes: Box[], most: number, gap: Gap): Placed[] {
  const columns: Box[][] = [];
  for (const box of boxes) {
    const column = columns.find((one) => heightOf([...one, box], gap) <= most);
    if (column) column.push(box);
    else columns.push([box]);
  }
  const widths = columns.map((column) => Math.max(...column.map(({ width }) => width)));
  return boxes.map((box) => {
    const at = columns.findIndex((column) => column.includes(box));
    const x = widths.slice(0, at).reduce((sum, width) => sum + width + gap.x, 0);
    const above = columns[at]?.slice(0, columns[at].indexOf(box)) ?? [];
    return { ...box, x, y: heightOf(above, gap) + gap.y };
  });
}

const sizeOf = (places: Placed[]): Box => ({
  width: Math.max(...places.map(({ x, width }) => x + width)),
  height: Math.max(...places.map(({ y, height }) => y + height)),
});

const scaleOf = ({ width, height }: Box): number =>
  Math.min(screen.width / (width * pixelsPerPoint), screen.height / (height * pixelsPerPoint));

const sizes = /<svg width="([\d.]+)pt" height="([\d.]+)pt"/;

function pointsOf(svg: string): Box {
  const [, width, height] = svg.match(sizes) ?? [];
  if (!width || !height) throw new Error('the SVG does not say how large it is');
  return { width: Number(width), height: Number(height) };
}

function scaled(svg: string, scale: number): string {
  const { width, height } = pointsOf(svg);
  const pixels = (points: number): number => Math.floor(points * pixelsPerPoint * scale);
  return svg
    .replace(sizes, `<svg width="${pixels(width)}" height="${pixels(height)}"`)
    .replaceAll(`font-family="${font}"`, `font-family="${fonts}"`);
}
