/** Draws a statechart: the present state lit, the last transition marked. What the marks mean: src/inspector/answers.ts, Health. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Health } from '../../api/actor-routes.js';
import type { ChartLayout, Line, StateBox } from './layout.js';
import { between, linePath } from './lines.js';
import { boxOf, isWithinState, litLines, transitionText } from './lit.js';
import './chart.css';

interface ChartProps {
  layout: ChartLayout;
  /** Beginning of its accessible name: `Statechart of volume data`. */
  title: string;
  /** State that is lit; '' if there is no actor. */
  now: string;
  /** State before, of which the way to `now` is marked. */
  before?: string;
  /** State at another moment, drawn dashed: the second one of a comparison, or of the real line in a what-if. */
  other?: string;
  health: Health;
  isPast?: boolean;
}

/** Smallest and largest scale at which a chart is shown, below which it scrolls: letters of 10 pixels, and of 15.5. */
const scales = { least: 10 / 13.5, most: 1.15 };

export function Chart({ layout, title, now, before = '', other = '', health, isPast = false }: ChartProps) {
  const [pointed, point] = useState<{ line: Line; x: number; y: number } | undefined>();
  const room = useRef<HTMLDivElement>(null);
  const { width, height } = layout;
  useEffect(() => showLit(room.current), [layout, now]);
  const size = `clamp(${Math.round(width * scales.least)}px, min(100cqw, 100cqh * ${width / height}), ${Math.round(width * scales.most)}px)`;
  return (
    <div class={`chart-room${isPast ? ' is-past' : ''}`} ref={room}>
      <svg
        class={`chart health-${health}`}
        style={{ width: size }}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={nameOf({ title, now, before, other })}
      >
        <Drawing {...{ layout, now, before, other }} onPoint={(line, x, y) => point(line && { line, x, y })} />
      </svg>
      {pointed && <Moves {...pointed} />}
    </div>
  );
}

function nameOf({ title, now, before, other }: Record<'title' | 'now' | 'before' | 'other', string>): string {
  const was = before && before !== now ? `, before in ${before}` : '';
  const ghost = other && other !== now ? `, at the other moment in ${other}` : '';
  return `${title}: ${now ? `now in ${now}` : 'not there'}${was}${ghost}`;
}

interface DrawingProps {
  layout: ChartLayout;
  now: string;
  before: string;
  other: string;
  onPoint: (line: Line | undefined, x: number, y: number) => void;
}

function Drawing({ layout, now, before, other, onPoint }: DrawingProps) {
  const id = useId();
  const lit = litLines(layout, before, now);
  const plain = layout.lines.filter((line) => line.points && !lit.includes(line));
  const leaf = boxOf(layout, now);
  const was = boxOf(layout, before);
  const ghost = boxOf(layout, other);
  const pointAt = (line: Line) => (event: PointerEvent) => onPoint(line, event.clientX, event.clientY);
  return (
    <>
      <defs>
        <Head id={`${id}-plain`} class="head" />
        <Head id={`${id}-lit`} class="head lit" />
      </defs>
      {layout.states.map((box) => (
        <Box
          key={box.path}
          box={box}
          marks={[
            box === leaf ? 'on' : leaf && isWithinState(leaf.path, box.path) ? 'in' : '',
            box === was && was !== leaf ? 'was' : '',
            box === ghost && ghost !== leaf ? 'other' : '',
          ]}
        />
      ))}
      {plain.map((line) => (
        <g
          class="line"
          key={`${line.from} ${line.to}`}
          onPointerMove={pointAt(line)}
          onPointerLeave={() => onPoint(undefined, 0, 0)}
        >
          <path class="reach" d={linePath(line.points ?? [])} />
          <path d={linePath(line.points ?? [])} marker-end={`url(#${id}-plain)`} />
        </g>
      ))}
      {lit.map((line) => (
        <g
          class="line lit"
          key={`lit ${line.from} ${line.to}`}
          onPointerMove={pointAt(line)}
          onPointerLeave={() => onPoint(undefined, 0, 0)}
        >
          <path class="reach" d={linePath(wayOf(layout, line))} />
          <path d={linePath(wayOf(layout, line))} marker-end={`url(#${id}-lit)`} />
        </g>
      ))}
      {layout.lines.map(
        ({ from, to, label }) =>
          label && (
            <text class="label" key={`${from} ${to}`} x={label.x} y={label.y}>
              {label.text}
            </text>
          ),
      )}
    </>
  );
}

