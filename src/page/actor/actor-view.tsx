/** Shows one actor: how it is and why, its chart, what it knows, and its history; each at any moment of its past. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { nameOf } from '../common/kinds.js';
import { momentOf } from '../data/time.js';
import { hrefOf } from '../router.js';
import { ActorHead } from './actor-head.js';
import { ActorModel, type Api } from './actor-model.js';
import { ChartCard } from './chart-card.js';
import { ExportLink } from './export-link.js';
import { FactsCard } from './facts-card.js';
import { HistoryList } from './history-list.js';
import { type HistoryFilter, historyFilters } from './history-rows.js';
import { MomentBar } from './moment-bar.js';
import { eventTypesIn } from './moves.js';
import { choiceOf, placeIn, present, type QueryChange, stepped } from './place.js';
import { ScrubberBar } from './scrubber-bar.js';
import { layoutOf, type ShownMoment, shownNow, shownThen } from './shown.js';
import { useActorKeys } from './use-actor-keys.js';
import { useMoment } from './use-moment.js';
import { useWhatIf } from './use-what-if.js';
import { SideBySide, WhatIfForm } from './what-if.js';
import './actor.css';

interface ActorViewProps {
  address: string;
  /** The query of the link: the moment and the part that it names. */
  query: URLSearchParams;
  /** Changes the query. */
  onQuery: (change: QueryChange) => void;
  api: Api;
  /** Calls back whenever the actor has changed. @returns a function that ends it */
  onChange: (address: string, changed: () => void) => () => void;
}

export function ActorView(props: ActorViewProps) {
  const { address, api, onChange } = props;
  const model = useMemo(() => new ActorModel(address, api), [address, api]);
  useEffect(() => {
    void model.refresh();
    return onChange(address, () => void model.refresh());
  }, [model, onChange, address]);
  const { value: error } = model.error;
  const { value: lines } = model.lines;
  if (model.isLoading.value)
    return (
      <p class="page note" aria-busy="true">
        Reading {address}…
      </p>
    );
  if (error && lines.length === 0) return <NotThere address={address} error={error} />;
  return <Actor key={address} {...props} model={model} />;
}

const NotThere = ({ address, error }: { address: string; error: Error }) => (
  <div class="page">
    <section class="card not-there">
      <h1>This actor can’t be shown</h1>
      <code>{address}</code>
      <p>{error.message}</p>
      <a class="button" href="#/overview">
        Back to the overview
      </a>
    </section>
  </div>
);

/** How long each step stays while the past is played. */
const playMs = 900;

