/**
 * Random machines, cut at every boundary, on faulty stores, beside a rival: what every history must keep is in
 * judgement.ts and model.ts. More of them: `npm run test:simulate`.
 */
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { voyage } from './fleet.js';

const knownSeed = 1;
const freshSeed = randomInt(2 ** 32);
const histories = Number(process.env.HISTORIES ?? 8_000);

/** On each store: how many of all histories, and how many of the plans of one system. */
const shares = [
  { stores: 'memory', share: 1 },
  { stores: 'lmdb', share: 0.02, plansEach: 10 },
  { stores: 'redis', share: 0.01, plansEach: 10 },
];

for (const { stores, share, ...options } of shares) {
  describe(`random histories on ${stores}`, function () {
    this.timeout(600_000);

    for (const [which, seed] of [
      ['known', knownSeed],
      ['fresh', freshSeed],
    ] as const) {
      it(`of ${which} systems keep every promise and end as undisturbed ones do (SEED=${seed})`, async () => {
        const { broken } = await voyage({ seed, histories: (histories * share) / 2, stores, ...options });
        const told = broken.map(
          (one) => `SEED=${one.seed} STORES=${stores} HISTORIES=1 npm run test:simulate: ${one.broken}`,
        );
        expect(told).to.deep.equal([]);
      });
    }
  });
}
