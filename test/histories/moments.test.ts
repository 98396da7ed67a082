/**
 * Stores that earlier versions have left with calls in flight: the present version opens each of them. Every piece of work
 * comes to its end, as the driver has it, nothing is leaked or lost, and each journal leads to what its actor is. `npm test`
 * opens a third of them.
 */
import { expect } from 'chai';
import { mountsHistory } from '../simulation/mounts-history.js';
import { lmdb, memory } from '../simulation/stores.js';
import { volumesHistory } from '../simulation/volumes-history.js';
import { thirdOf } from '../support/third.js';
import { moments, mountMoments } from './moments.js';

const titleOf = (from: { plan: { seed: number }; shows: string[] }, store: string): string =>
  `seed ${from.plan.seed} on ${store}: ${from.shows[0]} and more; all of it is finished`;

for (const version of ['2', '3'])
  describe(`stores of version ${version} of the volume, with calls in flight`, () => {
    for (const stores of [memory, lmdb])
      for (const from of thirdOf(moments(version)))
        it(`V4 V8 C2 ${titleOf(from, stores.name)}`, async () => {
          const { faults } = await volumesHistory(from.plan, { from, stores });
          expect(faults).to.deep.equal([]);
        });
  });

for (const version of ['2', '3'])
  describe(`stores of version ${version} of the mount, with calls in flight`, () => {
    for (const stores of [memory, lmdb])
      for (const from of thirdOf(mountMoments(version)))
        it(`M3 M7 ${titleOf(from, stores.name)}`, async () => {
          const { faults } = await mountsHistory(from.plan, { from, stores });
          expect(faults).to.deep.equal([]);
        });
  });
