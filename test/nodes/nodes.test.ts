/** Tests `runtime.nodes`: reports, events, and nodes as targets of volumes. */
import { expect } from 'chai';
import type { NodeUpdate } from '../../src/nodes/node-kind.js';
import { inOrder } from '../volumes/scripts.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const data = { id: 'data' };
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('nodes', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
  });
  afterEach(() => house.dispose());

  const rejected = async (work: Promise<unknown>): Promise<Record<string, unknown>> => {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error as Record<string, unknown>;
  };

  async function updates(from = '0'): Promise<NodeUpdate[]> {
    const seen: NodeUpdate[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      for await (const event of house.runtime.nodes.updates({ from, signal: ended.signal })) seen.push(event);
    })();
    await house.rest();
    ended.abort();
    await reading.catch(() => {});
    return seen;
  }

  it('N1 list: all nodes in order, each with its last report', async () => {
    const { nodes } = house.runtime;
    const topology = { zone: 'z1' };
    await nodes.report({ id: 'b', plugins: [{ name: 'net', nodeId: 'n-b', topology, maxVolumes: 3 }] });
    expect(await nodes.status('b')).to.deep.equal({
      id: 'b',
      state: 'ready',
      plugins: [{ name: 'net', nodeId: 'n-b', topology, maxVolumes: 3 }],
    });
    expect((await nodes.list()).map(({ id, state }) => `${id} ${state}`)).to.deep.equal([
      'a ready',
      'b ready',
      'c ready',
    ]);
  });

  it('N1 changes emit events in order; a repeated report emits none', async () => {
    const { nodes } = house.runtime;
    const last = (await updates()).at(-1)?.id;
    const plugins = [{ name: pluginName, nodeId: 'csi-a' }];
    await nodes.report({ id: 'a', plugins });
    await nodes.down('a');
    await nodes.report({ id: 'a', plugins });
    await nodes.fence('a', 'burnt');
    await nodes.remove('b');
    const seen = await updates(last);
    expect(seen.map(({ id: _, at: __, ...told }) => told)).to.deep.equal([
      { kind: 'down', nodeId: 'a' },
      { kind: 'reported', nodeId: 'a', plugins },
      { kind: 'fenced', nodeId: 'a', reason: 'burnt' },
      { kind: 'gone', nodeId: 'b' },
    ]);
    expect(seen.every(({ at }) => at === house.clock.now())).to.equal(true);
  });

  it('N1 invalid report: all faults with their paths, nothing changes', async () => {
    const { nodes } = house.runtime;
    const report = {
      id: '',
      plugins: [
        { name: 'x', nodeId: '', topology: {}, maxVolumes: 0 },
        { name: 'x', nodeId: 'n'.repeat(257), more: 1 },
      ],
    };
    const error = await rejected(nodes.report(report));
    expect(error.code).to.equal('INVALID_ARGUMENT');
    const paths = (error.faults as string[]).map((fault) => fault.slice(0, fault.indexOf(':')));
    expect(paths).to.have.members([
      'id',
      'plugins[0].nodeId',
      'plugins[0].topology',
      'plugins[0].maxVolumes',
      'plugins[1].nodeId',
      'plugins[1].name',
      'plugins[1].more',
    ]);
    expect(await nodes.list()).to.have.length(3);
  });

  it('N1 CSI node id of another node: refused, naming that node, until that one is removed', async () => {
    const { nodes } = house.runtime;
    const plugins = [
      { name: 'net', nodeId: 'n-a' },
      { name: pluginName, nodeId: 'csi-a' },
    ];
    for (const down of [() => Promise.resolve(), () => nodes.down('a')]) {
      await down();
      const error = await rejected(nodes.report({ id: 'renamed', plugins }));
      expect(error).to.include({ code: 'NODE_EXISTS', address: 'node/renamed' });
      expect(error.message).to.include("plugin 'disk' knows node a as 'csi-a'").and.include('remove node a first');
    }
    expect((await nodes.list()).map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
    await nodes.remove('a');
    await nodes.report({ id: 'renamed', plugins });
    expect(await rejected(nodes.report({ id: 'a', plugins }))).to.include({ code: 'NODE_EXISTS' });
    // Another plugin may use the same id, and an id that a node no longer has is free.
    await nodes.report({ id: 'b', plugins: [{ name: 'net', nodeId: 'csi-a' }] });
    await nodes.report({ id: 'c', plugins: [{ name: pluginName, nodeId: 'csi-b' }] });
  });

  it('V8 N1 host renamed, old node removed: published on the new node after the old one is unpublished', async () => {
    const { volumes, runtime, plugin } = house;
    await volumes.create(spec('data'));
    await volumes.publish(data, 'a', { capability: shared });
    inOrder(plugin, 'ControllerUnpublishVolume', [{ code: 'UNAVAILABLE' }]);
    await runtime.nodes.remove('a');
    await house.rest();
    await runtime.nodes.report({ id: 'renamed', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
    const published = volumes.publish(data, 'renamed', { capability: shared });
    await house.rest();
    expect((await volumes.get(data))?.publications.renamed?.state).to.equal('pending-publish');
    await house.clock.advance(60_000);
    await published;
    expect(plugin.told().slice(-2)).to.deep.equal([
      'ControllerUnpublishVolume csi-a: OK',
      'ControllerPublishVolume csi-a: OK',
    ]);
  });

  it('N1 two nodes report one CSI node id at once: the first is accepted', async () => {
    const { nodes } = house.runtime;
    const plugins = [{ name: pluginName, nodeId: 'csi-d' }];
    const [first, second] = await Promise.allSettled(['d', 'e'].map((id) => nodes.report({ id, plugins })));
    expect(first).to.include({ status: 'fulfilled' });
    expect(second).to.deep.include({ status: 'rejected' }).and.nested.include({ 'reason.code': 'NODE_EXISTS' });
    expect((await nodes.list()).map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('N1 other calls: wrong arguments refused; unknown nodes and volumes named', async () => {
    const { nodes } = house.runtime;
    const codes = async (...work: Promise<unknown>[]): Promise<unknown[]> =>
      (await Promise.all(work.map(rejected))).map((error) => error?.code);
    expect(await codes(nodes.fence('a', ' '), nodes.down(''), nodes.status(''), nodes.remove(''))).to.deep.equal(
      Array(4).fill('INVALID_ARGUMENT'),
    );
    expect(await codes(nodes.fence('x', 'why'), nodes.down('x'), nodes.status('x'), nodes.remove('x'))).to.deep.equal(
      Array(4).fill('NODE_NOT_FOUND'),
    );
    const long = await rejected(nodes.fence('a', 'x'.repeat(1_025)));
    expect(long.faults).to.deep.equal(['the reason: must have at most 1024 characters']);
    expect((await rejected(nodes.fence('a', ' '))).faults).to.deep.equal(['the reason: must not be empty']);
    await house.volumes.create(spec('data'));
    const first = { claimGeneration: 1 };
    expect(
      await codes(
        nodes.reportUnstaged('x', data, first),
        nodes.reportUnstaged('a', { id: 'other' }, first),
        nodes.reportUnstaged('a', data, { claimGeneration: -1 }),
        nodes.reportUnstaged('a', { id: '' }, first),
      ),
    ).to.deep.equal(['NODE_NOT_FOUND', 'VOLUME_NOT_FOUND', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']);
  });

  it('N3 node is down: keeps its publications, gets no new ones, even with claims; works again when back', async () => {
    const { volumes, runtime } = house;
    await volumes.create(spec('data'));
    await volumes.create(spec('more'));
    await volumes.publish(data, 'a');
    await runtime.nodes.down('a');
    expect((await volumes.get(data))?.publications.a?.state).to.equal('published');
    const error = await rejected(volumes.publish({ id: 'more' }, 'a'));
    expect(error).to.include({ code: 'NODE_NOT_READY' });
    expect(error.message).to.match(/until it reports, as its agent does when it is started$/);
    const claim = { allocId: 'w', nodeId: 'a', mode: 'write', ...shared } as const;
    expect(await rejected(volumes.claim({ id: 'more' }, claim))).to.include({ code: 'NODE_NOT_READY' });
    await runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] });
    await volumes.publish({ id: 'more' }, 'a');
  });

  it('N1 N2 publish needs a node with the plugin; the publication keeps its CSI node id', async () => {
    const { volumes, runtime } = house;
    await volumes.create(spec('data'));
    await runtime.nodes.report({ id: 'a', plugins: [{ name: 'other', nodeId: 'x' }] });
    const error = await rejected(volumes.publish(data, 'a'));
    expect(error.code).to.equal('NODE_UNFIT');
    expect(error.message).to.include("node a has no plugin 'disk', but other");
    await runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a9' }] });
    await volumes.publish(data, 'a');
    await runtime.nodes.report({ id: 'a', plugins: [] });
    expect((await volumes.get(data))?.publications.a?.csiNodeId).to.equal('csi-a9');
    await volumes.create(spec('more'));
    expect((await rejected(volumes.publish({ id: 'more' }, 'a'))).message).to.include(
      "node a has no plugin 'disk', nor any other: run it there first",
    );
    await volumes.unpublish(data, 'a');
    expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a9: OK');
  });

  it('V18 publish needs all segments of one topology of the volume; keys ignore case', async () => {
    const { volumes, runtime, plugin } = house;
    plugin.accessibleTopology = [{ segments: { Zone: 'z1', rack: 'r1' } }, { segments: { zone: 'z2' } }];
    await volumes.create(spec('data'));
    const at = async (topology?: Record<string, string>): Promise<unknown> => {
      await runtime.nodes.report({
        id: 'a',
        plugins: [{ name: pluginName, nodeId: 'csi-a', ...(topology && { topology }) }],
      });
      const error = await rejected(volumes.publish(data, 'a'));
      if (error) return error.code;
      await volumes.unpublish(data, 'a');
      return 'fits';
    };
    expect(await at({ zone: 'z1', RACK: 'r1', more: 'x' })).to.equal('fits');
    expect(await at({ ZONE: 'z2' })).to.equal('fits');
    expect(await at({ zone: 'z1' })).to.equal('NODE_UNFIT');
    expect(await at({ zone: 'Z2' })).to.equal('NODE_UNFIT');
    expect(await at()).to.equal('NODE_UNFIT');
    const claim = { allocId: 'w', nodeId: 'a', mode: 'write', ...shared } as const;
    expect((await rejected(volumes.claim(data, claim))).message).to.include('{"zone":"z2"}');
  });

  it('V18 volume without a topology: fits every node', async () => {
    const { volumes, runtime } = house;
    await volumes.create(spec('data'));
    await runtime.nodes.report({ id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a', topology: { zone: 'z9' } }] });
    await volumes.publish(data, 'a');
  });
});
