/** Is anything wrong? Kinds with their health, trouble by who has to act, and what happens now. */
import type { Health, Trouble } from '../../api/actor-routes.js';
import { Copy } from '../common/copy.js';
import { HealthIcon, healthWords } from '../common/health.js';
import { Icon } from '../common/icons.js';
import { type Kind, kinds, nameOf } from '../common/kinds.js';
import { healthOfTone } from '../common/tones.js';
import { healthOrder } from '../data/actors.js';
import { actors, connection, lines, tick } from '../data/feed.js';
import { dayOf, shortDuration, timeOf } from '../data/time.js';
import { hrefOf, placeAtMoment } from '../router.js';
import './overview.css';

/** Actors of a kind up to which each has an icon of its own. */
const mostIcons = 10;
const mostActivity = 21;
const mostTrouble = 50;

export function Overview() {
  tick.value;
  if (connection.value === 'loading') return <Loading />;
  if (actors.size === 0) return <Nothing />;
  const all = [...actors.trouble.values()];
  const byPerson = all.filter(({ needs }) => needs === 'a-person');
  const byItself = all.filter(({ needs }) => needs === 'nothing');
  return (
    <div class="page">
      <h1 class="unseen">Overview</h1>
      <ul class="kinds" aria-label="Actors by kind">
        {kinds.map((kind) => (
          <KindCard key={kind.machine} {...kind} />
        ))}
      </ul>
      <div class="columns">
        <div>
          <TroubleCard title="Needs a person" note="what somebody has to do" list={byPerson}>
            <p class="card-empty">
              <HealthIcon health="healthy" /> Nothing needs a person.
            </p>
          </TroubleCard>
          {byItself.length > 0 && (
            <TroubleCard title="Goes on by itself" note="nothing to do" list={byItself}>
              {null}
            </TroubleCard>
          )}
        </div>
        <Activity />
      </div>
    </div>
  );
}

const Loading = () => (
  <div class="page" aria-busy="true">
    <h1 class="unseen">Overview</h1>
    <p class="quiet">Reading the actors of this agent…</p>
  </div>
);

const Nothing = () => (
  <div class="page">
    <section class="card hero">
      <h1>Nothing runs here yet.</h1>
      <p>Start a plugin and it appears within a second.</p>
      <code>stagecraft agent --config stagecraft.yaml</code>
    </section>
  </div>
);

function KindCard({ machine, title, icon }: Kind) {
  const counts = actors.counts(machine);
  const total = healthOrder.reduce((sum, health) => sum + counts[health], 0);
  const troubled = healthOrder.filter((health) => ranked.has(health) && counts[health] > 0);
  const words = troubled.map((health) => `${counts[health]} ${healthWords[health].toLowerCase()}`).join(' · ');
  return (
    <li>
      <a class="card kind" href={hrefOf({ view: 'list', machine })}>
        <span class="kind-head">
          <Icon name={icon} />
          {title}
          <b>{total}</b>
        </span>
        <span class="kind-cells" aria-hidden="true">
          {total === 0 ? null : total <= mostIcons ? (
            healthOrder.flatMap((health) =>
              Array.from({ length: counts[health] }, (_, i) => (
                <HealthIcon key={`${health}${i}`} health={health} size={13} />
              )),
            )
          ) : (
            <Bar counts={counts} total={total} />
          )}
        </span>
        <small>{total === 0 ? 'none yet' : words || 'all healthy'}</small>
      </a>
    </li>
  );
}

const ranked: ReadonlySet<Health> = new Set<Health>(['failed', 'in-doubt', 'waiting', 'working', 'unknown']);

/** Shares of a kind by health; trouble is at least 2 % wide. */
const Bar = ({ counts, total }: { counts: Record<Health, number>; total: number }) => (
  <span class="share">
    {healthOrder.flatMap((health) => {
      const share = counts[health] / total;
      if (share === 0) return [];
      const grow = ranked.has(health) ? Math.max(share, 0.02) : share;
      return [<i key={health} class={`health-${health}`} style={{ flexGrow: grow }} />];
    })}
  </span>
);

