/** Tests the reports of a runtime about its own node. */
import { expect } from 'chai';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import { silentLogger } from '../../src/engine/logger.js';
import { troubleOf } from '../../src/inspector/trouble.js';
import type { NodeStatus } from '../../src/nodes/node-manager.js';
import { NodeReporter } from '../../src/nodes/node-reporter.js';
import { refusalOf } from '../refusal.js';
import { spec, VolumeHouse } from '../volumes/volume-house.js';

const own = 'controller-1';

/** Fake csi-node plugin of this host, scripted by the test. */
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

describe('own node of a runtime', () => {
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

  it('N1 no node plugins: no node', async () => {
    await house.rest();
    expect(await house.runtime.nodes.list()).to.deep.equal([]);
  });

  it('N1 healthy node plugins are reported, then only changes', async () => {
    await register('disk');
    await register('another');
    const plugins = ['another', 'disk'].map((name) => ({ name, nodeId: 'n-1', maxVolumes: 9 }));
    expect(await status()).to.deep.equal({ id: own, state: 'ready', plugins });
    await house.clock.advance(300_000);
    expect(await reports()).to.equal(2);
  });

  it('N1 plugin with new data of the node: reported again', async () => {
    await register();
    await say({ basic: { ...basics, nodeId: 'n-2', topology: { zone: 'z1' } } });
    expect((await status()).plugins).to.deep.equal([{ name: 'disk', nodeId: 'n-2', topology: { zone: 'z1' } }]);
  });

  it('N1 plugin that was never healthy: not reported', async () => {
    plugin.said = { healthy: false, description: 'not yet' };
    await register();
    expect(await house.runtime.nodes.list()).to.deep.equal([]);
  });

  it('N1 plugin restarts: stays in the report; away for longer: leaves it, and comes back later', async () => {
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

  it('N1 unhealthy plugin: leaves the report after the grace time', async () => {
    await register();
    await say({ healthy: false, description: 'ill' });
    expect((await status()).plugins).to.have.length(1);
    await house.clock.advance(30_000);
    expect((await status()).plugins).to.have.length(0);
  });

  it('N1 restart of the runtime: the report keeps its plugins while they come up', async () => {
    await register();
    await house.restart();
    await house.clock.advance(60_000);
    expect((await status()).plugins).to.have.length(1);
    expect(await reports()).to.equal(1);
  });

  it('N1 another caller reports other plugins for this node: refused, even after its removal', async () => {
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

  it('N1 another node has its CSI node id: the report is refused, every error names that node', async () => {
    await house.runtime.nodes.report({ id: 'old', plugins: [{ name: 'disk', nodeId: 'n-1' }] });
    await register();
    await house.register();
    await house.volumes.create(spec('data'));
    const why = "knows node old as 'n-1'";
    expect((await refusalOf(status())).message).to.include(why);
    expect((await refusalOf(house.volumes.publish({ id: 'data' }, own))).message).to.include(why);
    const volume = { name: 'data', volume: { id: 'data' }, mode: 'write', taskPath: '/data' } as const;
    // The refusal comes before the check whether this host can mount.
    const limits = { timeoutMs: 5_000, wait: true };
    const late = refusalOf(house.runtime.allocations.prepare('a1', [volume], limits));
    await house.clock.advance(5_000);
    expect((await late).message).to.include(why);
  });

  it('N3 marked down by mistake: ready again after a report with the same plugins', async () => {
    await register();
    const { plugins } = await status();
    await house.runtime.nodes.down(own);
    await house.runtime.nodes.report({ id: own, plugins });
    expect((await status()).state).to.equal('ready');
  });

  it('N1 runtime without node plugins: another caller may report its node', async () => {
    await house.runtime.nodes.report({ id: own, plugins: [{ name: 'disk', nodeId: 'n-1' }] });
    expect((await status()).state).to.equal('ready');
  });

  it('N3 marked down: stays down until the runtime restarts', async () => {
    await register();
    await house.runtime.nodes.down(own);
    await house.clock.advance(300_000);
    expect((await status()).state).to.equal('down');
    await house.restart();
    expect((await status()).state).to.equal('ready');
  });

  it('N3, 34.26 fenced while the agent lives on, with nothing mounted: reports again by itself', async () => {
    await register();
    await house.runtime.nodes.fence(own, 'by mistake');
    expect((await status()).state).to.equal('down');
    await house.clock.advance(20_000);
    expect(await status())
      .to.deep.include({ state: 'ready' })
      .and.not.have.property('fence');
    expect(await reports()).to.equal(2);
  });

  it('N3, 34.26 fenced with volumes still mounted: not reported, and a warning names five of them', async () => {
    const { clock } = house;
    const fence = { reason: 'by mistake', at: 0, isDone: true };
    const mounted = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => ({ namespace: 'default', id }));
    const warnings: string[] = [];
    const reported: string[] = [];
    const reporter = new NodeReporter({
      ...{ nodeId: own, clock },
      plugins: { present: () => new Map([['disk', { name: 'disk', nodeId: 'n-1' }]]), watch: () => () => {} },
      nodes: { find: async () => ({ id: own, state: 'down', plugins: [], fence }) },
      mounted: () => mounted,
      reports: { report: async ({ id }) => void reported.push(id) },
      logger: { ...silentLogger, warn: (_, message) => void warnings.push(message) },
    });
    reporter.start();
    await clock.advance(5_000);
    expect(warnings).to.deep.equal([
      "cannot report this node now: the node was fenced (by mistake), and volumes are still mounted here, or may be: default/a, default/b, default/c, default/d, default/e and 2 more; see 'stagecraft mount list'",
    ]);
    expect(reported).to.deep.equal([]);
    mounted.length = 0;
    await clock.advance(5_000);
    expect(reported).to.deep.equal([own]);
    reporter.stop();
  });

  it('N1, 34.26 fenced and down: the advice is to see what is mounted there, or to take the node out', () => {
    const summary = { address: 'node/a', machine: 'node', state: 'down.fenced', health: 'failed', seq: 1 } as const;
    const trouble = troubleOf({ ...summary, why: 'down and fenced' });
    expect(trouble?.todo).to.include('once nothing is mounted there').and.include('take the node out');
    expect(trouble?.command).to.equal('stagecraft node remove a');
  });

  it('N1 plugin with invalid data: left out, the others are reported', async () => {
    await register('disk');
    plugin.said = { ...plugin.said, basic: { ...basics, nodeId: 'n'.repeat(300) } };
    await register('odd');
    expect((await status()).plugins.map(({ name, nodeId }) => `${name} ${nodeId}`)).to.deep.equal(['disk n-1']);
  });

  it('N1 no timer remains after the runtime is closed', async () => {
    await register();
    await house.runtime.plugins.deregister('csi-node', 'disk', 'disk-1');
    await house.runtime.close();
    expect(house.clock.pending).to.equal(0);
  });
});
