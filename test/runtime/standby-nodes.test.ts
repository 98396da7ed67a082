/** Nodes whose agents stand by: what they report reaches the one that leads, whatever becomes of it and of the wire. */
import { expect } from 'chai';
import { nodeAddress } from '../../machines/kit/addresses.js';
import type { NodeContext } from '../../machines/node/node.js';
import type { Fingerprint } from '../../machines/plugin/plugin.js';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { refusalOf } from '../refusal.js';
import { MemoryWires, type WireFaults } from '../support/memory-wire.js';
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
  function wires(faults: Partial<WireFaults> = {}): void {
    lab.wires = new MemoryWires({ clock: lab.clock, random: seededRandom(3), faults });
  }
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
  /** Mark of the last report of n2 that was accepted. */
  const heard = async (): Promise<unknown> => {
    const stored = await lab.data.load(nodeAddress('n2'));
    const context: Partial<NodeContext> = Object(stored && decodeRecord(stored.text).snapshot?.context);
    return context.heard;
  };
  const reported = [['n2', 'ready', [['csi-n2', 9]]]];

  beforeEach(async () => {
    lab = new LeaderLab();
    wires();
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

  it('O4, 34.7 its own record is of a later version: it asks the one that leads, instead of reporting nothing', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    const address = nodeAddress('n2');
    const stored = await lab.data.load(address);
    if (!stored) throw new Error('it is not known');
    const { seq: expectedSeq, epoch, owner } = stored;
    const text = JSON.stringify({ ...JSON.parse(stored.text), version: '99' });
    await lab.data.commit([{ address, commitId: 'later', expectedSeq, epoch, owner, text, journal: '{}' }]);
    second.die();
    await lab.clock.advance(16_000);
    const again = await lab.agent('n2', options());
    await lab.clock.advance(60_000);
    const refused = again.logged.filter(({ message }) => message.includes('only the agent that leads can read'));
    expect(refused.map(({ message }) => message)).to.deep.equal([]);
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

  it('N1 D11 two node plugins with one CSI node id: both named in logs and errors on both hosts', async () => {
    await register(second);
    await lab.clock.advance(soonMs);
    const third = await lab.agent('n3', options());
    await register(third);
    await lab.clock.advance(60_000);
    const why = "cannot register node n3: plugin 'disk' knows node n2 as 'csi-n2'";
    for (const { runtime, logged } of [first, third]) {
      expect(logged.filter(({ message }) => message.includes(why))).to.have.length(1);
      expect((await refusalOf(runtime.nodes.status('n3'))).message).to.include(why);
    }
    plugin.maxVolumes = 4;
    await lab.clock.advance(60_000);
    expect(await seen(third)).to.deep.equal([['n2', 'ready', [['csi-n2', 4]]]]);
  });

  it('N1 reports over a wire that loses, doubles and reorders texts: each is heard once, the last stays', async () => {
    wires({ lost: 0.3, doubled: 0.3, overtaken: 0.3, failed: 0.1, longestDelayMs: 2_000 });
    await lab.close(first);
    await lab.close(second);
    first = await lab.agent('n1');
    second = await lab.agent('n2', options());
    await register(second);
    for (const maxVolumes of [8, 7, 6, 5]) {
      plugin.maxVolumes = maxVolumes;
      await lab.clock.advance(60_000);
    }
    expect(await seen(first)).to.deep.equal([['n2', 'ready', [['csi-n2', 5]]]]);
    expect(await heard()).to.include({ number: 5 });
  });

  for (const what of ['down', 'fence', 'remove'] as const) {
    it(`N3 ${what} before the answer to a report, which was lost: its repeat changes nothing`, async () => {
      lab.wires?.freeze('n2/');
      await register(second);
      await lab.clock.advance(soonMs);
      expect(await seen(first)).to.deep.equal(reported);
      await first.runtime.nodes[what]('n2', 'it is off');
      lab.wires?.flush();
      lab.wires?.thaw('n2/');
      // Long enough for the repeat, and too short for a look at the fence, after which the agent reports anew.
      await lab.clock.advance(what === 'fence' ? 8_000 : 60_000);
      const after = what === 'remove' ? [] : [['n2', 'down', [['csi-n2', 9]]]];
      expect(await seen(first)).to.deep.equal(after);
      plugin.maxVolumes = 4;
      await lab.clock.advance(60_000);
      expect(await seen(first)).to.deep.equal([['n2', 'ready', [['csi-n2', 4]]]]);
    });
  }

  it('N3 down before its report was answered by an owner that dies: the next one ignores the repeat', async () => {
    const third = await lab.agent('n3');
    lab.wires?.freeze('n2/');
    await register(second);
    await lab.clock.advance(soonMs);
    await first.runtime.nodes.down('n2');
    const mark = await heard();
    second.freeze();
    first.die();
    await lab.clock.advance(2 * leaseTtlMs);
    expect(third.runtime.leadership.isOurs).to.equal(true);
    lab.wires?.flush();
    lab.wires?.thaw('n2/');
    second.thaw();
    await lab.clock.advance(60_000);
    expect(await seen(third)).to.deep.equal([['n2', 'down', [['csi-n2', 9]]]]);
    expect(await heard()).to.deep.equal(mark);
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
