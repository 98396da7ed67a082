/** Finds an actor or a view by a few letters of its name. */
import { useMemo, useState } from 'preact/hooks';
import { Dialog } from '../common/dialog.js';
import { HealthIcon, healthWords } from '../common/health.js';
import { Icon } from '../common/icons.js';
import { kinds, nameOf, whereOf } from '../common/kinds.js';
import { actors, connection } from '../data/feed.js';
import { go, type Place } from '../router.js';
import './palette.css';

const most = 12;

interface Found {
  key: string;
  title: string;
  note: string;
  place: Place;
  health?: Parameters<typeof HealthIcon>[0]['health'];
}

const views: Found[] = [
  { key: 'overview', title: 'Overview', note: 'view', place: { view: 'overview' } },
  { key: 'log', title: 'Event log', note: 'view', place: { view: 'log' } },
  ...kinds.map(
    ({ machine, title }) => ({ key: machine, title, note: 'list', place: { view: 'list', machine } }) as const,
  ),
];

function find(text: string): Found[] {
  const wanted = text.trim().toLowerCase();
  const named = views.filter(({ title }) => title.toLowerCase().includes(wanted));
  if (wanted === '') return named.slice(0, most);
  const found = actors
    .sorted({ text: wanted })
    .slice(0, most)
    .map((place): Found => {
      const address = actors.address[place] ?? '';
      const health = actors.health[place] ?? 'unknown';
      const note = `${actors.machine[place]} ${whereOf(address)}`;
      return { key: address, title: nameOf(address), note, place: { view: 'actor', address }, health };
    });
  return [...named, ...found].slice(0, most);
}

export function Palette({ onClose }: { onClose(): void }) {
  const [text, type] = useState('');
  const [chosen, move] = useState<string | undefined>();
  // Rows that somebody reads do not move: they change with the text, and once the actors are known.
  const found = useMemo(() => find(text), [text, connection.value]);
  const at = Math.max(
    0,
    found.findIndex(({ key }) => key === chosen),
  );
  const choose = (one: Found | undefined): void => {
    if (!one) return;
    onClose();
    go(one.place);
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      move(found[at + by]?.key ?? chosen);
    }
    if (event.key === 'Enter') choose(found[at]);
  };
  return (
    <Dialog name="Find" class="palette" onClose={onClose}>
      <label class="palette-field">
        <Icon name="find" />
        <input
          autofocus
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-found"
          aria-activedescendant={found[at] ? `found-${at}` : undefined}
          aria-label="Name, state or reason"
          placeholder="Name, state or reason"
          value={text}
          onInput={({ currentTarget: { value } }) => {
            type(value);
            move(undefined);
          }}
          onKeyDown={onKey}
        />
      </label>
      <div id="palette-found" role="listbox" aria-label="Found">
        {found.map((one, index) => (
          <button
            key={one.key}
            id={`found-${index}`}
            type="button"
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => choose(one)}
          >
            {one.health ? (
              <HealthIcon health={one.health} name={healthWords[one.health]} size={15} />
            ) : (
              <Icon name="go" size={13} />
            )}
            <span class="cut-text">{one.title}</span>
            <small>{one.note}</small>
          </button>
        ))}
        {found.length === 0 && <p class="card-empty">Nothing by that name.</p>}
      </div>
    </Dialog>
  );
}
