/** Moments of histories, recorded as whole stores: what runtimes of an earlier version leave to the present one. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { Commit } from '../../src/engine/store.js';
import { momentOf } from '../simulation/moment-text.js';
import type { MountsMoment } from '../simulation/mounts-moment.js';
import type { Moment } from '../simulation/volumes-moment.js';

export const momentsFile = (version: string, of: 'volume' | 'mount'): URL =>
  new URL(`${version}/${of}-stores.jsonl.gz`, import.meta.url);

const linesOf = (file: URL): string[] => gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');

/** @param version of the volume machine that ran */
export const moments = (version: string): Moment[] =>
  linesOf(momentsFile(version, 'volume')).map((line) => momentOf<Moment>(line));

/** @param version of the mount machine that ran */
export const mountMoments = (version: string): MountsMoment[] =>
  linesOf(momentsFile(version, 'mount')).map((line) => momentOf<MountsMoment>(line));

/** What an actor is at, as its record says: calls under way, calls that wait, and calls that may still be under way. */
export function shownBy({ address, text }: Pick<Commit, 'address' | 'text'>): string[] {
  const kind = address.slice(0, address.indexOf('/'));
  const { effects, doubts = {}, snapshot, timers } = decodeRecord(text);
  if (!snapshot) return [];
  return [
    ...effects.map(({ src, lastsMs, attempt = 1 }) => {
      const how = lastsMs === 0 ? 'waits' : attempt > 1 ? 'is under way, recovered' : 'is under way';
      return `${kind}: ${src} ${how}`;
    }),
    ...Object.keys(doubts).map((src) => `${kind}: ${src} is in doubt`),
    ...timers.map(({ id }) => `${kind}: timer ${id.replace(/.*\./, '')}`),
  ];
}
