/** What comes in between two attempts. */
import { expect } from 'chai';
import { spec, VolumeHouse } from './volume-house.js';

describe('between two attempts', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('V10 a request that comes while work waits for its time: it is tried again at that time all the same', async () => {
    const { volumes, plugin, clock } = house;
    let isWell = false;
    plugin.script = () => (isWell ? undefined : { code: 'INTERNAL' });
    const creating = volumes.create(spec('data'));
    await house.rest();
    await volumes.claim(
      { id: 'data' },
      { allocId: 'x', nodeId: 'a', mode: 'read', accessMode: 'single-node-writer', attachmentMode: 'file-system' },
    );
    isWell = true;
    await clock.advance(60_000);
    expect((await volumes.get({ id: 'data' }))?.state).to.equal('created');
    await creating;
  });
});
