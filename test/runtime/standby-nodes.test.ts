/** Nodes whose agents stand by: what they report reaches the one that leads, whatever becomes of it. */
import { expect } from 'chai';
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { refusalOf } from '../refusal.js';
import { spec } from '../volumes/volume-house.js';
import { type Agent, LeaderLab, leaseTtlMs } from './leader-lab.js';

/** A csi-node plugin that says what the test wants. */
class NodePluginFake {
  maxVolumes = 9;

  constructor(readonly nodeId: string) {}

  connect(): NodePluginFake {
    return this;
  }

  close(): void {}

  async fingerprint(): Promise<Fingerprint> {
    const basic = { pluginName: 'fake.example', vendorVersion: '1', nodeId: this.nodeId, maxVolumes: this.maxVolumes };
    return { healthy: true, description: 'ready', basic };
  }
}

describe('a node whose agent stands by', () => {
  let lab: LeaderLab;
  let first: Agent;
  let second: Agent;
  let plugin: NodePluginFake;
  const soonMs = 2_000;

  const options = (): Partial<RuntimeOptions> => ({
    dispensers: { 'csi-controller': lab.plugin, 'csi-node': plugin },
  });
  async function register({ runtime }: Agent): Promise<void> {
    const connection = { socketPath: '/nowhere/node.sock' };
    await runtime.plugins.register({ type: 'csi-node', name: 'disk', allocId: 'node-1', connection });
    await lab.rest();
  }
  const seen = async ({ runtime }: Agent): Promise<unknown> => {
    const nodes = await runtime.nodes.list();
    return nodes.map(({ id, state, plugins }) => [
      id,
      state,
      plugins.map(({ nodeId, maxVolumes }) => [nodeId, maxVolumes]),
    ]);
  };
  const reported = [['n2', 'ready', [['csi-n2', 9]]]];

  beforeEach(async () => {
    lab = new LeaderLab();
    plugin = new NodePluginFake('csi-n2');
    first = await lab.agent('n1');
    second = await lab.agent('n2', options());
  });
  afterEach(() => lab.dispose());

  it('N1 it is known to the one that leads, and again whenever its plugins change; said once', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    expect(await seen(first)).to.deep.equal(reported);
    expect(await seen(second)).to.deep.equal(reported);
    const { seq } = (await lab.data.load(nodeAddress('n2'))) ?? {};
    await lab.clock.advance(60_000);
    expect(await lab.data.load(nodeAddress('n2'))).to.include({ seq });
    plugin.maxVolumes = 4;
    await lab.clock.advance(60_000);
    expect(await seen(first)).to.deep.equal([['n2', 'ready', [['csi-n2', 4]]]]);
  });

  it('N1 a renamed host: refused until the old node is removed, then accepted; other reports get through', async () => {
    await first.runtime.nodes.report({ id: 'old', plugins: [{ name: 'disk', nodeId: 'csi-n2' }] });
    await register(second);
    await lab.clock.advance(60_000);
    expect(await seen(first)).to.deep.equal([['old', 'ready', [['csi-n2', undefined]]]]);
    const told = first.logged.filter(({ message }) => message.includes("knows node old as 'csi-n2'"));
    expect(told[0]).to.include({ level: 'warn' });
    plugin = new NodePluginFake('csi-n3');
    await register(await lab.agent('n3', options()));
    await lab.clock.advance(soonMs);
    expect((await first.runtime.nodes.list()).map(({ id }) => id)).to.deep.equal(['n3', 'old']);
    await first.runtime.nodes.remove('old');
    await lab.clock.advance(60_000);
    expect((await first.runtime.nodes.list()).map(({ id }) => id)).to.deep.equal(['n2', 'n3']);
  });

  it('N1 a refused report: every error about that node says why, on the leader and on its own agent', async () => {
    await first.runtime.nodes.report({ id: 'old', plugins: [{ name: 'disk', nodeId: 'csi-n2' }] });
    await register(second);
    await lab.clock.advance(60_000);
    const why = "knows node old as 'csi-n2'";
    for (const { runtime } of [first, second]) {
      const { code, message } = await refusalOf(runtime.nodes.status('n2'));
      expect(code).to.equal('NODE_NOT_FOUND');
      expect(message).to.include(why);
    }
    const { volumes } = first.runtime;
    await volumes.create(spec('data'));
    const claim = { allocId: 'a1', nodeId: 'n2', mode: 'write', accessMode: 'single-node-writer' } as const;
    for (const refused of [
      volumes.publish({ id: 'data' }, 'n2'),
      volumes.claim({ id: 'data' }, { ...claim, attachmentMode: 'file-system' }),
    ])
      expect((await refusalOf(refused)).message).to.include(why);
    expect(second.logged.some(({ message }) => message.includes(why))).to.equal(true);
    await first.runtime.nodes.remove('old');
    await lab.clock.advance(60_000);
    await volumes.publish({ id: 'data' }, 'n2');
  });

  it('N1 a report of somebody else about it is refused while its own agent says something else', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    const { nodes } = first.runtime;
    const { code, message } = await refusalOf(nodes.report({ id: 'n2', plugins: [] }));
    expect(code).to.equal('NODE_REPORTED');
    expect(message).to.include("disk as 'csi-n2'");
    expect(await seen(first)).to.deep.equal(reported);
    await nodes.remove('n2');
    await lab.close(second);
    await nodes.report({ id: 'n2', plugins: [{ name: 'disk', nodeId: 'csi-n9' }] });
  });

  it('N1 said while nobody heard it, it reaches the next one that leads', async () => {
    const third = await lab.agent('n3');
    first.freeze();
    await register(second);
    await lab.clock.advance(2 * leaseTtlMs);
    const leaders = [second, third].filter(({ runtime }) => runtime.leadership.isOurs);
    expect(leaders).to.have.length(1);
    await lab.clock.advance(2 * leaseTtlMs);
    expect(await seen(second)).to.deep.equal(reported);
  });

  for (const what of ['down', 'fence'] as const) {
    it(`N3 removed (${what}) before its agent saw the report accepted: the report is not repeated`, async () => {
      const { nodes } = first.runtime;
      const ended = new AbortController();
      const taken = (async () => {
        for await (const { kind } of nodes.updates({ signal: ended.signal }))
          if (kind === 'reported') return what === 'down' ? nodes.down('n2') : nodes.fence('n2', 'it is off');
      })();
      await register(second);
      await lab.clock.advance(soonMs);
      await taken;
      await lab.clock.advance(60_000);
      expect(await seen(first)).to.deep.equal([['n2', 'down', [['csi-n2', 9]]]]);
      plugin.maxVolumes = 4;
      await lab.clock.advance(60_000);
      expect(await seen(first)).to.deep.equal([['n2', 'ready', [['csi-n2', 4]]]]);
    });
  }

  for (const isFirst of [true, false]) {
    it(`N3 removed before its agent saw its ${isFirst ? 'first' : 'next'} report accepted: not repeated`, async () => {
      const { nodes } = first.runtime;
      if (!isFirst) {
        await register(second);
        await lab.clock.advance(soonMs);
        plugin.maxVolumes = 5;
      }
      const ended = new AbortController();
      const taken = (async () => {
        for await (const { kind } of nodes.updates({ signal: ended.signal }))
          if (kind === 'reported') return nodes.remove('n2');
      })();
      if (isFirst) await register(second);
      await lab.clock.advance(60_000);
      await taken;
      await lab.clock.advance(60_000);
      expect(await seen(first)).to.deep.equal([]);
      if (!isFirst) expect((await lab.data.readTopic('node-reports', 0, 99)).rows).to.have.length(2);
      plugin.maxVolumes = 4;
      await lab.clock.advance(60_000);
      expect(await seen(first)).to.deep.equal([['n2', 'ready', [['csi-n2', 4]]]]);
    });
  }

  it('N1 said again by an agent that did not see it heard: once is enough', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    const [row] = (await lab.data.readTopic('node-reports', 0, 10)).rows;
    await first.runtime.nodes.down('n2');
    await lab.data.appendTopic('node-reports', [{ source: 'node/n2', seq: 9, index: 9, text: row?.text ?? '' }]);
    await lab.clock.advance(soonMs);
    expect(await seen(first)).to.deep.equal([['n2', 'down', [['csi-n2', 9]]]]);
  });

  it('N3 called down after that, it is so until its agent starts again', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    await first.runtime.nodes.down('n2');
    await lab.clock.advance(60_000);
    expect(await seen(first)).to.deep.equal([['n2', 'down', [['csi-n2', 9]]]]);
    await lab.close(second);
    second = await lab.agent('n2', options());
    await register(second);
    await lab.clock.advance(soonMs);
    expect(await seen(first)).to.deep.equal(reported);
  });
});
