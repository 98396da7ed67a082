/** A claim is released by hand under a prepared alloc: its node hears of it at once. Needs root. */
import { expect } from 'chai';
import { MountHouse, single } from './mount-house.js';

describe('a claim that is released by hand', function () {
  this.timeout(30_000);
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start({ attach: true });
    await house.make('data', single);
    await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
  });
  afterEach(() => house.end());

  it('A5, 35.7 its alloc fails, its volume is unmounted, and the next alloc gets it', async () => {
    const { runtime } = house;
    await runtime.volumes.release({ id: 'data' }, 'web');
    const { error } = await house.allocIs('web', ({ state }) => state === 'failed');
    expect([error?.code, house.mounted()]).to.deep.equal(['CLAIM_LOST', []]);
    await runtime.allocations.prepare('next', [house.wanted('data', single)]);
    expect((await runtime.volumes.get({ id: 'data' }))?.claims.map(({ allocId }) => allocId)).to.deep.equal(['next']);
  });
});
