/**
 * Plays a sample of the histories that version 4 of the machines was recorded with. All of them:
 * `node --import=tsx test/simulation/baseline.ts compare volumes 4`
 */
import { expect } from 'chai';
import { type Difference, differences, hashesOf, recordedHashes } from './baseline-hashes.js';
import { played } from './baseline-lines.js';

/** Histories that are played, of each kind. */
const sample = [
  { kind: 'volumes', count: 30 },
  { kind: 'limits', count: 10 },
  { kind: 'mounts', count: 30 },
  { kind: 'snapshots', count: 20 },
] as const;

/** By kind and seed: histories that differ by intent, with the reason. */
const judged = new Map<string, string>();

async function differing(...asked: Parameters<typeof differences>): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const difference of differences(...asked)) if (difference.strands.length > 0) found.push(difference);
  return found;
}

describe('histories of version 4 of the machines', () => {
  for (const { kind, count } of sample)
    it(`35.1 ${count} of ${kind}: calls, answers, views and commits are what they were`, async () => {
      const recorded = recordedHashes('4', kind);
      const step = Math.max(1, Math.floor(recorded.length / count));
      const some = recorded.filter((_, at) => at % step === 0).slice(0, count);
      expect(some).to.have.lengthOf(count);
      const found = await differing(kind, some);
      expect(found.filter(({ seed }) => !judged.has(`${kind} ${seed}`))).to.deep.equal([]);
    });

  it('35.1 a line that differs: the strand that it belongs to differs, and no other', async () => {
    const { lines } = await played('volumes', 9);
    const at = lines.findIndex(({ of }) => of === 'answers');
    const changed = lines.map((line, n) => (n === at ? { ...line, text: `${line.text}!` } : line));
    expect(await differing('volumes', [hashesOf(9, lines)])).to.deep.equal([]);
    expect(await differing('volumes', [hashesOf(9, changed)])).to.deep.equal([{ seed: 9, strands: ['answers'] }]);
  });
});
