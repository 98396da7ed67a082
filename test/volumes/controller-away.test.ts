/** A plugin whose controller side is not registered now, while its node side says that it has no controller service. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { FakePlugin } from './fake-plugin.js';
import { always } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const sized = spec('data', { capacity: { requiredBytes: 10 } });

describe('a volume whose plugin has only its node side registered, which knows of no controller service', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    const node = new FakePlugin();
    node.pluginCapabilities = [];
    await house.furnish({ dispensers: { 'csi-controller': house.plugin, 'csi-node': node } });
    const connection = { socketPath: '/nowhere/node.sock' };
    await house.runtime.plugins.register({ type: 'csi-node', name: pluginName, allocId: 'node-1', connection });
    await house.rest();
  });
  afterEach(async () => {
    expect(house.plugin.wrongs).to.deep.equal([]);
    await house.dispose();
  });

  async function controllerGoes(): Promise<void> {
    await house.runtime.plugins.deregister('csi-controller', pluginName, 'disk-1');
    await house.rest();
    house.plugin.calls.splice(0);
  }

  async function controllerComesBack(): Promise<void> {
    expect(house.plugin.told()).to.deep.equal([]);
    await house.register();
    await house.clock.advance(600_000);
  }

  it('V5 unpublished: waits, says for what, and is done by a call once the controller side is back', async () => {
    await house.volumes.create(sized);
    await house.volumes.publish(key, 'a');
    await controllerGoes();
    const unpublishing = house.volumes.unpublish(key, 'a');
    await house.clock.advance(600_000);
    const volume = await house.volumes.get(key);
    expect(volume?.publications.a?.state).to.equal('pending-unpublish');
    expect(volume?.error).to.include({ code: 'PLUGIN_UNAVAILABLE', final: false });
    expect(volume?.error?.message).to.contain('register it as csi-controller');
    await controllerComesBack();
    await unpublishing;
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
  });

  it('V13 deleted: waits, and is deleted at the plugin once the controller side is back', async () => {
    await house.volumes.create(sized);
    await controllerGoes();
    const deleting = house.volumes.delete(key);
    await house.clock.advance(600_000);
    expect(await house.volumes.get(key)).to.include({ state: 'pending-delete', csiId: 'vol-1' });
    await controllerComesBack();
    await deleting;
    expect(house.plugin.told()).to.deep.equal(['DeleteVolume: OK']);
  });

  it('V13 V14 deleted with force: gone after a while, and what may be left is listed', async () => {
    await house.volumes.create(sized);
    await house.volumes.publish(key, 'a');
    await controllerGoes();
    const deleting = house.volumes.delete(key, { force: true });
    await house.clock.advance(600_000);
    await deleting;
    const leftovers = (await house.volumes.get(key))?.leftovers ?? [];
    expect(leftovers.map(({ what, csiId, csiNodeId }) => [what, csiId, csiNodeId])).to.deep.equal([
      ['published', 'vol-1', 'csi-a'],
      ['created', 'vol-1', undefined],
    ]);
  });

  it('V5 V11 published and expanded: both wait, and are done by calls once the controller side is back', async () => {
    await house.volumes.create(sized);
    await controllerGoes();
    const publishing = house.volumes.publish(key, 'a');
    const expanding = house.volumes.expand(key, { requiredBytes: 20 });
    await house.clock.advance(600_000);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('pending-publish');
    await controllerComesBack();
    expect(await publishing).to.deep.equal({ publishContext: { device: 'vol-1@csi-a' } });
    expect(await expanding).to.deep.include({ capacityBytes: 20 });
  });

  it('V13 V5 its creation in doubt: repeated once the controller side is back, and is what that has made', async () => {
    always(house.plugin, 'CreateVolume', { code: 'UNAVAILABLE', work: true });
    const creating = house.volumes.create(sized);
    await house.rest();
    await controllerGoes();
    house.plugin.script = () => undefined;
    await house.clock.advance(600_000);
    expect((await house.volumes.get(key))?.state).to.equal('pending-create');
    await controllerComesBack();
    expect((await creating).csiId).to.equal('vol-1');
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['vol-1']);
  });

  it('V5 made as there was no other side: used and deleted without a call', async () => {
    await controllerGoes();
    expect(await house.volumes.create(spec('data'))).to.include({ csiId: 'data' });
    await house.volumes.publish(key, 'a');
    await house.volumes.unpublish(key, 'a');
    await house.volumes.delete(key);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V5 made as there was no other side, and published by one that came later: unpublished by a call', async () => {
    await controllerGoes();
    await house.volumes.create(spec('data'));
    house.plugin.volumes.set('data', {
      id: 'data',
      name: 'data',
      isFound: true,
      capacityBytes: 1n,
      attached: new Set(),
    });
    await controllerComesBack();
    await house.volumes.publish(key, 'a');
    await controllerGoes();
    const unpublishing = house.volumes.unpublish(key, 'a');
    await house.clock.advance(600_000);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('pending-unpublish');
    await controllerComesBack();
    await unpublishing;
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
  });

  it('V5 a publishing in doubt of one that was made as there was no other side: found out by a call, then undone', async () => {
    await controllerGoes();
    await house.volumes.create(spec('data'));
    house.plugin.volumes.set('data', {
      id: 'data',
      name: 'data',
      isFound: true,
      capacityBytes: 1n,
      attached: new Set(),
    });
    await controllerComesBack();
    always(house.plugin, 'ControllerPublishVolume', { code: 'UNAVAILABLE', work: true });
    const publishing = refusalOf(house.volumes.publish(key, 'a'));
    await house.rest();
    await controllerGoes();
    house.plugin.script = () => undefined;
    await house.clock.advance(600_000);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('pending-publish');
    const unpublishing = house.volumes.unpublish(key, 'a');
    await controllerComesBack();
    await unpublishing;
    expect(await publishing).to.include({ code: 'ABORTED' });
    expect([...(house.plugin.volumes.get('data')?.attached ?? [])]).to.deep.equal([]);
  });
});
