/** Moments of histories, recorded as whole stores: what runtimes of an earlier version leave to the present one. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { decodeEnvelope } from '../../src/engine/envelope.js';
import type { Commit } from '../../src/engine/store.js';
import { type Moment, momentOf } from '../simulation/volumes-moment.js';

export const momentsFile = (version: string): URL => new URL(`${version}/volume-stores.jsonl.gz`, import.meta.url);

/** @param version of the volume machine that ran */
export const moments = (version: string): Moment[] =>
  gunzipSync(readFileSync(momentsFile(version)))
    .toString()
    .trimEnd()
    .split('\n')
    .map(momentOf);

/** What an actor is at, as its record says: calls under way, calls that wait, and calls that may still be under way. */
export function shownBy({ address, text }: Pick<Commit, 'address' | 'text'>): string[] {
  const kind = address.slice(0, address.indexOf('/'));
  const { effects, doubts = {}, snapshot, timers } = decodeEnvelope(text);
  if (!snapshot) return [];
  return [
    ...effects.map(({ src, waits, attempt = 1 }) => {
      const how = waits ? 'waits' : attempt > 1 ? 'is under way, recovered' : 'is under way';
      return `${kind}: ${src} ${how}`;
    }),
    ...Object.keys(doubts).map((src) => `${kind}: ${src} is in doubt`),
    ...timers.map(({ id }) => `${kind}: timer ${id.replace(/.*\./, '')}`),
  ];
}