function Actor({ api, address, query, onQuery, model }: ActorViewProps & { model: ActorModel }) {
  const place = placeIn(query);
  const { value: detail } = model.detail;
  const { value: lines } = model.lines;
  const last = lines.at(-1);
  const seqs = useMemo(() => lines.map(({ seq }) => seq), [lines]);
  const [chosenFirst, keep] = useState<number | undefined>();
  // A link to a comparison keeps its older step.
  const kept = chosenFirst ?? (place.b === undefined ? undefined : place.seq);
  const [isPlaying, play] = useState(false);
  const [filter, setFilter] = useState<HistoryFilter>('all');
  const whatIf = useWhatIf(model);

  const at = place.seq ?? last?.seq;
  const line = lines.find(({ seq }) => seq === at);
  const then = useMoment(model, place.seq);
  const second = useMoment(model, place.b);
  const before = useMoment(
    model,
    place.b === undefined && at !== undefined && at > (seqs[0] ?? 1) ? at - 1 : undefined,
  );
  const realSeq = whatIf.moment && Math.min(Math.floor(whatIf.moment.seq), last?.seq ?? 1);
  const real = useMoment(model, realSeq);
  /** Step that a change is made at: a further one where the other course is looked at. */
  const formLine = whatIf.moment ? lines.find(({ seq }) => seq === realSeq) : line;

  const isPast = place.seq !== undefined;
  const now = detail && shownNow(detail, last);
  const own = isPast ? then.moment && shownThen(then.moment) : now;
  const shown: ShownMoment | undefined = whatIf.moment ? shownThen(whatIf.moment) : own;
  const other = whatIf.moment ? real.moment && shownThen(real.moment) : second.moment && shownThen(second.moment);

  const go = (change: QueryChange | undefined): void => {
    if (change) onQuery(change);
  };
  const toPresent = (): void => {
    keep(undefined);
    play(false);
    whatIf.end();
    go(present);
  };
  const choose = (seq: number): void => go(choiceOf(seq, kept));
  const step = (by: 1 | -1): void => go(stepped(seqs, place, by, kept));
  const toFirst = async (): Promise<void> => {
    while (model.before.value !== undefined) await model.older();
    const [first] = model.lines.value;
    if (first) choose(first.seq);
  };
  const compare = (): void => {
    if (kept !== undefined) {
      keep(undefined);
      go({ b: null });
    } else if (at !== undefined) {
      keep(at);
      if (!isPast) go(choiceOf(at));
    }
  };
  const togglePlay = (): void => {
    if (!isPlaying && !isPast && seqs[0] !== undefined) go(choiceOf(seqs[0]));
    play(!isPlaying);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (!isPast) {
      play(false);
      return undefined;
    }
    const timer = setTimeout(() => step(1), playMs);
    return () => clearTimeout(timer);
  }, [isPlaying, place.seq]);

  const actions = {
    step,
    toFirst,
    toPresent,
    togglePlay,
    compare,
    whatIf: () => (whatIf.isOpen ? whatIf.end() : whatIf.open()),
  };
  useActorKeys({
    ...actions,
    copyLink: () => void navigator.clipboard.writeText(location.href),
    leave: isPast || whatIf.isOpen ? toPresent : undefined,
  });

  if (!shown) return <Waiting error={then.error ?? model.error.value} toPresent={toPresent} />;
  const layout = layoutOf(detail?.machine ?? address.split('/')[0] ?? '');
  const events = layout ? eventTypesIn(layout, shown.place) : [];
  const accepts = isPast || !detail ? events : detail.accepts;
  return (
    <div class={`page actor${isPast || whatIf.isOpen ? ' is-past' : ''}`}>
      <ActorHead
        {...{ address, shown, isPast: isPast || whatIf.moment !== undefined }}
        machine={detail?.machine ?? layout?.machine ?? ''}
        version={detail?.version ?? layout?.version ?? ''}
        lastSeq={last?.seq ?? 0}
        trouble={detail?.trouble ?? []}
      />
      <p class="unseen" role="status">
        {isPast && line ? `Step ${line.seq}, ${momentOf(line.at)}` : ''}
      </p>
      <MomentBar {...{ place, kept, shown, other, whatIf, toPresent }} lastSeq={last?.seq ?? 0} />
      {whatIf.isOpen && (!whatIf.answer || whatIf.isAdding) && formLine && (
        <section class="card what-if-card">
          <WhatIfForm
            key={formLine.seq}
            line={formLine}
            event={(whatIf.moment ? real : then).moment?.entry.event ?? undefined}
            types={events}
            examples={() => model.examples()}
            error={whatIf.error}
            onTry={whatIf.tryEdit}
            onClose={whatIf.end}
          />
        </section>
      )}
      <div class="chart-and-facts">
        <ChartCard
          name={nameOf(address)}
          machine={detail?.machine ?? layout?.machine ?? ''}
          {...{ shown, other, isPast: isPast || whatIf.moment !== undefined }}
          line={whatIf.moment ? whatIf.moment.line : line}
          legend={
            whatIf.moment
              ? ['what if', 'real line']
              : place.b !== undefined
                ? ['at A', 'at B']
                : [isPast ? 'then' : 'now', 'before']
          }
          part={place.part}
          onPart={(id) => go({ part: id ?? null })}
        />
        <FactsCard
          title={other ? 'Difference' : 'Facts'}
          is={place.b !== undefined && !whatIf.moment ? other?.context : shown.context}
          was={
            place.b !== undefined && !whatIf.moment
              ? shown.context
              : (other ?? (before.moment && shownThen(before.moment)))?.context
          }
          changed={
            whatIf.moment
              ? 'differ from the real line'
              : place.b !== undefined
                ? 'differ, A → B'
                : `changed by step ${at}`
          }
          present={isPast || whatIf.moment ? undefined : detail}
          line={whatIf.moment ? whatIf.moment.line : place.b === undefined ? line : undefined}
          api={api}
          accepts={accepts}
        />
      </div>
      <section class="card history-card" aria-label="History">
        <div class="card-head">
          <h2>
            History <span class="count">{lines.length.toLocaleString('en')}</span>
          </h2>
          <fieldset class="history-filter">
            <legend class="unseen">Which steps</legend>
            {(Object.keys(historyFilters) as HistoryFilter[]).map((one) => (
              <button
                type="button"
                class="button"
                key={one}
                aria-pressed={filter === one}
                onClick={() => setFilter(one)}
              >
                {historyFilters[one].name}
              </button>
            ))}
          </fieldset>
          <span class="grow" />
          <ExportLink address={address} />
          <a class="quiet" href={hrefOf({ view: 'timeline', address })}>
            As a timeline <kbd>g</kbd> <kbd>t</kbd>
          </a>
        </div>
        {model.historyError.value && <p class="fault">{model.historyError.value.message}</p>}
        {whatIf.answer && whatIf.moment ? (
          <SideBySide lines={lines} whatIf={whatIf.answer} chosen={whatIf.moment.seq} onChoose={whatIf.choose} />
        ) : (
          <HistoryList lines={lines.filter(historyFilters[filter].has)} seq={place.seq} onChoose={choose} />
        )}
        {model.before.value !== undefined ? (
          <button type="button" class="more" onClick={() => void model.older()}>
            Older steps
          </button>
        ) : (
          model.olderSteps.value && <p class="not-kept">{model.olderSteps.value}</p>
        )}
      </section>
      <ScrubberBar
        {...{
          lines,
          place,
          isPlaying,
          onChoose: choose,
          onStep: step,
          onPresent: toPresent,
          onPlay: togglePlay,
          onCompare: compare,
        }}
        isComparing={kept !== undefined}
        branch={
          whatIf.answer &&
          whatIf.moment && {
            seqs: whatIf.answer.moments.map(({ seq }) => seq),
            chosen: whatIf.moment.seq,
            choose: whatIf.choose,
          }
        }
        onFirst={() => void toFirst()}
        onWhatIf={actions.whatIf}
      />
    </div>
  );
}

const Waiting = ({ error, toPresent }: { error: Error | undefined; toPresent: () => void }) =>
  error ? (
    <div class="page">
      <section class="card not-there">
        <h1>This moment can’t be shown</h1>
        <p>{error.message}</p>
        <button type="button" class="button" onClick={toPresent}>
          Back to now
        </button>
      </section>
    </div>
  ) : (
    <p class="page note" aria-busy="true">
      Rebuilding this moment from the journal…
    </p>
  );
