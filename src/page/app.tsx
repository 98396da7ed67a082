/** The frame of the page: top bar, rail, the view, and what is wrong with the connection. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { ActorView } from './actor/actor-view.js';
import { HealthIcon, healthWords } from './common/health.js';
import { Icon } from './common/icons.js';
import { useKeys } from './common/keys.js';
import { kindOf, kinds, nameOf, otherKinds } from './common/kinds.js';
import { theme, turnTheme } from './common/theme.js';
import { turnZone } from './common/zone.js';
import { ask } from './data/api.js';
import {
  actors,
  connection,
  connectionTrouble,
  dropped,
  heardAt,
  leads,
  nodeId,
  onChange,
  rate,
  tick,
} from './data/feed.js';
import { timeOf, zone } from './data/time.js';
import { token } from './data/token.js';
import { KeysDialog } from './find/keys-dialog.js';
import { Palette } from './find/palette.js';
import { List } from './list/list.js';
import { Log } from './log/log.js';
import { Overview } from './overview/overview.js';
import { go, hrefOf, type Place, place, turnTo } from './router.js';
import { TimelineView } from './timeline/timeline-view.js';
import { TokenForm } from './token-form.js';

const open = signal<'palette' | 'keys' | undefined>(undefined);
const close = (): void => {
  open.value = undefined;
};

export function App() {
  useKeys({
    '/': () => {
      open.value = 'palette';
    },
    'Ctrl k': () => {
      open.value = 'palette';
    },
    '?': () => {
      open.value = 'keys';
    },
    t: turnTheme,
    z: turnZone,
    'g o': () => go({ view: 'overview' }),
    'g e': () => go({ view: 'log' }),
    'g t': () => {
      const here = place.value;
      if ('address' in here) go({ view: 'timeline', address: here.address });
    },
  });
  const to = place.value;
  if (token.value === undefined) return <TokenForm />;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <div class={`frame${connection.value === 'disconnected' ? ' is-old' : ''}`}>
        <TopBar />
        <Rail to={to} />
        <Main key={zone.value} to={to} />
      </div>
      {open.value === 'palette' && <Palette onClose={close} />}
      {open.value === 'keys' && <KeysDialog onClose={close} />}
      <LiveWords />
    </>
  );
}

function TopBar() {
  const isLive = connection.value === 'live';
  return (
    <header class="top">
      <a class="brand" href={hrefOf({ view: 'overview' })}>
        <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
          <rect width="20" height="20" rx="5" class="brand-ground" />
          <rect x="5" y="5" width="10" height="10" rx="2.5" class="brand-frame" />
          <circle cx="10" cy="10" r="2" class="brand-dot" />
        </svg>
        <b>Stagecraft</b>
      </a>
      {nodeId.value !== '' && (
        <span class="node-name">
          <Icon name="node" />
          {nodeId.value}
        </span>
      )}
      <button
        type="button"
        class="find"
        aria-label="Find an actor"
        onClick={() => {
          open.value = 'palette';
        }}
      >
        <Icon name="find" />
        <span>Find an actor, a volume, a node…</span>
        <kbd>/</kbd>
      </button>
      <span class="grow" />
      <span class="live">
        <HealthIcon health={isLive ? 'healthy' : connection.value === 'loading' ? 'working' : 'failed'} size={14} />
        {isLive ? 'Live' : connection.value === 'loading' ? 'Loading' : 'Disconnected'}
        {isLive && <small>{rate.value}/s</small>}
      </span>
      {isLive && !leads.value && (
        <small class="elsewhere" title="The single steps of volumes and nodes are live on the page of that agent.">
          Another agent works on volumes: read again after changes
        </small>
      )}
      <button
        type="button"
        class="zone"
        aria-label={zone.value === 'UTC' ? 'Times are in UTC: show local times' : 'Times are local: show UTC'}
        title="UTC or local times  z"
        onClick={turnZone}
      >
        {zone.value}
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={theme.value === 'dark' ? 'Use light colours' : 'Use dark colours'}
        onClick={turnTheme}
      >
        <Icon name={theme.value === 'dark' ? 'sun' : 'moon'} />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Keys"
        onClick={() => {
          open.value = 'keys';
        }}
      >
        ?
      </button>
    </header>
  );
}

function Rail({ to }: { to: Place }) {
  tick.value;
  const machine = to.view === 'list' ? to.machine : to.view === 'actor' ? to.address.split('/')[0] : undefined;
  const shown = [...kinds, ...otherKinds.filter((kind) => actors.machine.includes(kind.machine))];
  const failed = actors.counts().failed;
  return (
    <nav class="rail" aria-label="Views">
      <RailLink
        to={{ view: 'overview' }}
        title="Overview"
        icon="overview"
        isHere={to.view === 'overview'}
        failed={failed}
      />
      <RailLink to={{ view: 'log' }} title="Event log" icon="log" isHere={to.view === 'log'} />
      {'address' in to && (
        <RailLink
          to={{ view: 'timeline', address: to.address }}
          title="Timeline"
          icon="timeline"
          isHere={to.view === 'timeline'}
        />
      )}
      <h2>Actors</h2>
      {shown.map(({ machine: one, title, icon }) => {
        const counts = actors.counts(one);
        const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
        return (
          <RailLink
            key={one}
            {...{ title, icon, total }}
            to={{ view: 'list', machine: one }}
            isHere={machine === one}
            failed={counts.failed}
          />
        );
      })}
    </nav>
  );
}

interface RailLinkProps {
  to: Place;
  title: string;
  icon: Parameters<typeof Icon>[0]['name'];
  isHere: boolean;
  failed?: number;
  total?: number;
}

const RailLink = ({ to, title, icon, isHere, failed = 0, total }: RailLinkProps) => (
  <a class="rail-link" href={hrefOf(to)} aria-current={isHere ? 'page' : undefined}>
    <Icon name={icon} />
    <span>{title}</span>
    {failed > 0 && (
      <em class="health-failed">
        <HealthIcon health="failed" size={12} name={healthWords.failed} />
        {failed}
      </em>
    )}
    {total !== undefined && <b>{total}</b>}
  </a>
);

function Main({ to }: { to: Place }) {
  const element = useRef<HTMLElement>(null);
  const key = to.view === 'list' ? to.machine : 'address' in to ? to.address : to.view;
  useEffect(() => {
    document.title = `${titleOf(to)} · Stagecraft`;
    element.current?.scrollTo(0, 0);
  }, [to.view, key]);
  const known = connection.value === 'loading' ? [] : actors.address;
  return (
    <main id="main" tabIndex={-1} ref={element}>
      <Strip />
      {to.view === 'overview' && <Overview />}
      {to.view === 'list' && <List key={to.machine} machine={to.machine} />}
      {to.view === 'log' && <Log />}
      {to.view === 'actor' && <ActorView key={to.address} {...actorProps(to)} />}
      {to.view === 'timeline' && <TimelineView key={to.address} {...actorProps(to)} known={known} />}
    </main>
  );
}

const api = {
  get: <T,>(path: string): Promise<T> => ask<T>(path),
  post: <T,>(path: string, body: object): Promise<T> => ask<T>(path, body),
};

type OfActor = Extract<Place, { view: 'actor' | 'timeline' }>;

/** Properties that the views of one actor share. */
function actorProps({ view, address, query = new URLSearchParams() }: OfActor) {
  const onQuery = (changes: Record<string, string | null>): void => {
    const next = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) next.delete(key);
      else next.set(key, value);
    }
    turnTo({ view, address, query: next });
  };
  return { address, query, onQuery, api, onChange };
}

