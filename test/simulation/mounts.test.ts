/**
 * Random histories of mounts on one node: requests, faults of plugin, store, kernel and claims, crashes and reboots. What each
 * of them must keep is in mounts-judgement.ts, mounts-plugin.ts and mounts-driver.ts. More of them:
 * `OF=mounts npm run test:simulate`.
 */
import { expect } from 'chai';
import { voyage } from './fleet.js';
import { mountsHistory } from './mounts-history.js';
import { mountsPlanOf } from './mounts-plan.js';

/** The same ones each time, so that a failure is due to a change; fresh ones: `npm run test:simulate`. */
const firstSeed = 1;
const histories = Number(process.env.HISTORIES ?? 400);

/**
 * Each was broken once: a first request whose answer from the store was lost, a call to unstage that a dead runtime has left, a
 * target that is dead before its publish is answered, a mount of which the plugin says that it is not there.
 */
const found = [27, 87, 271, 299, 369, 576, 657, 1_546, 2_142, 2_218, 2_417, 2_469, 2_768, 2_902];

describe('random histories of mounts', () => {
  it('M2 M6 M8 M10 those that were broken once are broken no more', async () => {
    for (const seed of found) {
      const { faults } = await mountsHistory(mountsPlanOf(seed));
      expect(faults, `seed ${seed}`).to.deep.equal([]);
    }
  });

  it('M2 the same seed gives the same history', async () => {
    for (const seed of [3, 4, 5]) {
      const [one, other] = [
        await mountsHistory(mountsPlanOf(seed), { isTold: true }),
        await mountsHistory(mountsPlanOf(seed), { isTold: true }),
      ];
      expect(one.transcript, `seed ${seed}`).to.deep.equal(other.transcript);
    }
  });

  it('M2 M3 M5 M6 M7 M8 M10 all of them end with nothing mounted, and nobody waits for nothing', async () => {
    const { broken } = await voyage({ processes: 0, seed: firstSeed, histories, stores: 'mounts' });
    const lines = broken.map((one) => `OF=mounts SEED=${one.seed} HISTORIES=1 npm run test:simulate: ${one.broken}`);
    expect(lines).to.deep.equal([]);
  });
});
