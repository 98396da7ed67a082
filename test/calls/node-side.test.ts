/** Node side of the plugins of a host, as calls see it: plugins really registered, probed on a simulated clock. */
import { expect } from 'chai';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import { PluginAccess } from '../../src/calls/plugin-access.js';
import { PluginRegistry } from '../../src/registry/plugin-registry.js';
import { nodeSidePort } from '../../src/runtime/plugin-port.js';
import { refusalOf } from '../refusal.js';
import { FakeKind } from '../registry/fake-kind.js';
import { device, House } from '../registry/house.js';

const found: Fingerprint = {
  healthy: true,
  description: 'ready',
  basic: { pluginName: 'disk.csi.test', vendorVersion: '1', pluginCapabilities: ['CONTROLLER_SERVICE'], nodeId: 'n-1' },
  capabilities: ['STAGE_UNSTAGE_VOLUME'],
};
const disk = device('disk-1', { type: 'csi-node', name: 'disk' });

describe('the node side of a plugin, for its calls', () => {
  let house: House;
  let node: FakeKind;
  let controller: FakeKind;

  beforeEach(async () => {
    house = new House();
    node = new FakeKind();
    controller = new FakeKind();
    node.find = () => found;
    controller.find = () => ({ ...found, capabilities: ['CREATE_DELETE_VOLUME'] });
    await house.open({ dispensers: { 'csi-node': node, 'csi-controller': controller } });
  });
  afterEach(() => house.dispose());

  const port = (tasks: string[] = []) => {
    const { plugins } = house.runtime;
    if (!(plugins instanceof PluginRegistry)) throw new Error('the runtime has plugins of another kind');
    return nodeSidePort(plugins, (type, plugin) => tasks.find((task) => type === 'csi-node' && task === plugin));
  };

  it('M2 capabilities come from the node service, the client from csi-node, not from the controller side', async () => {
    await house.register({ ...disk, type: 'csi-controller', allocId: 'disk-0' }, disk);
    const { observation, client, isKnown } = port();
    expect(observation('disk')).to.deep.equal({
      capabilities: new Set(['STAGE_UNSTAGE_VOLUME']),
      pluginCapabilities: new Set(['CONTROLLER_SERVICE']),
      hasService: true,
      wellAtMs: house.clock.now(),
      driver: 'disk.csi.test',
      scope: 'shared',
    });
    expect(isKnown('disk')).to.equal(true);
    expect(await client('disk')).to.equal(node.clients[0]);
  });

  it('H3 only the controller side registered here: calls to the node side wait, with the reason', async () => {
    await house.register({ ...disk, type: 'csi-controller' });
    expect(port().isKnown('disk')).to.equal(false);
    const access = new PluginAccess(port(), { clock: house.clock, maxInFlight: 1 });
    expect(access.obstacle({ plugin: 'disk' })).to.equal(
      "plugin 'disk' can't be called: its node side is not registered here: register it as csi-node",
    );
    const { signal } = new AbortController();
    const waiting = access.enter({ plugin: 'disk' }, { signal, waits: () => {} });
    await house.register(disk);
    expect((await waiting).observation.capabilities).to.deep.equal(new Set(['STAGE_UNSTAGE_VOLUME']));
  });

  it('T7 H3 plugin not registered, but a task for it exists: the reason names the task and how to start it', async () => {
    const access = new PluginAccess(port(['disk']), { clock: house.clock, maxInFlight: 1 });
    expect(access.obstacle({ plugin: 'disk' })).to.equal(
      "plugin 'disk' can't be called: its node side is not registered here: its task disk has not brought it up, see stagecraft task status disk",
    );
    expect(access.obstacle({ plugin: 'other' })).to.include('register it as csi-node');
  });

  it('H3 plugin healthy in an earlier run, not probed yet in this run: no call before the probe', async () => {
    await house.register(disk);
    const told = node.hold();
    await house.restart();
    await house.rest();
    expect(port().observation('disk')).to.deep.include({ troubleKind: 'unseen', trouble: 'it was not seen well yet' });
    told(found);
    await house.rest();
    expect(port().observation('disk')).not.to.have.property('trouble');
  });

  it('M2 capabilities are unknown until they are read; read again on request', async () => {
    const { capabilities: _, ...unread } = found;
    node.find = () => unread;
    await house.register(disk);
    expect(port().observation('disk')).not.to.have.any.keys('capabilities', 'trouble');
    const changed: unknown[] = [];
    const stop = port().watch('disk', () => changed.push(port().observation('disk').capabilities));
    node.find = () => found;
    port().lookAgain('disk');
    await house.clock.advance(100);
    stop();
    expect(changed.at(-1)).to.deep.equal(new Set(['STAGE_UNSTAGE_VOLUME']));
  });

  it('M2 plugin unhealthy: calls get the reason, and end when they are cancelled', async () => {
    node.find = () => ({ ...found, healthy: false, description: 'its disk is on fire' });
    await house.register(disk);
    const access = new PluginAccess(port(), { clock: house.clock, maxInFlight: 1 });
    const limit = new AbortController();
    const reasons: string[] = [];
    const waiting = refusalOf(
      access.enter(
        { plugin: 'disk' },
        { signal: limit.signal, waitMs: 1_000, waits: (reason) => reasons.push(reason) },
      ),
    );
    await house.clock.advance(1_000);
    expect(await waiting).to.include({ code: 'PLUGIN_UNAVAILABLE' });
    expect(reasons).to.deep.equal(["plugin 'disk' can't be called: its disk is on fire"]);
  });
});
