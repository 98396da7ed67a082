/**
 * Random machines, cut at every boundary, on faulty stores, beside a rival: what every history must keep is in
 * judgement.ts and model.ts. More of them: `npm run test:simulate`.
 */
import { expect } from 'chai';
import { voyage } from './fleet.js';
import { endServer } from './redis-subject.js';

/** The same ones each time, so that a failure is due to a change; fresh ones: `npm run test:simulate`. */
const firstSeed = 1;
const histories = Number(process.env.HISTORIES ?? 1_000);

/** On each store: how many of all histories, and how many of the plans of one system. */
const shares = [
  { stores: 'memory', share: 1 },
  { stores: 'lmdb', share: 0.05, plansEach: 10 },
  { stores: 'redis', share: 0.03, plansEach: 10 },
];

for (const { stores, share, ...options } of shares) {
  describe(`random histories on ${stores}`, () => {
    after(endServer);

    it(`keep every promise and end as undisturbed ones do (SEED=${firstSeed})`, async () => {
      const plan = { seed: firstSeed, histories: histories * share, stores, ...options };
      const { broken } = await voyage({ processes: 0, ...plan });
      const lines = broken.map(
        (one) => `SEED=${one.seed} STORES=${stores} HISTORIES=1 npm run test:simulate: ${one.broken}`,
      );
      expect(lines).to.deep.equal([]);
    });
  });
}
