/** Recordings of simulated histories: one line of JSON for each committed snapshot, gzipped. How they are made: README.md */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { StateValue } from 'xstate';

/** Snapshot of an actor, as one commit left it. */
export interface Recorded<TContext = object> {
  /** Of the history. */
  seed: number;
  address: string;
  /** Of the commit. */
  seq: number;
  value: StateValue;
  context: TContext;
}

/** Kinds of actors that histories are recorded of. */
const kinds = ['volumes', 'snapshots', 'mounts', 'allocs'] as const;
type RecordedKind = (typeof kinds)[number];
export const isRecordedKind = (name: string): name is RecordedKind => kinds.some((kind) => kind === name);

const fileOf = (version: string, kind: RecordedKind): URL => new URL(`${version}/${kind}.jsonl.gz`, import.meta.url);

/** Sorts a recording by its histories. */
export function bySeed<TContext>(lines: readonly Recorded<TContext>[]): Map<number, Recorded<TContext>[]> {
  const seeds = new Map<number, Recorded<TContext>[]>();
  for (const line of lines) seeds.set(line.seed, [...(seeds.get(line.seed) ?? []), line]);
  return seeds;
}

/**
 * Reads what `version` of a machine has committed: seed by seed, and within a seed in the order of the commits.
 * @param kind names the actors; the caller knows what their contexts were in that version
 */
export function recorded<TContext = object>(version: string, kind: RecordedKind): Recorded<TContext>[] {
  const lines = gunzipSync(readFileSync(fileOf(version, kind)))
    .toString()
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}
