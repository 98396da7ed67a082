/** The chart of an actor, or of one of its parts, with the parts as cards beside it. */
import type { PartSummary } from '../../api/actor-routes.js';
import type { HistoryLine } from '../../journal/history.js';
import { Chart } from '../chart/chart.js';
import type { ChartLayout } from '../chart/layout.js';
import { Thumbnail } from '../chart/thumbnail.js';
import { HealthBadge, HealthIcon } from '../common/health.js';
import { movesFrom } from './moves.js';
import { layoutOf, litHealth, partBefore, partName, partsByKind, type ShownMoment } from './shown.js';

interface ChartCardProps {
  name: string;
  machine: string;
  shown: ShownMoment;
  /** Step that led to what is shown; undefined while two moments are compared. */
  line: HistoryLine | undefined;
  /** Other moment of a comparison or of a what-if. */
  other: ShownMoment | undefined;
  /** Names of what is lit and what is dashed: `now` and `before`, `at A` and `at B`, `what if` and `real line`. */
  legend: [lit: string, dashed: string];
  isPast: boolean;
  part: string | undefined;
  onPart: (id: string | undefined) => void;
}

export function ChartCard(props: ChartCardProps) {
  const { name, machine, shown, line, other, legend, isPast, part: id, onPart } = props;
  const part = shown.parts.find((one) => one.id === id && layoutOf(one.chart));
  const layout = layoutOf(part?.chart ?? machine);
  const health = part ? part.health : litHealth(shown.state, shown.health);
  return (
    <section class="card chart-card" aria-label="Chart">
      <div class="card-head">
        <PartTabs {...{ machine, parts: shown.parts, part, onPart }} />
        <span class="grow" />
        <span class={`legend health-${health}`} aria-hidden="true">
          <i class="lit" />
          {legend[0]}
          <i class="dashed" />
          {legend[1]}
          {!other && (
            <>
              <i class="way" />
              last transition
            </>
          )}
        </span>
      </div>
      <div class="chart-and-parts">
        {layout ? (
          <Chart
            layout={layout}
            title={`Statechart of ${part ? part.id : `${machine} ${name}`}`}
            now={part ? part.at : shown.place}
            before={other ? '' : part ? partBefore(line, part.id) : (line?.chartBefore ?? line?.before ?? '')}
            other={part ? (other?.parts.find((one) => one.id === part.id)?.at ?? '') : (other?.place ?? '')}
            {...{ health, isPast }}
          />
        ) : (
          <p class="note">No chart of {part?.chart ?? machine} is known to this page.</p>
        )}
        {!part && shown.parts.length > 0 && <PartCards {...{ parts: shown.parts, onPart }} />}
      </div>
      {layout && <Moves layout={layout} state={part ? part.at : shown.place} />}
    </section>
  );
}

interface PartTabsProps {
  machine: string;
  parts: readonly PartSummary[];
  part: PartSummary | undefined;
  onPart: (id: string | undefined) => void;
}

function PartTabs({ machine, parts, part, onPart }: PartTabsProps) {
  return (
    <div class="chart-tabs" role="group" aria-label="Chart of">
      <button type="button" aria-pressed={!part} onClick={() => onPart(undefined)}>
        {machine}
      </button>
      {parts
        .filter(({ chart }) => layoutOf(chart))
        .map((one) => (
          <button type="button" key={one.id} aria-pressed={one.id === part?.id} onClick={() => onPart(one.id)}>
            <HealthIcon health={one.health} size={13} />
            {partName(one)}
          </button>
        ))}
    </div>
  );
}

function PartCards({ parts, onPart }: { parts: readonly PartSummary[]; onPart: (id: string) => void }) {
  return (
    <div class="part-cards">
      {partsByKind(parts).map(([kind, ofKind]) => (
        <>
          <h3 key={kind}>{kind}</h3>
          {ofKind.map((part) => (
            <PartCard key={part.id} part={part} onOpen={() => onPart(part.id)} />
          ))}
        </>
      ))}
    </div>
  );
}

/** Card of a part. Opens its chart, if it has one. */
function PartCard({ part, onOpen }: { part: PartSummary; onOpen: () => void }) {
  const layout = layoutOf(part.chart);
  const { health } = part;
  const words = (
    <>
      <span class="part-name">
        <b>{partName(part)}</b>
        <HealthBadge health={health} />
      </span>
      <code>{part.at}</code>
      {part.why && <small>{part.why}</small>}
    </>
  );
  if (!layout) return <div class="part-card">{words}</div>;
  return (
    <button type="button" class="part-card" onClick={onOpen} aria-label={`Open the chart of ${part.id}, ${part.at}`}>
      <Thumbnail layout={layout} now={part.at} health={health} />
      {words}
    </button>
  );
}

/** Most transitions that are named below the chart. */
const mostMoves = 4;

/** Lists the events that lead away from the lit state. */
function Moves({ layout, state }: { layout: ChartLayout; state: string }) {
  const ways = movesFrom(layout, state).map(({ move: { event }, to }) => ({ event, to }));
  const moves = ways.filter(
    ({ event, to }, at) => ways.findIndex((way) => way.event === event && way.to === to) === at,
  );
  if (!state || moves.length === 0) return null;
  return (
    <p class="moves">
      <code>{state}</code>
      {moves.slice(0, mostMoves).map(({ event, to }) => (
        <span key={`${event} ${to}`}>
          <i>{event}</i> → {to}
        </span>
      ))}
      {moves.length > mostMoves && <span>and {moves.length - mostMoves} more</span>}
    </p>
  );
}
