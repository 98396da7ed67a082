/** Short hashes of played histories, one for each strand, and the files that keep those of a version of the machines. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type BaselineKind, type BaselineLine, played, strands } from './baseline-lines.js';

export interface Hashes {
  seed: number;
  /** In the order of `strands`. */
  hashes: string[];
}

const digits = 6;

export const hashesOf = (seed: number, lines: readonly BaselineLine[]): Hashes => ({
  seed,
  hashes: strands.map((strand) => {
    const hash = createHash('sha256');
    const own = lines.filter(({ of }) => of === strand).map(({ text }) => text);
    for (const text of strand === 'answers' ? sortedByMoment(own) : own) hash.update(`${text}\n`);
    return hash.digest('hex').slice(0, digits);
  }),
});

/** Sorts what is answered at one moment: in which order callers hear of it says nothing. */
const sortedByMoment = (texts: readonly string[]): string[] =>
  texts.toSorted((one, other) => momentOf(one) - momentOf(other) || (one < other ? -1 : 1));

const momentOf = (text: string): number => Number.parseInt(text, 10);

export interface Difference {
  seed: number;
  strands: string[];
}

/** Plays recorded histories again. Yields one difference for each: without strands if all of them are equal. */
export async function* differences(kind: BaselineKind, recorded: readonly Hashes[]): AsyncGenerator<Difference> {
  for (const { seed, hashes: before } of recorded) {
    const { hashes } = hashesOf(seed, (await played(kind, seed)).lines);
    yield { seed, strands: strands.filter((_, at) => hashes[at] !== before[at]) };
  }
}

const fileOf = (version: string, kind: BaselineKind): URL =>
  new URL(`../histories/${version}/${kind}-hashes.txt.gz`, import.meta.url);

/** @param version of the machine that was played */
export function recordedHashes(version: string, kind: BaselineKind): Hashes[] {
  const lines = gunzipSync(readFileSync(fileOf(version, kind)))
    .toString()
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const [seed = '', ...hashes] = line.split(' ');
    return { seed: Number(seed), hashes };
  });
}

/** @returns bytes of the file */
export function recordHashes(version: string, kind: BaselineKind, all: readonly Hashes[]): number {
  const file = fileOf(version, kind);
  const packed = gzipSync(all.map(({ seed, hashes }) => `${[seed, ...hashes].join(' ')}\n`).join(''), { level: 9 });
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, packed);
  return packed.length;
}