interface TroubleCardProps {
  title: string;
  note: string;
  list: readonly Trouble[];
  children: preact.ComponentChildren;
}

function TroubleCard({ title, note, list, children }: TroubleCardProps) {
  return (
    <section class="card trouble">
      <header class="card-head">
        <h2>
          {title} <span class="count">{list.length}</span>
        </h2>
        <small>{note}</small>
      </header>
      {list.length === 0 ? children : null}
      <ul>
        {list.slice(0, mostTrouble).map((one) => (
          <TroubleRow key={one.address} {...one} />
        ))}
      </ul>
      {list.length > mostTrouble && <p class="card-empty">and {list.length - mostTrouble} more: see the lists</p>}
    </section>
  );
}

function TroubleRow({ address, what, why, todo, command, dueAtMs }: Trouble) {
  const place = actors.placeOf(address);
  const health = (place === undefined ? undefined : actors.health[place]) ?? 'unknown';
  const dueIn = dueAtMs === undefined ? 0 : dueAtMs - Date.now();
  return (
    <li class="trouble-row">
      <a href={hrefOf({ view: 'actor', address })}>
        <HealthIcon health={health} name={healthWords[health]} size={18} />
        <span>
          <b>{what}</b>
          {why !== undefined && <span class="quiet">{why}</span>}
        </span>
        {dueIn > 0 && <time>in {shortDuration(dueIn)}</time>}
      </a>
      {todo !== undefined && (
        <div class="todo">
          {todo.charAt(0).toUpperCase() + todo.slice(1)}
          {command !== undefined && (
            <>
              <code>{command}</code>
              <Copy text={command} name={`Copy ${command}`} />
            </>
          )}
        </div>
      )}
    </li>
  );
}

function Activity() {
  const newest = lines.items.slice(-mostActivity).reverse();
  return (
    <section class="card activity">
      <header class="card-head">
        <h2>Activity</h2>
      </header>
      <ol>
        {newest.map(({ seq, at, address, what, message, tone, commit }) => {
          const health = healthOfTone[tone];
          return (
            <li key={seq}>
              <a href={hrefOf(placeAtMoment(address, commit))} title={message}>
                <time>{timeOf(at)}</time>
                {health ? <HealthIcon health={health} size={13} name={healthWords[health]} /> : <i />}
                <span>
                  <b>{nameOf(address)}</b> {what}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
      {newest.length < mostActivity && <Earlier most={mostActivity - newest.length} isQuiet={newest.length === 0} />}
      <a class="card-more" href={hrefOf({ view: 'log' })}>
        All events
      </a>
    </section>
  );
}

/** Last steps of actors from before the page was opened: what had happened when somebody comes to look. */
function Earlier({ most, isQuiet }: { most: number; isQuiet: boolean }) {
  const told = new Set(lines.items.map(({ address }) => address));
  const today = dayOf(Date.now());
  const places = actors.latest(most).filter((place) => !told.has(actors.address[place] ?? ''));
  return (
    <>
      <h3>{isQuiet ? 'Nothing yet since this page was opened. Before that:' : 'Before this page was opened'}</h3>
      <ol>
        {places.map((place) => {
          const address = actors.address[place] ?? '';
          const health = actors.health[place] ?? 'unknown';
          const at = actors.at[place] ?? 0;
          return (
            <li key={address}>
              <a href={hrefOf({ view: 'actor', address })} title={actors.why[place]}>
                <time title={new Date(at).toISOString()}>{dayOf(at) === today ? timeOf(at) : dayOf(at).slice(5)}</time>
                <HealthIcon health={health} size={13} name={healthWords[health]} />
                <span>
                  <b>{nameOf(address)}</b> {actors.why[place]}
                </span>
              </a>
            </li>
          );
        })}
      </ol>
    </>
  );
}
