/** Addresses of the page: every view, actor and moment has one. */
import { computed, signal } from '@preact/signals';

/** Where the page is. */
export type Place =
  | { view: 'overview' }
  | { view: 'list'; machine: string }
  | { view: 'log' }
  /** `query`: the moment and the part that are shown; absent: now, and no part. */
  | { view: 'actor'; address: string; query?: URLSearchParams }
  /** An actor in time; `query`: the step that is chosen. */
  | { view: 'timeline'; address: string; query?: URLSearchParams };

/** Reads the part of an address after `#`; whatever names no place is the overview. */
function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [view, ...rest] = path.split('/');
  const named = rest.join('/');
  if (view === 'list' && named !== '') return { view, machine: named };
  if (view === 'log') return { view };
  if (view === 'a' && named !== '') return { view: 'actor', address: named, query: new URLSearchParams(query) };
  if (view === 'timeline' && named !== '') return { view, address: named, query: new URLSearchParams(query) };
  return { view: 'overview' };
}

/** Address of a place, beginning with `#`. */
export function hrefOf(place: Place): string {
  switch (place.view) {
    case 'overview':
      return '#/';
    case 'list':
      return `#/list/${place.machine}`;
    case 'log':
      return '#/log';
    case 'actor':
    case 'timeline': {
      const { view, address, query } = place;
      return `#/${view === 'actor' ? 'a' : view}/${address}${query && query.size > 0 ? `?${query}` : ''}`;
    }
  }
}

/** A moment of an actor; without a step, the present. */
export const placeAtMoment = (address: string, seq: number | undefined): Place =>
  seq === undefined
    ? { view: 'actor', address }
    : { view: 'actor', address, query: new URLSearchParams({ seq: String(seq) }) };

const hash = signal(globalThis.location?.hash ?? '');
globalThis.addEventListener?.('hashchange', () => {
  hash.value = location.hash;
});

export const place = computed(() => placeOf(hash.value));

/** Goes to a place: a step back in the browser returns from it. */
export function go(to: Place): void {
  location.hash = hrefOf(to);
}

/** Changes the moment or the part that is shown: a step back in the browser leaves the place, not the moment. */
export function turnTo(to: Place): void {
  history.replaceState(null, '', hrefOf(to));
  hash.value = location.hash;
}
