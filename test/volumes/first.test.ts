/** Tests the life of a volume, and the calls of each step. */
import { expect } from 'chai';
import { spec, VolumeHouse } from './volume-house.js';

describe('a volume', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  it('V2 V21 its view has the requested sizes and parameters, and the names but no references of secrets', async () => {
    await house.runtime.close();
    await house.furnish({ secrets: { resolve: async () => ({ password: 'hush' }) } });
    const capacity = { requiredBytes: 1024, limitBytes: 2n ** 60n };
    const asked = { parameters: { tier: 'cold' }, secrets: { password: 'file:disk-password' } };
    const made = await house.volumes.create(spec('data', { capacity, ...asked }));
    expect(made).to.deep.include({ requested: capacity, parameters: { tier: 'cold' }, secrets: ['password'] });
    expect(made.name).to.equal(`sc-${made.uid}`);
    expect((await house.volumes.list()).items).to.deep.equal([made]);
    await house.volumes.expand({ id: 'data' }, { requiredBytes: 2048 });
    expect((await house.volumes.get({ id: 'data' }))?.requested).to.deep.equal({ requiredBytes: 2048 });
  });

  it('V19 secrets take longer than a call may: the timeout of the call begins after they are resolved', async () => {
    await house.runtime.close();
    const { clock } = house;
    const resolve = (): Promise<Record<string, string>> =>
      new Promise((given) => void clock.after(8_000, () => given({ password: 'hush' })));
    await house.furnish({ secrets: { resolve }, calls: { timeoutMs: 1_000 } });
    const created = house.volumes.create(spec('data', { secrets: { password: 'file:disk-password' } }), { wait: true });
    await clock.advance(8_000);
    expect((await created).state).to.equal('created');
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK']);
  });

  it('V4 V5 created, published, unpublished and deleted: one call each', async () => {
    const { volumes, plugin } = house;
    const created = await volumes.create(spec('data'));
    expect(created).to.deep.include({ state: 'created', csiId: 'vol-1', publications: {} });
    const { publishContext } = await volumes.publish({ id: 'data' }, 'a');
    expect(publishContext).to.deep.equal({ device: 'vol-1@csi-a' });
    expect((await volumes.get({ id: 'data' }))?.publications.a).to.deep.include({
      state: 'published',
      csiNodeId: 'csi-a',
    });
    await volumes.unpublish({ id: 'data' }, 'a');
    await volumes.delete({ id: 'data' });
    expect(await volumes.get({ id: 'data' })).to.equal(undefined);
    expect(plugin.told()).to.deep.equal([
      'CreateVolume: OK',
      'ControllerPublishVolume csi-a: OK',
      'ControllerUnpublishVolume csi-a: OK',
      'DeleteVolume: OK',
    ]);
    expect(plugin.wrongs).to.deep.equal([]);
    expect((await house.events()).map(({ kind }) => kind)).to.deep.equal([
      'created',
      'publication',
      'publication',
      'publication',
      'publication',
      'deleted',
    ]);
  });
});
