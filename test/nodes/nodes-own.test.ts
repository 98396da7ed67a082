/** This runtime's own node, as it reports it by itself. */
import { expect } from 'chai';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import type { NodeStatus } from '../../src/nodes/node-manager.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const own = 'controller-1';

/** A csi-node plugin of this host, that says what the test wants. */
class NodePluginFake {
  said: Fingerprint = { healthy: true, description: 'ready', basic: { ...basics, nodeId: 'n-1', maxVolumes: 9 } };

  connect(): NodePluginFake {
    return this;
  }

  close(): void {}

  async fingerprint(): Promise<Fingerprint> {
    return this.said;
  }
}

const basics = { pluginName: 'fake.example', vendorVersion: '1' };

describe('the node of the runtime itself', () => {
  let house: VolumeHouse;
  let plugin: NodePluginFake;
  beforeEach(async () => {
    plugin = new NodePluginFake();
    house = new VolumeHouse();
    await house.open({ dispensers: { 'csi-controller': house.plugin, 'csi-node': plugin } });
  });
  afterEach(() => house.dispose());

  async function register(name = 'disk'): Promise<void> {
    const connection = { socketPath: `/nowhere/${name}.sock` };
    await house.runtime.plugins.register({ type: 'csi-node', name, allocId: `${name}-1`, connection });
    await house.rest();
  }

  const status = (): Promise<NodeStatus> => house.runtime.nodes.status(own);

  async function say(said: Partial<Fingerprint>): Promise<void> {
    plugin.said = { ...plugin.said, ...said };
    await house.clock.advance(30_000);
  }

  async function reports(): Promise<number> {
    const seen: string[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      for await (const { kind } of house.runtime.nodes.updates({ from: '0', signal: ended.signal })) seen.push(kind);
    })();
    await house.rest();
    ended.abort();
    await reading.catch(() => {});
    return seen.filter((kind) => kind === 'reported').length;
  }

  it('N1 without node plugins it is no node', async () => {
    await house.rest();
    expect(await house.runtime.nodes.list()).to.deep.equal([]);
  });

  it('N1 reports its healthy node plugins, and only what changes', async () => {
    await register('disk');
    await register('another');
    const plugins = ['another', 'disk'].map((name) => ({ name, nodeId: 'n-1', maxVolumes: 9 }));
    expect(await status()).to.deep.equal({ id: own, state: 'ready', plugins });
    await house.clock.advance(300_000);
    expect(await reports()).to.equal(2);
  });

  it('N1 a plugin that says something else of the node is reported anew', async () => {
    await register();
    await say({ basic: { ...basics, nodeId: 'n-2', topology: { zone: 'z1' } } });
    expect((await status()).plugins).to.deep.equal([{ name: 'disk', nodeId: 'n-2', topology: { zone: 'z1' } }]);
  });

  it('N1 one that was never healthy is not reported', async () => {
    plugin.said = { healthy: false, description: 'not yet' };
    await register();
    expect(await house.runtime.nodes.list()).to.deep.equal([]);
  });

  it('N1 one that restarts stays in the report; one that stays away leaves it after a while, and comes back', async () => {
    await register();
    await house.runtime.plugins.deregister('csi-node', 'disk', 'disk-1');
    await house.clock.advance(29_000);
    expect((await status()).plugins).to.have.length(1);
    await register();
    await house.clock.advance(60_000);
    expect(await reports()).to.equal(1);
    await house.runtime.plugins.deregister('csi-node', 'disk', 'disk-1');
    await house.clock.advance(30_000);
    expect(await status()).to.deep.equal({ id: own, state: 'ready', plugins: [] });
    await register();
    expect((await status()).plugins).to.have.length(1);
  });

  it('N1 an unhealthy one leaves it after a while, too', async () => {
    await register();
    await say({ healthy: false, description: 'ill' });
    expect((await status()).plugins).to.have.length(1);
    await house.clock.advance(30_000);
    expect((await status()).plugins).to.have.length(0);
  });

  it('N1 after a restart: not reported as without plugins before these have come up', async () => {
    await register();
    await house.restart();
    await house.clock.advance(60_000);
    expect((await status()).plugins).to.have.length(1);
    expect(await reports()).to.equal(1);
  });

  it('N1 a report of somebody else about it is refused where it says something else, also once it was removed', async () => {
    await register();
    const { nodes } = house.runtime;
    const asked = { id: own, plugins: [{ name: 'other', nodeId: 'n-9' }] };
    const refused = await refusalOf(nodes.report(asked));
    expect(refused.code).to.equal('NODE_REPORTED');
    expect(refused.message).to.include("disk as 'n-1'");
    expect((await status()).plugins.map(({ name }) => name)).to.deep.equal(['disk']);
    await nodes.remove(own);
    await house.rest();
    expect((await refusalOf(nodes.report(asked))).code).to.equal('NODE_REPORTED');
  });

  it('N1 another node has its name at the plugin: it is refused, and every error about it names that node', async () => {
    await house.runtime.nodes.report({ id: 'old', plugins: [{ name: 'disk', nodeId: 'n-1' }] });
    await register();
    await house.register();
    await house.volumes.create(spec('data'));
    const why = "knows node old as 'n-1'";
    expect((await refusalOf(status())).message).to.include(why);
    expect((await refusalOf(house.volumes.publish({ id: 'data' }, own))).message).to.include(why);
    const volume = { name: 'data', volume: { id: 'data' }, mode: 'write', taskPath: '/data' } as const;
    // Whether this host can mount is not looked at then.
    const limits = { timeoutMs: 5_000, wait: true };
    const late = refusalOf(house.runtime.allocations.prepare('a1', [volume], limits));
    await house.clock.advance(5_000);
    expect((await late).message).to.include(why);
  });

  it('N3 called down by mistake, it is ready again once somebody reports what it says itself', async () => {
    await register();
    const { plugins } = await status();
    await house.runtime.nodes.down(own);
    await house.runtime.nodes.report({ id: own, plugins });
    expect((await status()).state).to.equal('ready');
  });

  it('N1 a runtime without node plugins reports no node of its own: somebody else may', async () => {
    await house.runtime.nodes.report({ id: own, plugins: [{ name: 'disk', nodeId: 'n-1' }] });
    expect((await status()).state).to.equal('ready');
  });

  it('N3 called down, it is so until the runtime starts again', async () => {
    await register();
    await house.runtime.nodes.down(own);
    await house.clock.advance(300_000);
    expect((await status()).state).to.equal('down');
    await house.restart();
    expect((await status()).state).to.equal('ready');
  });

  it('N1 what can’t be reported is left out, and does not hinder the others', async () => {
    await register('disk');
    plugin.said = { ...plugin.said, basic: { ...basics, nodeId: 'n'.repeat(300) } };
    await register('odd');
    expect((await status()).plugins.map(({ name, nodeId }) => `${name} ${nodeId}`)).to.deep.equal(['disk n-1']);
  });

  it('N1 nothing is left running after the end', async () => {
    await register();
    await house.runtime.plugins.deregister('csi-node', 'disk', 'disk-1');
    await house.runtime.close();
    expect(house.clock.pending).to.equal(0);
  });
});
