/**
 * Plays a sample of the histories that version 3 of the machines was recorded with. All of them:
 * `node --import=tsx test/simulation/baseline.ts compare volumes 3`
 */
import { expect } from 'chai';
import { type Difference, differences, hashesOf, recordedHashes } from './baseline-hashes.js';
import { played } from './baseline-lines.js';
import { allocIds, mountsPlanOf } from './mounts-plan.js';

/** Histories that are played, of each kind. */
const sample = [
  { kind: 'volumes', count: 30 },
  { kind: 'limits', count: 10 },
  { kind: 'mounts', count: 30 },
  { kind: 'snapshots', count: 20 },
] as const;

/** By kind and seed: histories that differ by intent, with the reason. */
const judged = new Map([
  ...[6_501, 7_001, 7_126].map(
    (seed) => [`volumes ${seed}`, 'two answers of one moment come in the other order'] as const,
  ),
  ...['volumes 1876', 'volumes 4001', 'snapshots 100699', 'snapshots 102074', 'snapshots 102306'].map(
    (seed) => [seed, 'a refusal has other words: there is no such volume, or it is being deleted'] as const,
  ),
  ['volumes 5126', 'a delete first asks whether a replaced agent has the volume: two deletes share no commit any more'],
  ...[2_580, 3_223, 3_428, 4_061, 5_869].map(
    (seed) => [`mounts ${seed}`, 'a runtime asks about no holds: the same calls of the store come earlier'] as const,
  ),
  ['limits 265', 'a snapshot whose creation waits goes on waiting when its deletion is asked for: one commit less'],
]);

/** Whether all is mounted for allocs: single mounts have claims since version 4, and so differ from the first request on. */
const isOfAllocs = (seed: number): boolean => mountsPlanOf(seed).traits.claiming.length === allocIds.length;

async function differing(...asked: Parameters<typeof differences>): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const difference of differences(...asked)) if (difference.strands.length > 0) found.push(difference);
  return found;
}

describe('histories of version 3 of the machines', () => {
  for (const { kind, count } of sample)
    it(`35.1 ${count} of ${kind}: calls, answers, views and commits are what they were`, async () => {
      const recorded = recordedHashes('3', kind).filter(({ seed }) => kind !== 'mounts' || isOfAllocs(seed));
      const step = Math.max(1, Math.floor(recorded.length / count));
      const some = recorded.filter((_, at) => at % step === 0).slice(0, count);
      expect(some).to.have.lengthOf(count);
      const found = await differing(kind, '3', some);
      expect(found.filter(({ seed }) => !judged.has(`${kind} ${seed}`))).to.deep.equal([]);
    });

  it('35.1 a line that differs: the strand that it belongs to differs, and no other', async () => {
    const { lines } = await played('volumes', 9);
    const at = lines.findIndex(({ of }) => of === 'answers');
    const changed = lines.map((line, n) => (n === at ? { ...line, text: `${line.text}!` } : line));
    expect(await differing('volumes', '4', [hashesOf(9, lines)])).to.deep.equal([]);
    expect(await differing('volumes', '4', [hashesOf(9, changed)])).to.deep.equal([{ seed: 9, strands: ['answers'] }]);
  });
});
