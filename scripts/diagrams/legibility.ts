/** Finds what people can't read in a picture: text that is cut, runs over the edge of a box, or meets text or a line. */

/** Rectangle; y grows downwards. */
interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Text extends Area {
  text: string;
}

/** @param widths of letters, as shares of the font size, in the widest font that the picture is shown in */
export function faultsIn(svg: string, widths: ReadonlyMap<string, number>): string[] {
  const [page = '', ...groups] = svg.split(/<g id="[^"]+" class="(?=node|edge|cluster)/);
  const lines = groups.filter((group) => group.startsWith('edge')).flatMap(curvesIn);
  const boxes = groups.filter((group) => !group.startsWith('edge')).flatMap(shapesIn);
  const texts = [page, ...groups].flatMap((group) => textsIn(group, widths));
  const [whole] = shapesIn(page);
  return texts.flatMap((one, at) => [
    ...(whole && !isWithin(one, whole) ? [`'${one.text}' is cut`] : []),
    ...(boxes.some((box) => isMeeting(one, box) && !isWithin(one, box)) ? [`'${one.text}' is wider than its box`] : []),
    ...texts.slice(at + 1).flatMap((other) => (isMeeting(one, other) ? [`'${one.text}' meets '${other.text}'`] : [])),
    ...(lines.some((points) => points.some((point) => isMeeting(one, point))) ? [`a line crosses '${one.text}'`] : []),
  ]);
}

const isMeeting = (one: Area, other: Area): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const isWithin = (one: Area, other: Area): boolean =>
  one.left >= other.left && one.right <= other.right && one.top >= other.top && one.bottom <= other.bottom;

const letters = /<text text-anchor="(\w+)" x="([-\d.]+)" y="([-\d.]+)"[^>]*? font-size="([\d.]+)"[^>]*>([^<]*)</g;
/** Share of the font size that letters reach above their line, and below it. */
const reach = { above: 0.75, below: 0.2 };

function textsIn(group: string, widths: ReadonlyMap<string, number>): Text[] {
  return [...group.matchAll(letters)].map(([, anchor, x, y, points, raw = '']) => {
    const [size, base] = [Number(points), Number(y)];
    const text = raw
      .replaceAll('&#160;', ' ')
      .trimEnd()
      .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
    const width = [...text].reduce((sum, letter) => sum + (widths.get(letter) ?? 1), 0) * size;
    const left = Number(x) - (anchor === 'middle' ? width / 2 : 0);
    return { text, left, right: left + width, top: base - size * reach.above, bottom: base + size * reach.below };
  });
}

const pointsOf = (numbers = ''): [x: number, y: number][] =>
  [...numbers.matchAll(/([-\d.]+),([-\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);

const shapesIn = (group: string): Area[] =>
  [...group.matchAll(/<(?:polygon|path)[^>]*? (?:points|d)="([^"]+)"/g)]
    .map(([, numbers]) => areaOf(pointsOf(numbers)))
    .filter(({ top, bottom }) => bottom - top > 1);

const areaOf = (points: [x: number, y: number][]): Area => ({
  left: Math.min(...points.map(([x]) => x)),
  right: Math.max(...points.map(([x]) => x)),
  top: Math.min(...points.map(([, y]) => y)),
  bottom: Math.max(...points.map(([, y]) => y)),
});

/** Number of pieces of one curve. */
const pieces = 60;

/** Cuts the curves of an arrow into small pieces. */
const curvesIn = (group: string): Area[][] =>
  [...group.matchAll(/<path[^>]*? d="([^"]+)"/g)].map(([, numbers]) => {
    const points = pointsOf(numbers);
    const ends = points.flatMap((_, at) => (at % 3 === 0 && at + 3 < points.length ? [points.slice(at, at + 4)] : []));
    const along = ends.flatMap((four) => Array.from({ length: pieces + 1 }, (_, step) => pointAt(four, step / pieces)));
    return along.slice(1).map((point, at) => areaOf([point, along[at] ?? point]));
  });

/** Point of a Bézier curve. */
function pointAt([one, two, three, four]: [x: number, y: number][], t: number): [x: number, y: number] {
  const along = (axis: 0 | 1): number =>
    (one?.[axis] ?? 0) * (1 - t) ** 3 +
    3 * (two?.[axis] ?? 0) * (1 - t) ** 2 * t +
    3 * (three?.[axis] ?? 0) * (1 - t) * t ** 2 +
    (four?.[axis] ?? 0) * t ** 3;
  return [along(0), along(1)];
}
