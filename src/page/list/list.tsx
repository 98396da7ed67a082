/** All actors of one kind, the worst first. */
import { useMemo, useState } from 'preact/hooks';
import type { Health } from '../../api/actor-routes.js';
import { HealthIcon, healthWords } from '../common/health.js';
import { useKeys } from '../common/keys.js';
import { kindOf, nameOf, whereOf } from '../common/kinds.js';
import { VirtualList } from '../common/virtual-list.js';
import { healthOrder } from '../data/actors.js';
import { actors, connection, tick } from '../data/feed.js';
import { shortDuration } from '../data/time.js';
import { go, hrefOf } from '../router.js';
import './list.css';

const rowHeight = 34;

export function List({ machine }: { machine: string }) {
  const [text, search] = useState('');
  const [health, filter] = useState<Health | undefined>();
  const [current, move] = useState<number | undefined>();
  const version = tick.value;
  const { title, command } = kindOf(machine);
  const counts = actors.counts(machine);
  const found = useMemo(() => actors.sorted({ machine, text, health }), [machine, text, health, version]);
  const addressAt = (index: number | undefined): string | undefined =>
    index === undefined ? undefined : actors.address[found[index] ?? -1];
  const step = (by: number) => (): void => move(Math.max(0, Math.min(found.length - 1, (current ?? -1) + by)));
  const clear = (): void => {
    search('');
    filter(undefined);
  };
  useKeys({
    ...{ j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1), x: clear },
    f: () => document.getElementById('list-filter')?.focus(),
    Enter: () => {
      const address = addressAt(current);
      if (address !== undefined) go({ view: 'actor', address });
    },
  });
  const empty =
    connection.value === 'loading' ? (
      <p class="card-empty">Reading the actors of this agent…</p>
    ) : text === '' && health === undefined ? (
      <p class="card-empty">
        None yet.{' '}
        {command && (
          <>
            <code>{command}</code> makes one.
          </>
        )}
      </p>
    ) : (
      <p class="card-empty">
        Nothing matches.{' '}
        <button type="button" class="button" onClick={clear}>
          Clear filters
        </button>
      </p>
    );
  return (
    <div class="page is-filled">
      <header class="page-head">
        <h1>
          {title} <span class="count">{healthOrder.reduce((sum, one) => sum + counts[one], 0)}</span>
        </h1>
        <div class="choices" role="group" aria-label="Show only">
          {healthOrder
            .filter((one) => counts[one] > 0 || one === health)
            .map((one) => (
              <button
                key={one}
                type="button"
                class="button"
                aria-pressed={one === health}
                onClick={() => filter(one === health ? undefined : one)}
              >
                <HealthIcon health={one} size={13} /> {healthWords[one]} <span class="number">{counts[one]}</span>
              </button>
            ))}
        </div>
        <input
          id="list-filter"
          class="field"
          type="search"
          placeholder="Filter by name, state or reason"
          aria-label="Filter by name, state or reason"
          value={text}
          onInput={({ currentTarget: { value } }) => search(value)}
        />
      </header>
      <section class="card table">
        <div class="table-head list-row" aria-hidden="true">
          <span>Name</span>
          <span>How it is</span>
          <span class="is-wide">State</span>
          <span class="is-wide">Steps</span>
          <span>Last step</span>
        </div>
        <VirtualList
          count={found.length}
          rowHeight={rowHeight}
          name={title}
          current={current}
          empty={empty}
          row={(index) => <Row place={found[index] ?? 0} isCurrent={index === current} />}
        />
      </section>
    </div>
  );
}

function Row({ place, isCurrent }: { place: number; isCurrent: boolean }) {
  const address = actors.address[place] ?? '';
  const health = actors.health[place] ?? 'unknown';
  const at = actors.at[place] ?? 0;
  return (
    <a class={`list-row${isCurrent ? ' is-current' : ''}`} href={hrefOf({ view: 'actor', address })}>
      <span class="cut-text">
        <b>{nameOf(address)}</b> <small>{whereOf(address)}</small>
      </span>
      <span class="cut-text">
        <HealthIcon health={health} name={healthWords[health]} size={15} /> {actors.why[place]}
      </span>
      <code class="is-wide cut-text">{actors.state[place]}</code>
      <span class="is-wide number">{actors.seq[place]}</span>
      <time>{at === 0 ? '' : shortDuration(Date.now() - at)}</time>
    </a>
  );
}