function titleOf(to: Place): string {
  switch (to.view) {
    case 'overview':
      return 'Overview';
    case 'log':
      return 'Event log';
    case 'list':
      return kindOf(to.machine).title;
    default:
      return nameOf(to.address);
  }
}

/** Says why what is shown may be wrong: one reason at a time, the worst. */
function Strip() {
  if (connection.value === 'disconnected') {
    const since = heardAt.value === 0 ? '' : ` What you see is as it was at ${timeOf(heardAt.value)}.`;
    return (
      <div class="strip health-failed" role="alert">
        <HealthIcon health="failed" />
        {connectionTrouble.value === '' ? `The agent does not answer.${since}` : connectionTrouble.value} It is asked
        again each second.
      </div>
    );
  }
  if (dropped.value === 0) return null;
  return (
    <div class="strip health-waiting" role="status">
      <HealthIcon health="waiting" />
      <span>
        This page fell behind: {dropped.value.toLocaleString('en')} records were dropped, the oldest first. The journals
        have every step.
      </span>
      <button
        type="button"
        class="button"
        onClick={() => {
          dropped.value = 0;
        }}
      >
        Close
      </button>
    </div>
  );
}

const sentenceMs = 5_000;

/** Tells new trouble to those who do not see the page: one sentence in five seconds at most. */
function LiveWords() {
  const told = useRef({ at: 0, addresses: new Set<string>(), text: '' });
  tick.value;
  const { current } = told;
  const persons = [...actors.trouble.values()].filter(({ needs }) => needs === 'a-person');
  const news = persons.find(({ address }) => !current.addresses.has(address));
  if (news && Date.now() - current.at > sentenceMs) {
    current.at = Date.now();
    current.text = news.what;
    current.addresses.add(news.address);
  }
  return (
    <div class="unseen" aria-live="polite">
      {current.text}
    </div>
  );
}
