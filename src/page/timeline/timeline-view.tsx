/** One actor in time: who asked, its states, its parts, the calls to plugins with their attempts, and the commits. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { HistoryLine } from '../../journal/history.js';
import { ActorModel, type Api } from '../actor/actor-model.js';
import { chosen, placeIn, type QueryChange, stepped } from '../actor/place.js';
import { HealthIcon } from '../common/health.js';
import { useKeys } from '../common/keys.js';
import { nameOf } from '../common/kinds.js';
import { hrefOf } from '../router.js';
import { CallList, StepDetail } from './details.js';
import { Lanes, laneHeight } from './lanes.js';
import { Minimap } from './minimap.js';
import { callsIn, timelineOf } from './model.js';
import { foldsOf, moved, scaleOf, wholeZoom, type Zoom, zoomed } from './scale.js';
import './timeline.css';

export interface TimelineViewProps {
  address: string;
  query: URLSearchParams;
  onQuery: (change: QueryChange) => void;
  api: Api;
  onChange: (address: string, changed: () => void) => () => void;
}

export function TimelineView({ address, query, onQuery, api, onChange }: TimelineViewProps) {
  const model = useMemo(() => new ActorModel(address, api), [address, api]);
  useEffect(() => {
    void model.refresh();
    return onChange(address, () => void model.refresh());
  }, [model, address, onChange]);
  const lines = model.lines.value;
  const detail = model.detail.value;
  const error = model.error.value ?? model.historyError.value;
  if (lines.length === 0)
    return (
      <p class="page timeline-note" aria-busy={model.isLoading.value}>
        {error ? error.message : `Reading ${address}…`}
      </p>
    );
  return (
    <Timeline
      {...{ address, query, onQuery, lines, effects: detail?.effects ?? [] }}
      machine={detail?.machine ?? ''}
      health={detail?.health ?? 'unknown'}
    />
  );
}

type TimelineProps = Pick<TimelineViewProps, 'address' | 'query' | 'onQuery'> & {
  lines: readonly HistoryLine[];
  effects: Parameters<typeof timelineOf>[0]['effects'];
  machine: string;
  health: Parameters<typeof HealthIcon>[0]['health'];
};

/** How often calls that are under way grow. */
const stepMs = 1000;

function Timeline({ address, query, onQuery, lines, effects, machine, health }: TimelineProps) {
  const [now, tick] = useState(Date.now());
  const [isFolded, fold] = useState(true);
  const [zoom, turn] = useState<Zoom>(wholeZoom);
  const { room, width } = useWidth();
  useEffect(() => {
    tick(Date.now());
    const timer = setInterval(() => tick(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [lines]);
  const model = useMemo(
    () => timelineOf({ name: nameOf(address), machine, lines, effects, now }),
    [address, machine, lines, effects, now],
  );
  const calls = callsIn(model);
  const folds = useMemo(() => (isFolded ? foldsOf(model.moments, calls) : []), [model, isFolded]);
  const place = placeIn(query);
  const choose = (seq: number): void => onQuery(chosen(seq));
  const step = (by: 1 | -1): void => {
    const change = stepped(
      lines.map(({ seq }) => seq),
      place,
      by,
    );
    if (change) onQuery(change);
  };
  useKeys({
    '+': () => turn(zoomed(zoom, 0.6)),
    '=': () => turn(zoomed(zoom, 0.6)),
    '-': () => turn(zoomed(zoom, 1.7)),
    '0': () => turn(wholeZoom),
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
  });
  const onWheel = (event: WheelEvent): void => {
    if (!event.shiftKey && !event.ctrlKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const box = room.current?.getBoundingClientRect();
    if (!box) return;
    const isSideways = !event.shiftKey && !event.ctrlKey;
    const shift = (event.deltaX / box.width) * (zoom.to - zoom.from);
    turn(
      isSideways
        ? moved({ from: zoom.from + shift, to: zoom.to + shift })
        : zoomed(zoom, event.deltaY > 0 || event.deltaX > 0 ? 1.2 : 0.83, (event.clientX - box.left) / box.width),
    );
  };
  const chosenLine = lines.find(({ seq }) => seq === place.seq);
  return (
    <div class="page timeline">
      <div class="page-head">
        <h1>Timeline</h1>
        <a class="button" href={hrefOf({ view: 'actor', address })}>
          <HealthIcon health={health} size={14} />
          <code>{address}</code>
        </a>
        <span class="grow" />
        <span class="quiet">{countsOf(calls)}</span>
      </div>
      <div class="timeline-tools">
        <button type="button" class="button" aria-pressed={isFolded} onClick={() => fold(!isFolded)}>
          Fold idle time
        </button>
        <button
          type="button"
          class="button"
          aria-label="Zoom out"
          title="Zoom out  −"
          onClick={() => turn(zoomed(zoom, 1.7))}
        >
          −
        </button>
        <button
          type="button"
          class="button"
          aria-label="Zoom in"
          title="Zoom in  +"
          onClick={() => turn(zoomed(zoom, 0.6))}
        >
          +
        </button>
        <button type="button" class="button" title="All of it  0" onClick={() => turn(wholeZoom)}>
          Fit
        </button>
        <span class="grow" />
        <Legend />
      </div>
      <section class="card timeline-card" aria-label={`Timeline of ${address}`}>
        <Minimap {...{ model, calls, zoom, onZoom: turn }} x={scaleOf(model, width, folds)} width={width} />
        <div class="lanes">
          <div class="lane-names">
            <div class="axis-room" />
            {model.lanes.map((lane) => (
              <div
                class="lane-name"
                key={`${lane.kind} ${lane.name} ${lane.about}`}
                style={{ height: `${laneHeight[lane.kind]}px` }}
              >
                <b>{lane.name}</b>
                <span>{lane.about}</span>
              </div>
            ))}
          </div>
          <div class="lane-room" ref={room} onWheel={onWheel}>
            <Lanes
              {...{ model, width, folds, now }}
              x={scaleOf(model, width, folds, zoom)}
              seq={place.seq}
              onChoose={choose}
            />
          </div>
        </div>
      </section>
      {chosenLine && <StepDetail line={chosenLine} address={address} />}
      <CallList calls={calls} seq={place.seq} onChoose={choose} />
    </div>
  );
}

function countsOf(calls: ReturnType<typeof callsIn>): string {
  const failed = calls.filter(({ code }) => code !== undefined && code !== 'OK').length;
  const open = calls.filter(({ isOpen }) => isOpen).length;
  return `${calls.length} calls, ${failed} failed, ${open} under way`;
}

const Legend = () => (
  <span class="timeline-legend" aria-hidden="true">
    <i class="health-healthy" />
    done
    <i class="health-working" />
    under way
    <i class="health-in-doubt" />
    in doubt
    <i class="health-waiting" />
    waits
    <i class="health-failed" />
    failed
  </span>
);

/** Width of an element, as it changes. */
function useWidth() {
  const room = useRef<HTMLDivElement>(null);
  const [width, set] = useState(900);
  useEffect(() => {
    const element = room.current;
    if (!element) return undefined;
    const measure = new ResizeObserver(() => set(Math.max(100, element.clientWidth)));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  return { room, width };
}
