/** The lanes of a timeline as a picture; its bars are buttons. */
import type { ComponentChildren } from 'preact';
import type { Health } from '../../api/actor-routes.js';
import { momentOf, shortDuration, timeOf } from '../data/time.js';
import { CanvasMarks } from './canvas-marks.js';
import { axisHeight, laneHeight, markCount, marksOf, mostElements, topsOf } from './marks.js';
import { type CallBar, isSameStep, type Lane, type Point, type StepPoint, type TimelineModel } from './model.js';
import { axisTimes, type Fold } from './scale.js';

interface LanesProps {
  model: TimelineModel;
  width: number;
  folds: readonly Fold[];
  now: number;
  x: (at: number) => number;
  /** The one that is chosen. */
  step: StepPoint | undefined;
  onChoose: (step: StepPoint) => void;
}

export const laneKey = ({ kind, address, name, about }: Lane): string => [kind, address, name, about].join(' ');

export function Lanes({ model, width, folds, now, x, step, onChoose }: LanesProps) {
  const tops = topsOf(model.lanes);
  const height = tops.at(-1) ?? axisHeight;
  const isDrawn = model.lanes.reduce((sum, lane) => sum + markCount(lane), 0) > mostElements;
  const chosen = model.steps.find((point) => isSameStep(point, step));
  const shared = { x, width, step, onChoose };
  const picture = (
    <svg
      class="timeline-lanes"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label="Lanes"
    >
      <defs>
        <pattern id="timeline-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <path d="M0 0v6" class="hatch-line" />
        </pattern>
      </defs>
      <Axis {...{ model, width, height, folds, x }} />
      {model.lanes.map((lane, index) => (
        <g key={laneKey(lane)} transform={`translate(0 ${tops[index]})`}>
          <path class="rule" d={`M0 ${laneHeight[lane.kind] - 0.5}H${width}`} />
          {!isDrawn && <LaneMarks lane={lane} {...shared} />}
        </g>
      ))}
      {chosen && <path class="chosen-line" d={`M${x(chosen.at)} ${axisHeight - 10}V${height}`} />}
      {x(now) < width && <path class="now-line" d={`M${x(now)} ${axisHeight - 8}V${height}`} />}
    </svg>
  );
  if (!isDrawn) return picture;
  return (
    <div class="timeline-drawn">
      {picture}
      <CanvasMarks {...{ width, height, step, onChoose }} marks={marksOf(model.lanes, x, width)} />
    </div>
  );
}

type MarksProps = Pick<LanesProps, 'x' | 'width' | 'step' | 'onChoose'>;

function LaneMarks({ lane, ...shared }: MarksProps & { lane: Lane }) {
  const { x, width } = shared;
  switch (lane.kind) {
    case 'callers':
      return <Requests points={lane.points} {...shared} />;
    case 'states':
      return (
        <>
          {lane.bars.map((bar) => (
            <Stretch
              key={bar.seq}
              {...shared}
              {...bar}
              top={10}
              height={29}
              name={`${lane.name}: ${bar.text}, ${spanOf(bar)}`}
            >
              {(room) => (
                <text x="7" y="19">
                  {fitting(bar.text, room)}
                </text>
              )}
            </Stretch>
          ))}
        </>
      );
    case 'calls':
      return (
        <>
          {lane.pauses.map(({ from, to }) => (
            <g class="pause" key={from}>
              <path d={`M${clipped(x(from), width) + 2} 40H${clipped(x(to), width) - 2}`} />
              {x(to) - x(from) > 76 && (
                <text x={(clipped(x(from), width) + clipped(x(to), width)) / 2} y="34" text-anchor="middle">
                  pause {shortDuration(to - from)}
                </text>
              )}
            </g>
          ))}
          {lane.calls.map((call) => (
            <Call key={`${call.seq} ${call.from}`} call={call} {...shared} />
          ))}
        </>
      );
    case 'commits':
      return (
        <>
          {lane.points.map((point) => (
            <Commit key={`${point.address} ${point.seq}`} point={point} {...shared} />
          ))}
        </>
      );
  }
}

const spanOf = ({ from, to }: { from: number; to: number }): string =>
  `from ${momentOf(from)} for ${shortDuration(to - from)}`;

function Call({ call, ...shared }: MarksProps & { call: CallBar }) {
  const { text, code = 'under way', attempt = 1, from, to, isOpen } = call;
  const title = attempt > 1 ? `${text}, attempt ${attempt}` : text;
  return (
    <Stretch
      {...shared}
      {...call}
      top={11}
      height={57}
      isCall
      isOpen={isOpen ?? false}
      name={`${title}: ${code}, ${spanOf(call)}`}
    >
      {(room) => (
        <>
          <text x="7" y="17">
            {fitting(attempt > 1 && room < 170 ? `#${attempt} ${text}` : title, room)}
          </text>
          <text class="small" x="7" y="34">
            {fitting(code, room)}
          </text>
          <text class="small" x="7" y="48">
            {fitting(shortDuration(to - from), room)}
          </text>
        </>
      )}
    </Stretch>
  );
}

