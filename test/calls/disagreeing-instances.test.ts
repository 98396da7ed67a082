/** Instances of one plugin that do not offer the same: one that was registered by mistake must not speak for the plugin. */
import { expect } from 'chai';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { Dispenser } from '../../src/registry/dispenser.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { keptOpen } from '../support/faulty-store.js';
import { FakePlugin } from '../volumes/fake-plugin.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { id: 'data' };

describe('instances of a plugin that disagree', () => {
  let house: VolumeHouse;
  let plugins: Record<string, FakePlugin>;

  /** The instance that serves. */
  const right = (): FakePlugin => pluginOf('right');
  const pluginOf = (allocId: string): FakePlugin => {
    plugins[allocId] ??= new FakePlugin();
    return plugins[allocId];
  };

  const dispenser: Dispenser<FakePlugin> = {
    connect: ({ allocId }: PluginInfo) => pluginOf(allocId),
    fingerprint: (client) => client.look(),
    close: () => {},
  };

  beforeEach(async () => {
    plugins = {};
    house = new VolumeHouse();
    house.store = keptOpen(memoryStore());
    await house.open({ dispensers: { 'csi-controller': dispenser, 'csi-node': dispenser } });
    await house.runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
  });
  afterEach(() => house.dispose());

  const register = async (allocId: string, type = 'csi-controller'): Promise<void> => {
    const connection = { socketPath: `/nowhere/${allocId}.sock` };
    await house.runtime.plugins.register({ type, name: pluginName, allocId, connection });
    await house.rest();
  };
  const deregister = async (allocId: string, type = 'csi-controller'): Promise<void> => {
    await house.runtime.plugins.deregister(type, pluginName, allocId);
    await house.rest();
  };
  const whyOf = async (): Promise<string | undefined> => (await house.volumes.get(key))?.error?.message;
  const toldBy = (): string[] =>
    Object.entries(plugins).flatMap(([id, one]) => one.told().map((line) => `${id} ${line}`));

  /** Instance with another idea of the plugin. */
  const wrong = (how: Partial<Pick<FakePlugin, 'capabilities' | 'pluginCapabilities' | 'health'>>): FakePlugin =>
    Object.assign(pluginOf('wrong'), how);
  const nodeOnly = { capabilities: ['STAGE_UNSTAGE_VOLUME'], pluginCapabilities: [] };
  const silent = {
    capabilities: undefined,
    health: { healthy: true, description: 'ready; ControllerGetCapabilities is UNIMPLEMENTED' },
  };

  for (const [what, how] of [
    ['has no controller service', nodeOnly],
    ['makes no volumes', { capabilities: ['PUBLISH_UNPUBLISH_VOLUME'] }],
    ['does not say what it offers', silent],
    ['is unhealthy', { health: { healthy: false, description: 'it is down' } }],
  ] as const) {
    it(`34.2 the newest instance ${what}: the healthy one beside it gets the calls`, async () => {
      wrong(how as Partial<FakePlugin>);
      await register('right');
      await register('wrong');
      await house.volumes.create(spec('data'));
      await house.volumes.publish(key, 'a');
      await house.volumes.unpublish(key, 'a');
      await house.volumes.delete(key);
      expect(toldBy()).to.deep.equal([
        'right CreateVolume: OK',
        'right ControllerPublishVolume csi-a: OK',
        'right ControllerUnpublishVolume csi-a: OK',
        'right DeleteVolume: OK',
      ]);
    });
  }

  it('34.2 an instance without the service, the right one unhealthy: the creation waits, naming both', async () => {
    wrong(nodeOnly);
    right().health = { healthy: false, description: 'it is down' };
    await register('right');
    await register('wrong');
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    expect(await whyOf())
      .to.include('instance right: it is down')
      .and.include('instance wrong: it says that the plugin has no controller service');
    right().health = { healthy: true, description: 'ready' };
    await house.clock.advance(60_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', origin: 'call' });
  });

  it('34.2 an instance that makes no volumes, the right one unhealthy: the creation waits, naming both', async () => {
    await register('right');
    right().health = { healthy: false, description: 'it is down' };
    await house.clock.advance(60_000);
    wrong({ capabilities: ['PUBLISH_UNPUBLISH_VOLUME'] });
    await register('wrong');
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    const { csiId, error } = (await house.volumes.get(key)) ?? {};
    expect([csiId, error?.code]).to.deep.equal([undefined, 'PLUGIN_LACKS']);
    expect(error?.message)
      .to.include("instance wrong of plugin 'disk' does not offer CREATE_DELETE_VOLUME")
      .and.include("instance right of plugin 'disk' does");
    await deregister('right');
    await house.clock.advance(300_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', origin: 'found' });
  });

  it('34.2 the only instance does not say what it offers: the reason names it, with what it says', async () => {
    wrong(silent);
    await register('wrong');
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    expect(await whyOf())
      .to.include('instance wrong does not say what it offers')
      .and.include('ControllerGetCapabilities is UNIMPLEMENTED');
  });

  it('34.2 no controller left, and the node side denies one: a new volume waits where a call has made others', async () => {
    pluginOf('node').pluginCapabilities = [];
    await register('node', 'csi-node');
    await register('right');
    await house.volumes.create(spec('first'));
    await deregister('right');
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    expect((await house.volumes.get(key))?.csiId).to.equal(undefined);
    expect(await whyOf()).to.include('the plugin has created volume default/first');
    await register('right');
    await house.clock.advance(300_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', origin: 'call' });
  });

  it('34.2 no controller left, and the agent restarts: a new volume waits all the same', async () => {
    pluginOf('node').pluginCapabilities = [];
    await register('node', 'csi-node');
    await register('right');
    await house.volumes.create(spec('first'));
    await deregister('right');
    await house.restart();
    const late = refusalOf(house.volumes.create(spec('data'), { timeoutMs: 1_000 }));
    await house.clock.advance(1_000);
    expect((await late).message).to.include('the plugin has created volume default/first');
    await register('right');
    await house.clock.advance(300_000);
    expect(await house.volumes.get(key)).to.include({ state: 'created', origin: 'call' });
  });

  it('34.2 a controller says that there is none, the node side says that there is: the creation waits', async () => {
    wrong(nodeOnly);
    await register('node', 'csi-node');
    await register('wrong');
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    expect((await house.volumes.get(key))?.csiId).to.equal(undefined);
    expect(await whyOf())
      .to.include('instance wrong')
      .and.include('its controller side is not registered');
  });

  it('34.2 all instances agree that there is no controller service: found without a call', async () => {
    pluginOf('node').pluginCapabilities = [];
    wrong(nodeOnly);
    await register('node', 'csi-node');
    await register('wrong');
    expect(await house.volumes.create(spec('data'))).to.include({ state: 'created', origin: 'found' });
    expect(toldBy()).to.deep.equal([]);
  });
});