/** Corners of a line; of one that is seen only while it is lit, from box to box. */
function wayOf(layout: ChartLayout, { from, to, points }: Line): readonly (readonly [number, number])[] {
  const [begin, end] = [boxOf(layout, from), boxOf(layout, to)];
  return points ?? (begin && end ? between(begin, end) : []);
}

const Head = ({ id, class: name }: { id: string; class: string }) => (
  <marker
    id={id}
    viewBox="0 0 8 8"
    refX="6.6"
    refY="4"
    markerWidth="7"
    markerHeight="7"
    orient="auto"
    markerUnits="userSpaceOnUse"
  >
    <path d="M.5 .6l7 3.4-7 3.400z" class={name} />
  </marker>
);

function Box({ box, marks }: { box: StateBox; marks: string[] }) {
  const { path, kind, x, y, width, height, runs, passes, initial } = box;
  const names = ['state', kind, ...marks, passes ? 'passes' : ''].filter(Boolean).join(' ');
  if (kind === 'start') return <circle class={names} cx={x + width / 2} cy={y + height / 2} r={width / 2} />;
  const name = path.slice((kind === 'inner' ? path.indexOf('.') : path.lastIndexOf('.')) + 1);
  return (
    <g class={names} transform={`translate(${x} ${y})`}>
      <rect width={width} height={height} rx={kind === 'hub' ? height / 2 : kind === 'inner' ? 5 : 7} />
      {kind === 'final' && <rect class="border" x="3" y="3" width={width - 6} height={height - 6} rx="4" />}
      {initial && kind !== 'inner' && !path.includes('.') && <path class="begin" d={`M-12 ${height / 2}h8`} />}
      {initial && kind !== 'inner' && !path.includes('.') && <circle class="begin" cx="-13" cy={height / 2} r="2.5" />}
      <BoxText {...{ box, name, runs: runs ? `↗ ${runs.join(', ')}` : '' }} />
    </g>
  );
}

function BoxText({
  box: { kind, width, height, isStacked },
  name,
  runs,
}: {
  box: StateBox;
  name: string;
  runs: string;
}) {
  if (kind === 'group') {
    return (
      <>
        <text class="name" x="10" y="19">
          {name}
        </text>
        {runs && (
          <text
            class="runs"
            x={isStacked ? 10 : width - 10}
            y={isStacked ? 37 : 19}
            text-anchor={isStacked ? 'start' : 'end'}
          >
            {runs}
          </text>
        )}
      </>
    );
  }
  const hasRuns = runs !== '' && height > 36;
  const text = kind === 'hub' ? `${name} · picks whatever is due next` : name;
  return (
    <>
      <text class="name" x={width / 2} y={hasRuns ? 18 : height / 2 + 4.5} text-anchor="middle">
        {text}
      </text>
      {hasRuns && (
        <text class="runs" x={width / 2} y="35" text-anchor="middle">
          {runs}
        </text>
      )}
    </>
  );
}

const mostMoves = 9;

/** The events behind the line that the pointer is at. */
function Moves({ line, x, y }: { line: Line; x: number; y: number }) {
  const texts = line.moves.map((move) => transitionText(line, move));
  const more = texts.length - mostMoves;
  return (
    <div
      class="chart-moves"
      style={{ left: `min(${x + 14}px, 100vw - 380px)`, top: `min(${y + 14}px, 100vh - 220px)` }}
    >
      <b>
        {line.from} → {line.to}
      </b>
      {texts.slice(0, mostMoves).map((text) => (
        <span key={text}>{text}</span>
      ))}
      {more > 0 && <span>and {more} more</span>}
    </div>
  );
}

/** Scrolls a chart that is larger than its room to the state that is lit. */
function showLit(room: HTMLElement | null): void {
  const lit = room?.querySelector('.on');
  if (!room || !lit || (room.scrollWidth <= room.clientWidth && room.scrollHeight <= room.clientHeight)) return;
  const [box, outer] = [lit.getBoundingClientRect(), room.getBoundingClientRect()];
  room.scrollLeft += box.x + box.width / 2 - outer.x - outer.width / 2;
  room.scrollTop += box.y + box.height / 2 - outer.y - outer.height / 2;
}
