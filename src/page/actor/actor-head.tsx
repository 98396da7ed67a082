/** Head of an actor: what it is, how it is and why, and what a person has to do. */
import type { Trouble } from '../../api/actor-routes.js';
import { Copy } from '../common/copy.js';
import { HealthBadge } from '../common/health.js';
import { kindOf, nameOf } from '../common/kinds.js';
import { useNow } from '../common/use-now.js';
import { datedMomentOf, shortDuration } from '../data/time.js';
import { hrefOf } from '../router.js';
import { stepText } from './edits.js';
import { Glyph } from './glyphs.js';
import { leftText } from './in-flight.js';
import type { ShownMoment } from './shown.js';

interface HeadProps {
  address: string;
  machine: string;
  version: string;
  shown: ShownMoment;
  lastSeq: number;
  isPast: boolean;
  trouble: readonly Trouble[];
}

export function ActorHead({ address, machine, version, shown, lastSeq, isPast, trouble }: HeadProps) {
  const { health, why, seq, at } = shown;
  const [first] = isPast ? [] : trouble;
  return (
    <header class="actor-head">
      <nav class="crumbs" aria-label="Where">
        <a href={hrefOf({ view: 'list', machine })}>{kindOf(machine).title}</a>
        <Glyph name="open" size={12} />
        <code>{address}</code>
        <Copy text={location.href} name="Copy a link to this moment" />
      </nav>
      <div class="actor-title">
        <h1>{nameOf(address)}</h1>
        <HealthBadge health={health} />
        <p>
          <b>{sentence(first?.what ?? why)}</b> {first?.why && <span>{sentence(first.why)} </span>}
          {first && <What trouble={first} />}
        </p>
        <span class="grow" />
        <dl>
          <Fact name="Machine" value={`${machine} ${version}`} />
          <Fact name="Step" value={stepText(seq)} of={isPast ? `/${lastSeq}` : ''} />
          {at !== undefined && <Since at={at} isPast={isPast} />}
        </dl>
      </div>
    </header>
  );
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** Advice, or when it goes on by itself. */
function What({ trouble: { needs, todo, command, dueAtMs } }: { trouble: Trouble }) {
  const now = useNow();
  return (
    <>
      {dueAtMs !== undefined && dueAtMs > now && (
        <span>
          The next attempt begins in <b class="mono">{leftText(dueAtMs, now)}</b>.{' '}
        </span>
      )}
      {needs === 'nothing' && !todo && <span>Nothing to do: it goes on by itself.</span>}
      {todo && <span>{sentence(todo)} </span>}
      {command && (
        <span class="command">
          <code>{command}</code>
          <Copy text={command} name="Copy the command" />
        </span>
      )}
    </>
  );
}

const Fact = ({ name, value, of = '' }: { name: string; value: string; of?: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {value}
      {of && <small>{of}</small>}
    </dd>
  </div>
);

function Since({ at, isPast }: { at: number; isPast: boolean }) {
  const now = useNow();
  return (
    <Fact
      name={isPast ? 'At' : 'Since'}
      value={isPast ? datedMomentOf(at, now) : shortDuration(Math.max(0, now - at))}
    />
  );
}
