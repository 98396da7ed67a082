/** A runtime that dies at a write to a real store, and the next one on what is left there. All else: crash.test.ts */
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { thirdOf } from '../support/third.js';
import type { Cut } from './cable.js';
import { checkSuccessor, type Ending, runUntilCut } from './crash-scenario.js';
import { steps } from './crash-story.js';
import { inLmdb, inRedis, type KeptData } from './kept-data.js';

const seed = 20261121;
/** Each flush is waited for: in memory it costs nothing. */
const root = existsSync('/dev/shm') ? '/dev/shm' : undefined;

const all = Number.POSITIVE_INFINITY;

/** How many of the moments are tried, of all that there are. */
const subjects: { name: string; make(): Promise<KeptData>; quiet: number; hasty: number }[] = [
  { name: 'lmdb', make: () => inLmdb(root), quiet: all, hasty: 30 },
  { name: 'redis', make: inRedis, quiet: 30, hasty: 30 },
];

for (const { name, make, quiet, hasty } of subjects) {
  describe(`plugins after a crash, on ${name}`, () => {
    const run = async (cut: Cut | undefined, rests: boolean): Promise<Ending> => {
      const data = await make();
      try {
        const ending = await runUntilCut(data, cut, rests);
        await checkSuccessor(data, ending.answered);
        return ending;
      } catch (error) {
        throw new Error(`cut: ${JSON.stringify(cut)}: ${String(error)}`, { cause: error });
      } finally {
        await data.remove();
      }
    };

    for (const [pace, moments] of [
      ['quiet', quiet],
      ['hasty', hasty],
    ] satisfies [string, number][]) {
      const which = moments === all ? 'at any write' : `at ${moments} writes of seed ${seed}`;

      it(`R11 cut off ${which}, between ${pace} requests: no answered request is lost, each event comes once`, async () => {
        const rests = pace === 'quiet';
        const { writes, answered } = await run(undefined, rests);
        expect(answered).to.equal(steps.length);
        expect(writes).to.be.greaterThan(2 * steps.length);
        const cuts = Array.from({ length: 2 * writes }, (_, n) => ({ afterWrites: n >> 1, done: n % 2 === 1 }));
        let cutOff = 0;
        for (const cut of thirdOf(sample(cuts, moments))) if ((await run(cut, rests)).isCut) cutOff += 1;
        // How many writes share one differs from run to run: late cuts may come to nothing.
        expect(cutOff).to.be.greaterThan(thirdOf(cuts.slice(0, moments)).length / 2);
      });
    }
  });
}

/** So many of them, picked by the seed. */
function sample<T>(items: T[], count: number): T[] {
  const random = seededRandom(seed);
  const ranked = items.map((item) => ({ item, rank: random.next() }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ item }) => item);
}
