/** Every record of the live feed, newest first, with filters. */
import { useMemo, useState } from 'preact/hooks';
import { HealthIcon, healthWords } from '../common/health.js';
import { useKeys } from '../common/keys.js';
import { healthOfTone } from '../common/tones.js';
import { VirtualList } from '../common/virtual-list.js';
import { dropped, records, tick } from '../data/feed.js';
import type { LogRow } from '../data/log-rows.js';
import { momentOf } from '../data/time.js';
import { hrefOf, placeAtMoment } from '../router.js';
import { filtered, type LogFilter, recordKinds } from './filter.js';
import './log.css';

const rowHeight = 28;

export function Log() {
  const [filter, change] = useState<LogFilter>({ text: '', address: '', kinds: [] });
  const [isHeld, hold] = useState(false);
  const [isAtTop, scrolled] = useState(true);
  const [shown, choose] = useState<LogRow | undefined>();
  const version = tick.value;
  // Rows that somebody reads do not move: new ones come in only at the top of the list.
  const isLive = isAtTop && !isHeld;
  const [kept, keep] = useState({ items: records.items, total: records.total });
  const seen = isLive ? { items: records.items, total: records.total } : kept;
  const rows = useMemo(() => filtered(seen.items, filter), [seen.items, seen.total, filter, isLive ? version : 0]);
  const unseen = records.total - seen.total;
  const freeze = (): void => keep({ items: [...records.items], total: records.total });
  const toggle = (): void => {
    if (!isHeld) freeze();
    hold(!isHeld);
  };
  const clear = (): void => change({ text: '', address: '', kinds: [] });
  const move = (by: number) => (): void => {
    const at = shown ? rows.findIndex(({ seq }) => seq === shown.seq) : -1;
    choose(rows[Math.max(0, Math.min(rows.length - 1, at + by))]);
  };
  useKeys({
    ...{ p: toggle, x: clear, j: move(1), ArrowDown: move(1), k: move(-1), ArrowUp: move(-1) },
    f: () => document.getElementById('log-text')?.focus(),
    Escape: () => choose(undefined),
  });
  const top = (at: number): void => {
    const is = at < rowHeight / 2;
    if (isAtTop && !is) freeze();
    scrolled(is);
  };
  return (
    <div class="page is-filled">
      <header class="page-head log-head">
        <h1>Event log</h1>
        <div class="choices" role="group" aria-label="Kinds of records">
          {recordKinds.map((kind) => (
            <button
              key={kind}
              type="button"
              class="button"
              aria-pressed={filter.kinds.includes(kind)}
              onClick={() =>
                change({
                  ...filter,
                  kinds: filter.kinds.includes(kind)
                    ? filter.kinds.filter((one) => one !== kind)
                    : [...filter.kinds, kind],
                })
              }
            >
              {kind}
            </button>
          ))}
        </div>
        <input
          class="field"
          type="search"
          placeholder="Address"
          aria-label="Filter by the beginning of the address"
          value={filter.address}
          onInput={({ currentTarget: { value: address } }) => change({ ...filter, address })}
        />
        <input
          id="log-text"
          class="field"
          type="search"
          placeholder="Text"
          aria-label="Filter by text"
          value={filter.text}
          onInput={({ currentTarget: { value: text } }) => change({ ...filter, text })}
        />
        <button type="button" class="button" aria-pressed={isHeld} onClick={toggle}>
          {isHeld ? 'Go on' : 'Hold'} <kbd>p</kbd>
        </button>
      </header>
      <div class="log-columns">
        <section class="card table">
          <div class="table-head log-row" aria-hidden="true">
            <span>When</span>
            <span>Kind</span>
            <span>Actor</span>
            <span>What</span>
          </div>
          {!isLive && unseen > 0 && (
            <p class="unseen-note" role="status">
              {unseen.toLocaleString('en')} new: scroll to the top{isHeld ? ' and go on' : ''} to see them
            </p>
          )}
          <VirtualList
            count={rows.length}
            rowHeight={rowHeight}
            name="Records, newest first"
            current={shown && rows.indexOf(shown) >= 0 ? rows.indexOf(shown) : undefined}
            onScroll={top}
            empty={
              <p class="card-empty">
                {records.total === 0
                  ? 'Nothing has happened since this page was opened. What came before is in the history of each actor.'
                  : 'Nothing matches. '}
                {records.total > 0 && (
                  <button type="button" class="button" onClick={clear}>
                    Clear filters
                  </button>
                )}
              </p>
            }
            row={(index) => {
              const row = rows[index];
              return row && <Row row={row} isCurrent={row.seq === shown?.seq} choose={choose} />;
            }}
          />
          {dropped.value > 0 && (
            <p class="unseen-note">
              {dropped.value.toLocaleString('en')} records were dropped, the oldest first. The journals have every step.
            </p>
          )}
        </section>
        {shown && <Detail row={shown} close={() => choose(undefined)} />}
      </div>
    </div>
  );
}

function Row({ row, isCurrent, choose }: { row: LogRow; isCurrent: boolean; choose(row: LogRow): void }) {
  const { at, kind, address, text, tone } = row;
  const health = healthOfTone[tone];
  return (
    <button type="button" class={`log-row${isCurrent ? ' is-current' : ''}`} onClick={() => choose(row)}>
      <time>{momentOf(at)}</time>
      <span class="quiet">{kind}</span>
      <code class="cut-text">{address}</code>
      <span class="cut-text">
        {health && <HealthIcon health={health} name={healthWords[health]} size={13} />} {text}
      </span>
    </button>
  );
}

function Detail({ row, close }: { row: LogRow; close(): void }) {
  const { address, commit, kind, at, text, record } = row;
  return (
    <aside class="card detail" aria-label="Record">
      <header class="card-head">
        <h2>{kind}</h2>
        <button type="button" class="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <div class="detail-body">
        <p>{text}</p>
        <p>
          <a class="link" href={hrefOf(placeAtMoment(address, commit))}>
            {address}
            {commit === undefined ? '' : `, step ${commit}`}
          </a>
        </p>
        <p class="quiet">{new Date(at).toISOString()}</p>
        <pre>{JSON.stringify(record, null, 2)}</pre>
      </div>
    </aside>
  );
}
