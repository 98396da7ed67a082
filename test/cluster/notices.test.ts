/** Notices of the agent that works on volumes to the agents that have them mounted. */
import { expect } from 'chai';
import { Cluster } from '../../src/cluster/cluster.js';
import { MessageCounts } from '../../src/cluster/message-counts.js';
import type { Notice } from '../../src/cluster/messages.js';
import { silentLogger } from '../../src/engine/logger.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { MemoryWires } from '../support/memory-wire.js';

describe('notices between agents', () => {
  const volume = { namespace: 'default', id: 'data' };
  let clock: SimulatedClock;
  let wires: MemoryWires;
  let noticed: string[];
  const clusters: Cluster[] = [];

  beforeEach(() => {
    clock = simulatedClock();
    wires = new MemoryWires({ clock, random: seededRandom(1) });
    noticed = [];
  });
  afterEach(async () => {
    for (const cluster of clusters.splice(0)) await cluster.stop();
  });

  async function agent(nodeId: string, run = '1'): Promise<{ cluster: Cluster; messages: MessageCounts }> {
    const messages = new MessageCounts();
    const cluster = new Cluster({
      ...{ wire: wires.wire(), messages, nodeId, run, clock, logger: silentLogger },
      route: async () => undefined,
      refusal: () => undefined,
      epoch: () => 1,
      released: () => undefined,
    });
    clusters.push(cluster);
    await cluster.start({
      entry: () => ({ host: 'h', version: '1', startedAtMs: 0, plugins: {} }),
      watch: () => () => {},
      noticed: ({ volume: { id }, kind }) => void noticed.push(`${nodeId}/${run} ${id} ${kind}`),
    });
    return { cluster, messages };
  }

  it('V9 N3 each kind is heard by the agent of the node alone, one that has just started too', async () => {
    const { cluster: owner, messages: ofOwner } = await agent('a');
    await owner.roster.read();
    const { messages } = await agent('b');
    const kinds: Notice['kind'][] = ['expanded', 'claim-lost', 'hold-lost'];
    for (const kind of kinds) await owner.notify('b', { volume, kind });
    await clock.advance(10);
    expect(noticed).to.deep.equal(kinds.map((kind) => `b/1 data ${kind}`));
    expect([messages.of('accepted'), ofOwner.of('accepted')]).to.deep.equal([3, 0]);
  });

  it('V9 N3 the agent has started again: the new run hears them; no such node, or no store: they are lost', async () => {
    const { cluster: owner } = await agent('a');
    const { cluster: former } = await agent('b');
    await owner.roster.read();
    await former.stop();
    await agent('b', '2');
    await owner.notify('b', { volume, kind: 'expanded' });
    await owner.notify('none', { volume, kind: 'expanded' });
    wires = new MemoryWires({ clock, random: seededRandom(1), faults: { failed: 1, lost: 1 } });
    const { cluster: cutOff } = await agent('c');
    await agent('d');
    await cutOff.notify('d', { volume, kind: 'expanded' });
    await clock.advance(10);
    expect(noticed).to.deep.equal(['b/2 data expanded']);
  });

  it('D11 a notice of a kind or form that is not known is ignored and counted', async () => {
    const { messages } = await agent('b');
    for (const more of [{ kind: 'renamed', volume }, { kind: 'expanded', volume: 'data' }, { kind: 'expanded' }])
      await wires.wire().post('b/1', JSON.stringify({ format: 1, type: 'notice', id: 'a/1', ...more }));
    await clock.advance(10);
    expect([noticed, messages.of('malformed')]).to.deep.equal([[], 3]);
  });
});
