/** Tests the view that callers get of the parts of a volume. */
import { expect } from 'chai';
import { spec, VolumeHouse } from './volume-house.js';

const created = { id: 'lifecycle', chart: 'lifecycle', at: 'created' };

describe('the parts of a volume, as callers see them', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
  });
  afterEach(() => house.dispose());

  it('V5 V8 publish with a lost answer: in doubt with the next attempt and the reason, then published', async () => {
    const { volumes, plugin, clock } = house;
    let isWell = false;
    plugin.script = () => (isWell ? undefined : { code: 'DEADLINE_EXCEEDED', text: 'too slow' });
    const publishing = volumes.publish({ id: 'data' }, 'a');
    await house.rest();
    const inDoubt = await volumes.get({ id: 'data' });
    expect(inDoubt?.publications.a).to.include({ state: 'pending-publish', step: 'in-doubt.backing-off' });
    const [lifecycle, part] = inDoubt?.parts ?? [];
    expect(lifecycle).to.deep.equal(created);
    expect(part).to.include({ id: 'publication/a', chart: 'publication', at: 'in-doubt.backing-off' });
    expect(part?.why).to.include('too slow');
    expect(part?.nextAttemptAtMs).to.be.greaterThan(clock.now());
    isWell = true;
    await clock.advance(60_000);
    await publishing;
    const published = await volumes.get({ id: 'data' });
    expect(published?.publications.a?.step).to.equal('published');
    expect(published?.parts).to.deep.equal([created, { id: 'publication/a', chart: 'publication', at: 'published' }]);
  });

  it('V5 on no node: only the lifecycle, also in lists', async () => {
    expect((await house.volumes.get({ id: 'data' }))?.parts).to.deep.equal([created]);
    expect((await house.volumes.list()).items.map(({ parts }) => parts)).to.deep.equal([[created]]);
  });
});
