/** Actors in time: who asked, their states, their parts, the calls to plugins with their attempts, and the commits. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ActorModel, type Api } from '../actor/actor-model.js';
import { choiceOf, placeIn, present, type QueryChange } from '../actor/place.js';
import { HealthIcon } from '../common/health.js';
import { useKeys } from '../common/keys.js';
import { nameOf } from '../common/kinds.js';
import { hrefOf } from '../router.js';
import { CallList, StepDetail } from './details.js';
import { Lanes, laneKey } from './lanes.js';
import { laneHeight } from './marks.js';
import { Minimap } from './minimap.js';
import { callsIn, isSameStep, type StepPoint, type TimelineInput, timelineOf } from './model.js';
import { relatedTo } from './related.js';
import { foldsOf, moved, scaleOf, wholeZoom, type Zoom, zoomed } from './scale.js';
import './timeline.css';

interface TimelineViewProps {
  address: string;
  /** `with`: addresses of other actors, separated by spaces. `seq`: the chosen step; `of`: the other actor that it is of. */
  query: URLSearchParams;
  onQuery: (change: QueryChange) => void;
  api: Api;
  onChange: (address: string, changed: () => void) => () => void;
  /** Addresses of all actors. */
  known: readonly string[];
}

export function TimelineView({ address, query, onQuery, api, onChange, known }: TimelineViewProps) {
  const others = query.get('with')?.split(' ').filter(Boolean) ?? [];
  const models = useModels([address, ...others], api, onChange);
  const [model] = models;
  const detail = model?.detail.value;
  const related = useMemo(() => relatedTo(address, detail?.context, known), [address, detail, known.length]);
  const error = model?.error.value ?? model?.historyError.value;
  if (!model || model.lines.value.length === 0)
    return (
      <p class="page timeline-note" aria-busy={model?.isLoading.value}>
        {error ? error.message : `Reading ${address}…`}
      </p>
    );
  const inputs = models.map((one) => ({
    address: one.address,
    name: nameOf(one.address),
    machine: one.detail.value?.machine ?? '',
    lines: one.lines.value,
    effects: one.detail.value?.effects ?? [],
  }));
  const show = (one: string): void => {
    const next = others.includes(one) ? others.filter((other) => other !== one) : [...others, one];
    const isGone = !next.includes(query.get('of') ?? address) && query.has('of');
    onQuery({ with: next.join(' ') || null, ...(isGone && { seq: null, of: null }) });
  };
  return (
    <Timeline
      {...{ address, query, onQuery, inputs }}
      health={detail?.health ?? 'unknown'}
      choices={[...new Set([...others, ...related])].map((one) => ({ address: one, isShown: others.includes(one) }))}
      onShow={show}
    />
  );
}

/** Keeps a model for each actor, read again whenever it changes. */
function useModels(addresses: readonly string[], api: Api, onChange: TimelineViewProps['onChange']): ActorModel[] {
  const known = useRef(new Map<string, ActorModel>());
  const models = useMemo(
    () => addresses.map((one) => known.current.get(one) ?? new ActorModel(one, api)),
    [addresses.join(' '), api],
  );
  useEffect(() => {
    known.current = new Map(models.map((model) => [model.address, model]));
    const ends = models.map((model) => {
      void model.refresh();
      return onChange(model.address, () => void model.refresh());
    });
    return () => {
      for (const end of ends) end();
    };
  }, [models, onChange]);
  return models;
}

type TimelineProps = Pick<TimelineViewProps, 'address' | 'query' | 'onQuery'> & {
  inputs: readonly TimelineInput[];
  health: Parameters<typeof HealthIcon>[0]['health'];
  /** Other actors that can be shown beside it. */
  choices: readonly { address: string; isShown: boolean }[];
  onShow: (address: string) => void;
};

/** How often calls that are under way grow. */
const stepMs = 1000;

function Timeline({ address, query, onQuery, inputs, health, choices, onShow }: TimelineProps) {
  const [now, tick] = useState(Date.now());
  const [isFolded, fold] = useState(true);
  const [zoom, turn] = useState<Zoom>(wholeZoom);
  const { room, width } = useWidth();
  useEffect(() => {
    tick(Date.now());
    const timer = setInterval(() => tick(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [inputs.at(-1)?.lines]);
  const parts = inputs.flatMap(({ lines, effects }) => [lines, effects]);
  const model = useMemo(() => timelineOf(inputs, now), [now, parts.length, ...parts]);
  const calls = callsIn(model);
  const folds = useMemo(() => (isFolded ? foldsOf(model.moments, calls) : []), [model, isFolded]);
  const { seq } = placeIn(query);
  const step = seq === undefined ? undefined : { address: query.get('of') ?? address, seq };
  const choose = (next: StepPoint): void =>
    onQuery({ ...choiceOf(next.seq), of: next.address === address ? null : next.address });
  const move = (by: 1 | -1): void => {
    const at = step ? model.steps.findIndex((one) => isSameStep(one, step)) : model.steps.length;
    const next = model.steps[at + by];
    if (next) choose(next);
    else if (by > 0) onQuery({ ...present, of: null });
  };
  useKeys({
    '+': () => turn(zoomed(zoom, 0.6)),
    '=': () => turn(zoomed(zoom, 0.6)),
    '-': () => turn(zoomed(zoom, 1.7)),
    '0': () => turn(wholeZoom),
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
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
  const chosenLine = inputs.find((one) => one.address === step?.address)?.lines.find((line) => line.seq === seq);
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
        {choices.map((choice) => (
          <button
            type="button"
            class="button"
            key={choice.address}
            aria-pressed={choice.isShown}
            title={choice.isShown ? 'Leave it out' : 'Show it too'}
            onClick={() => onShow(choice.address)}
          >
            {choice.isShown ? '− ' : '+ '}
            <code>{choice.address}</code>
          </button>
        ))}
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
                class={`lane-name${lane.kind === 'callers' ? ' is-first' : ''}`}
                key={laneKey(lane)}
                style={{ height: `${laneHeight[lane.kind]}px` }}
              >
                <b>{lane.name}</b>
                <span>{lane.kind === 'callers' && inputs.length > 1 ? nameOf(lane.address) : lane.about}</span>
              </div>
            ))}
          </div>
          <div class="lane-room" ref={room} onWheel={onWheel}>
            <Lanes
              {...{ model, width, folds, now }}
              x={scaleOf(model, width, folds, zoom)}
              step={step}
              onChoose={choose}
            />
          </div>
        </div>
      </section>
      {chosenLine && step && <StepDetail line={chosenLine} address={step.address} />}
      <CallList calls={calls} step={step} onChoose={choose} />
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
