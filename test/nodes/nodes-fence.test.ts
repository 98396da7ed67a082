/** Tests the fence of nodes: the volumes and claims on them, races, and restarts. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { refusalOf } from '../refusal.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const data = { id: 'data' };
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
const single = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const report = { id: 'a', plugins: [{ name: pluginName, nodeId: 'csi-a' }] };

describe('a node that is fenced', () => {
  let house: VolumeHouse;
  beforeEach(() => {
    house = new VolumeHouse();
  });
  afterEach(() => house.dispose());

  /** Makes a volume that is claimed and published on node a. */
  async function inUse(options = {}): Promise<void> {
    await house.furnish(options);
    await house.volumes.create(spec('data'));
    await house.volumes.claim(data, { allocId: 'w1', nodeId: 'a', mode: 'write', ...single });
    await house.volumes.publish(data, 'a');
  }

  const isFree = async (): Promise<boolean> => {
    const volume = await house.volumes.get(data);
    return volume?.claims.length === 0 && Object.keys(volume.publications).length === 0;
  };

  it('N3 by request: claims released without a report, volumes unpublished, the reason is recorded', async () => {
    await inUse();
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect(await isFree()).to.equal(true);
    expect(await house.runtime.nodes.status('a')).to.deep.include({
      state: 'down',
      fence: { reason: 'burnt', at: house.clock.now(), isDone: true },
    });
    expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: OK');
    const claims = (await house.events()).flatMap((event) => (event.kind === 'claim' ? [event] : []));
    expect(claims.map(({ state, fenced }) => `${state}${fenced ? `: ${fenced}` : ''}`)).to.deep.equal([
      'taken',
      'node-detached: burnt',
      'controller-detached: burnt',
      'released: burnt',
    ]);
  });

  it('N3 unpublish answered NOT_FOUND: done for the fenced node, not for another one', async () => {
    await inUse();
    await house.volumes.create(spec('more'));
    await house.volumes.publish({ id: 'more' }, 'b');
    house.plugin.script = ({ rpc }) => (rpc === 'ControllerUnpublishVolume' ? { code: 'NOT_FOUND' } : undefined);
    void house.volumes.unpublish({ id: 'more' }, 'b').catch(() => {});
    await house.volumes.release(data, 'w1');
    await house.runtime.nodes.reportUnstaged('a', data, { claimGeneration: 99 });
    await house.clock.advance(600_000);
    expect((await house.volumes.get(data))?.claims).to.have.length(1);
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    expect(await isFree()).to.equal(true);
    expect((await house.volumes.get({ id: 'more' }))?.publications.b?.state).to.equal('pending-unpublish');
  });

  it('N3 removed: fenced, and the node is gone', async () => {
    await inUse();
    await house.runtime.nodes.remove('a');
    await house.rest();
    expect(await isFree()).to.equal(true);
    expect((await house.runtime.nodes.list()).map(({ id }) => id)).to.deep.equal(['b', 'c']);
    await house.runtime.nodes.report(report);
    expect(await house.runtime.nodes.status('a')).to.deep.equal({ ...report, state: 'ready' });
  });

  it('N3 down for fencing.afterMs: fenced then, not before; by default never', async () => {
    await inUse({ fencing: { afterMs: 60_000 } });
    await house.runtime.nodes.down('a');
    await house.clock.advance(59_999);
    expect(await isFree()).to.equal(false);
    await house.clock.advance(1);
    expect(await isFree()).to.equal(true);
    const other = new VolumeHouse();
    try {
      await other.furnish();
      await other.runtime.nodes.down('a');
      await other.clock.advance(3_600_000);
      expect(await other.runtime.nodes.status('a')).to.not.have.property('fence');
    } finally {
      await other.dispose();
    }
  });

  it('N3 down, and back in time: the next time counts from zero', async () => {
    await inUse({ fencing: { afterMs: 60_000 } });
    await house.runtime.nodes.down('a');
    await house.clock.advance(50_000);
    await house.runtime.nodes.report(report);
    await house.runtime.nodes.down('a');
    await house.clock.advance(50_000);
    expect(await isFree()).to.equal(false);
    await house.clock.advance(10_000);
    expect(await isFree()).to.equal(true);
  });

  it('N3 restart of the runtime while a node is down: counts from zero', async () => {
    await inUse({ fencing: { afterMs: 60_000 } });
    await house.runtime.nodes.down('a');
    await house.clock.advance(59_000);
    await house.restart();
    await house.clock.advance(59_999);
    expect(await isFree()).to.equal(false);
    await house.clock.advance(1);
    expect(await isFree()).to.equal(true);
  });

  it('N3 runtime closed while volumes get the fence: the next one sends it to the others', async () => {
    await house.furnish();
    const ids = Array.from({ length: 40 }, (_, at) => ({ id: `v${at}` }));
    for (const { id } of ids) {
      await house.volumes.create(spec(id));
      await house.volumes.claim({ id }, { allocId: 'w', nodeId: 'a', mode: 'write', ...single });
      await house.volumes.publish({ id }, 'a');
    }
    // The fence ends claims of the volumes that get it. No call ends before the runtime does.
    house.plugin.script = () => ({ before: new Promise(() => {}) });
    await house.runtime.nodes.fence('a', 'burnt');
    const isTold = house.runtime.actors
      .list()
      .filter(({ state }) => typeof state === 'object' && 'pending-unpublish' in state);
    expect(isTold).to.have.length.below(ids.length);
    house.plugin.script = () => undefined;
    await house.restart();
    await house.clock.advance(300_000);
    for (const key of ids) expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
    expect((await house.runtime.nodes.status('a')).fence?.isDone).to.equal(true);
  });

  it('N3 thousands of volumes: all get the fence, page by page', async () => {
    await house.furnish();
    const ids = Array.from({ length: 1_100 }, (_, at) => ({ id: `v${at}` }));
    await Promise.all(ids.map(({ id }) => house.volumes.create(spec(id))));
    await Promise.all(ids.map((key) => house.volumes.publish(key, 'a')));
    await house.runtime.nodes.fence('a', 'burnt');
    await house.clock.advance(10);
    await house.rest();
    expect((await house.runtime.nodes.status('a')).fence?.isDone).to.equal(true);
    for (const { attached } of house.plugin.volumes.values()) expect(attached.size).to.equal(0);
    expect(house.plugin.wrongs).to.deep.equal([]);
  });

  it('N3 publishes and claims that race with the fence: refused or undone, none remains', async () => {
    await house.furnish();
    const { nodes } = house.runtime;
    const ids = Array.from({ length: 30 }, (_, at) => ({ id: `v${at}` }));
    for (const { id } of ids) await house.volumes.create(spec(id));
    const outcomeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'there',
        (error: { code: string }) => error.code,
      );
    const asked: Promise<string>[] = [];
    for (const [at, key] of ids.entries()) {
      if (at === 10) void nodes.fence('a', 'burnt');
      asked.push(outcomeOf(house.volumes.publish(key, 'a')));
      asked.push(outcomeOf(house.volumes.claim(key, { allocId: 'w', nodeId: 'a', mode: 'write', ...single })));
      // Gives the fence a turn, so that it is handled among the requests.
      if (at % 5 === 4) await new Promise((resolve) => setImmediate(resolve));
    }
    await house.clock.advance(1_000);
    const outcomes = new Set(await Promise.all(asked));
    expect([...outcomes]).to.include('NODE_NOT_READY');
    for (const key of ids) expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
    for (const { attached } of house.plugin.volumes.values()) expect(attached.size).to.equal(0);
    // Requests after the return of the node are not affected.
    await nodes.report(report);
    await house.volumes.publish({ id: 'v0' }, 'a');
    await house.clock.advance(60_000);
    expect((await house.volumes.get({ id: 'v0' }))?.publications.a?.state).to.equal('published');
  });

  it('N3 publish in doubt during the fence: resolved, then unpublished', async () => {
    await house.furnish();
    await house.volumes.create(spec('data'));
    let lost = 0;
    house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerPublishVolume' && lost++ === 0 ? { work: true, code: 'DEADLINE_EXCEEDED' } : undefined;
    const published = house.volumes.publish(data, 'a').catch((error: { code: string }) => error.code);
    await house.rest();
    await house.runtime.nodes.fence('a', 'burnt');
    await house.clock.advance(600_000);

    expect(await published).to.equal('ABORTED');
    expect(await isFree()).to.equal(true);
    expect(house.plugin.volumes.get('vol-1')?.attached.size).to.equal(0);
  });

  for (const what of ['fence', 'remove'] as const)
    it(`N3 V8 node is back and a publish waits for its unpublish: ${what} again cancels the publish`, async () => {
      await house.furnish();
      await house.volumes.create(spec('data'));
      await house.volumes.publish(data, 'a');
      house.plugin.script = ({ rpc }) => (rpc === 'ControllerUnpublishVolume' ? { code: 'UNAVAILABLE' } : undefined);
      await house.runtime.nodes.fence('a', 'burnt');
      await house.rest();
      await house.runtime.nodes.report(report);
      await house.rest();
      const publishing = refusalOf(house.volumes.publish(data, 'a'));
      await house.rest();
      if (what === 'fence') await house.runtime.nodes.fence('a', 'burnt again');
      else await house.runtime.nodes.remove('a');
      await house.rest();
      house.plugin.script = () => undefined;
      await house.clock.advance(600_000);
      expect((await publishing).code).to.equal('ABORTED');
      expect(await isFree()).to.equal(true);
      expect(house.plugin.told().at(-1)).to.equal('ControllerUnpublishVolume csi-a: OK');
      await house.volumes.publish(data, 'b');
    });

  it('N3 C5 claims queued for the node are withdrawn; those of other nodes get their turn', async () => {
    await inUse();
    const claim = (allocId: string, nodeId: string) =>
      house.volumes.claim(data, { allocId, nodeId, mode: 'write', ...single, wait: true });
    const own = claim('w2', 'a').catch((error: { code: string }) => error.code);
    await house.rest();
    const other = claim('w3', 'b');
    await house.rest();
    await house.runtime.nodes.fence('a', 'burnt');
    expect(await own).to.equal('ABORTED');
    expect(await other).to.include({ allocId: 'w3', nodeId: 'b', state: 'taken' });
  });

  it('C5 N3 node is down: claims queued for it are withdrawn with the reason, others get the free place', async () => {
    await inUse();
    const claim = (allocId: string, nodeId: string) =>
      house.volumes.claim(data, { allocId, nodeId, mode: 'write', ...single, wait: true });
    const own = refusalOf(claim('w2', 'b'));
    await house.rest();
    const other = claim('w3', 'c');
    await house.rest();
    await house.runtime.nodes.down('b');
    expect(await own).to.include({ code: 'ABORTED', address: 'volume/default/data' });
    expect((await own).message).to.include('was withdrawn: node b is down');
    // Publications and taken claims stay: only a fence ends them.
    await house.runtime.nodes.down('a');
    await house.clock.advance(3_600_000);
    expect((await house.volumes.get(data))?.claims.map(({ allocId }) => allocId)).to.deep.equal(['w1']);
    await house.runtime.nodes.fence('a', 'burnt');
    expect(await other).to.include({ allocId: 'w3', nodeId: 'c', state: 'taken' });
    const told = (await house.events()).flatMap((event) =>
      event.kind === 'claim' && event.state === 'withdrawn' ? [`${event.allocId}: ${event.reason}`] : [],
    );
    expect(told).to.deep.equal(['w2: node b is down']);
  });

  it('C5 N3 runtime closed before all claims are withdrawn: the next one withdraws the others', async () => {
    await inUse();
    const wish = { allocId: 'w2', nodeId: 'b', mode: 'write', ...single, wait: true } as const;
    void house.volumes.claim(data, wish).catch(() => {});
    await house.rest();
    const { commit } = house.store;
    house.store.commit = async (items) => {
      if (items.some(({ address }) => address.startsWith('volume/')))
        throw new StagecraftError('STORE_UNAVAILABLE', 'not now', { outcome: 'refused' });
      return commit.call(house.store, items);
    };
    await house.runtime.nodes.down('b');
    await house.rest();
    house.store.commit = commit;
    expect((await house.volumes.get(data))?.waiting).to.have.length(1);
    await house.restart();
    expect((await house.volumes.get(data))?.waiting).to.have.length(0);
  });

  it('N3 other nodes keep their volumes and claims', async () => {
    await house.furnish();
    await house.volumes.create(spec('data', { capabilities: [shared] }));
    for (const nodeId of ['a', 'b']) {
      await house.volumes.claim(data, { allocId: `w-${nodeId}`, nodeId, mode: 'write', ...shared });
      await house.volumes.publish(data, nodeId);
    }
    await house.runtime.nodes.fence('a', 'burnt');
    await house.rest();
    const volume = await house.volumes.get(data);
    expect(volume?.claims.map(({ allocId }) => allocId)).to.deep.equal(['w-b']);
    expect(volume?.publications.b?.state).to.equal('published');
  });
});
