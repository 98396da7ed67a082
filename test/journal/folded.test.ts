/** Rounds that change nothing leave no entry in a journal. */
import { expect } from 'chai';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const hourMs = 3_600_000;

describe('journals of actors at rest', () => {
  let house: VolumeHouse;

  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    const creating = house.runtime.volumes.create(spec('data'));
    await house.rest();
    await creating;
  });
  afterEach(() => house.dispose());

  it('J1 a healthy plugin, its node and its volume do not make their journals grow, however often they are looked at', async () => {
    const { runtime, clock } = house;
    const lengths = async (): Promise<Record<string, number>> => {
      const found: Record<string, number> = {};
      for await (const { rows } of runtime.actors.pages())
        for (const [address] of rows) found[address] = (await runtime.journal.range(address)).last;
      return found;
    };
    await clock.advance(hourMs);
    const before = await lengths();
    expect(Object.keys(before)).to.include.members(['volume/default/data', 'node/a']);
    expect(Object.keys(before).some((address) => address.startsWith('plugin/'))).to.equal(true);
    const looks = house.plugin.calls.length;
    for (let hour = 0; hour < 24; hour += 1) await clock.advance(hourMs);
    expect(house.plugin.calls.length, 'calls to the plugin').to.be.above(looks);
    expect(await lengths()).to.deep.equal(before);
  });
});