interface StretchProps extends MarksProps {
  from: number;
  to: number;
  health: Health;
  /** The step that it leads to. */
  address: string;
  seq: number;
  top: number;
  height: number;
  name: string;
  isCall?: boolean;
  isOpen?: boolean;
  children: (room: number) => ComponentChildren;
}

/** Narrower stretches are left out of the picture; calls never are. */
const leastWidth = 0.8;

function Stretch(props: StretchProps) {
  const {
    x,
    width,
    from,
    to,
    health,
    address,
    seq,
    top,
    height,
    name,
    isCall = false,
    isOpen = false,
    onChoose,
    children,
  } = props;
  const [left, right] = [clipped(x(from), width), clipped(x(to), width)];
  if (x(to) < 0 || x(from) > width || (!isCall && right - left < leastWidth)) return null;
  const size = Math.max(isCall ? 3 : 1.5, right - left - 1);
  const names = ['stretch', `health-${health}`, isCall ? 'is-call' : '', isOpen ? 'is-open' : ''];
  return (
    <Pressed
      class={names.filter(Boolean).join(' ')}
      name={name}
      onPress={() => onChoose({ address, seq })}
      at={`translate(${left} ${top})`}
    >
      <rect width={size} height={height} rx="4" />
      {health === 'in-doubt' && <rect class="hatch" width={size} height={height} rx="4" />}
      {children(size)}
    </Pressed>
  );
}

interface PressedProps {
  class: string;
  name: string;
  at?: string;
  onPress: () => void;
  children: ComponentChildren;
}

/** Part of a picture that is a button. */
function Pressed({ class: names, name, at, onPress, children }: PressedProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    onPress();
  };
  return (
    <g
      class={names}
      role="button"
      tabindex={0}
      aria-label={name}
      transform={at}
      onClick={onPress}
      onKeyDown={onKeyDown}
    >
      <title>{name}</title>
      {children}
    </g>
  );
}

function Requests({ points, x, width, step, onChoose }: MarksProps & { points: readonly Point[] }) {
  const seen = points
    .map((point) => ({ point, left: x(point.at) }))
    .filter(({ left }) => left > -8 && left < width + 8);
  return (
    <>
      {seen.map(({ point, left }, index) => (
        <Pressed
          key={point.seq}
          class={`request${isSameStep(point, step) ? ' is-chosen' : ''}`}
          name={`${point.text}, ${momentOf(point.at)}`}
          onPress={() => onChoose(point)}
        >
          <circle cx={left} cy="24" r="4.5" />
          <text x={left + 9} y="28">
            {fitting(point.text, (seen[index + 1]?.left ?? width) - left - 8)}
          </text>
        </Pressed>
      ))}
    </>
  );
}

function Commit({ point, x, width, step, onChoose }: MarksProps & { point: Point }) {
  const left = x(point.at);
  if (left < -2 || left > width + 2) return null;
  return (
    <Pressed
      class={`commit${isSameStep(point, step) ? ' is-chosen' : ''}`}
      name={`Step ${point.seq}: ${point.text}`}
      onPress={() => onChoose(point)}
    >
      <rect x={left - 4} y="0" width="8" height="34" />
      <path d={`M${left} 8v17`} />
    </Pressed>
  );
}

const clipped = (place: number, width: number): number => Math.max(-4, Math.min(width + 4, place));

const letterWidth = 6.4;

/** The beginning of a text that fits a width; empty if nothing useful fits. */
function fitting(text: string, room: number): string {
  const most = Math.floor((room - 14) / letterWidth);
  if (text.length <= most) return text;
  return most < 4 ? '' : `${text.slice(0, most - 1)}…`;
}

/** Room of a time on the axis, in pixels: it is left out where it would be cut. */
const labelRoom = (step: number): number => (step < 1000 ? 84 : 60);

function Axis({
  model,
  width,
  height,
  folds,
  x,
}: Pick<LanesProps, 'model' | 'width' | 'folds' | 'x'> & { height: number }) {
  const { step, times } = axisTimes(model, width, folds, x);
  return (
    <>
      {times.map((at) => (
        <g class="axis" key={at}>
          <path d={`M${x(at)} 22V${height}`} />
          {x(at) + labelRoom(step) <= width && (
            <text x={x(at) + 4} y="15">
              {step < 1000 ? momentOf(at) : timeOf(at)}
            </text>
          )}
        </g>
      ))}
      {folds.map(([from, to]) => (
        <g class="fold" key={from}>
          <rect x={x(from)} width={Math.max(0, x(to) - x(from))} height={height} />
          <text x={(x(from) + x(to)) / 2} y="15" text-anchor="middle">
            {shortDuration(to - from)}
          </text>
        </g>
      ))}
      <path class="rule" d={`M0 ${axisHeight - 0.5}H${width}`} />
    </>
  );
}
