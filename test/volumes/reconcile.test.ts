/** Tests the comparison of volumes with ListVolumes: differences emit events and are repaired in the normal way. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { allCapabilities, type KeptVolume } from './fake-plugin.js';
import { always, gate, inOrder } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };

describe('volumes compared with their plugins', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = await new VolumeHouse().furnish();
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a', {
      capability: { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
    });
    house.plugin.calls.splice(0);
  });
  afterEach(() => house.dispose());

  const kept = (): KeptVolume => {
    const volume = house.plugin.volumes.get('vol-1');
    if (!volume) throw new Error('the plugin has no vol-1');
    return volume;
  };
  const kindsSince = async (id: string | undefined): Promise<string[]> =>
    (await house.events(id)).map(({ kind }) => kind);
  const lastId = async (): Promise<string | undefined> => (await house.events()).at(-1)?.id;

  it('V20 no difference: no event, no commit, no call except ListVolumes', async () => {
    const before = await lastId();
    expect(await house.volumes.reconcile('disk')).to.deep.equal([{ plugin: 'disk', volumes: 1, differing: [] }]);
    expect(await kindsSince(before)).to.deep.equal([]);
    expect(house.plugin.calls.map(({ rpc }) => rpc)).to.deep.equal(['ListVolumes']);
  });

  it('V20 detached from outside: a `drifted` event, then published again with a new context', async () => {
    const before = await lastId();
    kept().attached.clear();
    const [found] = await house.volumes.reconcile();
    expect(found?.differing).to.deep.equal(['default/data']);
    await house.rest();
    expect([...kept().attached]).to.deep.equal(['csi-a']);
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('published');
    expect(await kindsSince(before)).to.deep.equal(['publication', 'drifted', 'publication']);
  });

  it('V13 V20 found attached during its deletion: deleted, no leftover', async () => {
    await house.volumes.unpublish(key, 'a');
    const held = gate();
    inOrder(house.plugin, 'DeleteVolume', [{ before: held.passed }]);
    const deleting = house.volumes.delete(key);
    await house.rest();
    kept().attached.add('csi-b');
    await house.volumes.reconcile();
    held.open();
    await house.clock.advance(60_000);
    await deleting;
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect([...house.plugin.volumes.keys()]).to.deep.equal([]);
  });

  it('V20 attached without a request: detached there, by the listed CSI node id', async () => {
    kept().attached.add('csi-b');
    await house.volumes.reconcile();
    await house.rest();
    expect([...kept().attached]).to.deep.equal(['csi-a']);
    expect(house.plugin.told()).to.have.members(['ControllerUnpublishVolume csi-b: OK']);
    expect((await house.volumes.get(key))?.publications).to.have.all.keys('a');
    const drift = (await house.events()).find(({ kind }) => kind === 'drifted');
    expect(drift).to.deep.include({ lost: [], strays: ['b'] });
  });

  it('V20, 34.34 attached to a machine that is not among the nodes: stays there, and is shown', async () => {
    kept().attached.add('csi-rescue');
    await house.volumes.reconcile();
    await house.clock.advance(600_000);
    expect([...kept().attached]).to.deep.equal(['csi-a', 'csi-rescue']);
    expect(await house.volumes.get(key)).to.deep.include({ attachedElsewhere: ['csi-rescue'] });
    const seen = (await house.events()).filter(({ kind }) => kind === 'seen' || kind === 'drifted');
    expect(seen.map((event) => event.kind === 'seen' && event.attachedElsewhere)).to.deep.equal([['csi-rescue']]);
    kept().attached.delete('csi-rescue');
    await house.volumes.reconcile();
    expect(await house.volumes.get(key)).not.to.have.property('attachedElsewhere');
  });

  it('V20, 34.34 unpublished from such a machine: detached there, and from nowhere else', async () => {
    kept().attached.add('csi-rescue').add('csi-other');
    await house.volumes.reconcile();
    await house.volumes.unpublish(key, 'csi-rescue');
    expect([...kept().attached]).to.deep.equal(['csi-a', 'csi-other']);
    expect(await house.volumes.get(key)).to.deep.include({ attachedElsewhere: ['csi-other'] });
    await house.volumes.unpublish(key, 'csi-rescue');
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-rescue: OK']);
  });

  it('V20, 34.34 the machine reports itself as a node: a further list has it detached', async () => {
    kept().attached.add('csi-rescue');
    await house.volumes.reconcile();
    await house.runtime.nodes.report({ id: 'd', plugins: [{ name: pluginName, nodeId: 'csi-rescue' }] });
    await house.volumes.reconcile();
    await house.rest();
    expect([...kept().attached]).to.deep.equal(['csi-a']);
  });

  it('V20 attached where it is claimed but not published: left alone', async () => {
    await house.volumes.claim(key, {
      allocId: 'web',
      nodeId: 'b',
      mode: 'write',
      accessMode: 'multi-node-multi-writer',
      attachmentMode: 'file-system',
    });
    kept().attached.add('csi-b');
    await house.volumes.reconcile();
    await house.rest();
    expect([...kept().attached]).to.have.members(['csi-a', 'csi-b']);
  });

  it('V20 unpublish answered NOT_FOUND: ListVolumes confirms it', async () => {
    house.plugin.script = ({ rpc }) =>
      rpc === 'ControllerUnpublishVolume' ? { code: 'NOT_FOUND', work: true } : undefined;
    const unpublished = house.volumes.unpublish(key, 'a');
    await house.clock.advance(1_000);
    expect((await house.volumes.get(key))?.publications.a?.state).to.equal('pending-unpublish');
    await house.volumes.reconcile();
    await unpublished;
    expect((await house.volumes.get(key))?.publications).to.deep.equal({});
  });

  it('N3 detached from a node that is silent: ListVolumes confirms it, unpublished, claim released', async () => {
    const usage = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.claim(key, { allocId: 'web', nodeId: 'a', mode: 'write', ...usage });
    await house.volumes.release(key, 'web');
    await house.volumes.reconcile();
    expect((await house.volumes.get(key))?.claims).to.have.length(1);
    kept().attached.clear();
    await house.volumes.reconcile();
    await house.rest();
    expect(await house.volumes.get(key)).to.deep.include({ claims: [], publications: {} });
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
    const told = (await house.events()).filter(({ kind }) => kind === 'claim');
    expect(told.map((event) => event.kind === 'claim' && event.state)).to.deep.equal([
      'taken',
      'unpublishing',
      'node-detached',
      'controller-detached',
      'released',
    ]);
  });

  it('V20 volume missing from the list, then back: shown, one event each, never created again', async () => {
    const volume = kept();
    const before = await lastId();
    house.plugin.volumes.clear();
    await house.volumes.reconcile();
    await house.volumes.reconcile();
    expect(await house.volumes.get(key)).to.include({ missing: true, state: 'published' });
    expect(await kindsSince(before)).to.deep.equal(['seen']);
    house.plugin.volumes.set('vol-1', volume);
    await house.volumes.reconcile();
    expect(await house.volumes.get(key)).to.not.have.property('missing');
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V20 volume changed since the comparison: left alone', async () => {
    kept().attached.clear();
    let released = (): void => {};
    const listing = new Promise<void>((resolve) => {
      released = resolve;
    });
    house.plugin.script = ({ rpc }) => (rpc === 'ListVolumes' ? { after: listing } : undefined);
    const compared = house.volumes.reconcile();
    await house.rest();
    await house.volumes.unpublish(key, 'a');
    await house.volumes.publish(key, 'a');
    house.plugin.calls.splice(0);
    released();
    await compared;
    await house.rest();
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V20 repeats at intervals, and stops with the runtime', async () => {
    kept().attached.clear();
    await house.clock.advance(300_000);
    expect([...kept().attached]).to.deep.equal(['csi-a']);
    await house.runtime.close();
    house.plugin.calls.splice(0);
    await house.clock.advance(3_000_000);
    expect(house.plugin.calls).to.deep.equal([]);
  });

  it('V20 plugin without LIST_VOLUMES: refused if named, else skipped', async () => {
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'];
    await house.clock.advance(30_000);
    expect(await refusalOf(house.volumes.reconcile('disk'))).to.include({ code: 'PLUGIN_LACKS' });
    expect(await house.volumes.reconcile()).to.deep.equal([]);
    expect(house.plugin.calls).to.deep.equal([]);
  });

  it('V20 unknown plugin, or closed runtime: refused at once', async () => {
    expect(await refusalOf(house.volumes.reconcile('nobody'))).to.include({ code: 'PLUGIN_NOT_FOUND' });
    expect(await refusalOf(house.volumes.reconcile(''))).to.include({ code: 'INVALID_ARGUMENT' });
    const { volumes } = house;
    await house.runtime.close();
    expect(await refusalOf(volumes.reconcile())).to.include({ code: 'RUNTIME_CLOSED' });
  });

  it('V20 plugin lists no published nodes: no attachment is taken for lost', async () => {
    house.plugin.capabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME', 'LIST_VOLUMES'];
    await house.clock.advance(30_000);
    kept().attached.clear();
    await house.volumes.reconcile();
    await house.rest();
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('N3 V20 plugin lists published nodes but cannot publish: no attachment is taken for lost', async () => {
    house.plugin.capabilities = allCapabilities.filter((one) => one !== 'PUBLISH_UNPUBLISH_VOLUME');
    await house.clock.advance(30_000);
    const usage = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;
    await house.volumes.claim(key, { allocId: 'web', nodeId: 'a', mode: 'write', ...usage });
    await house.volumes.release(key, 'web');
    kept().attached.clear();
    expect(await house.volumes.reconcile('disk')).to.deep.equal([{ plugin: 'disk', volumes: 1, differing: [] }]);
    const { claims = [], publications } = (await house.volumes.get(key)) ?? {};
    expect(claims.map(({ state }) => state)).to.deep.equal(['unpublishing']);
    expect(publications?.a?.state).to.equal('pending-node-unpublish');
  });

  it('V20 volume deleted during the listing: the others are compared', async () => {
    await house.volumes.create(spec('a-first'));
    const listing = gate();
    always(house.plugin, 'ListVolumes', { before: listing.passed });
    const compared = house.volumes.reconcile('disk');
    await house.rest();
    await house.volumes.delete({ id: 'a-first' });
    kept().attached.clear();
    listing.open();
    expect(await compared).to.deep.equal([{ plugin: 'disk', volumes: 2, differing: ['default/data'] }]);
    await house.rest();
    expect([...kept().attached]).to.deep.equal(['csi-a']);
  });

  it('V13 V20 deleted volume with leftovers: not compared', async () => {
    house.plugin.volumes.set('their', { id: 'their', name: '', isFound: true, capacityBytes: 1n, attached: new Set() });
    await house.volumes.create(spec('a-first', { external: { csiId: 'their' } }));
    await house.volumes.publish({ id: 'a-first' }, 'b');
    always(house.plugin, 'ControllerUnpublishVolume', { code: 'INVALID_ARGUMENT' });
    await house.volumes.delete({ id: 'a-first' }, { force: true });
    house.plugin.script = () => undefined;
    expect((await house.volumes.get({ id: 'a-first' }))?.leftovers).to.have.length(1);
    kept().attached.clear();
    expect(await house.volumes.reconcile('disk')).to.deep.equal([
      { plugin: 'disk', volumes: 1, differing: ['default/data'] },
    ]);
  });

  it('V20 failed listing: no effect; stale page token: the listing starts again', async () => {
    kept().attached.clear();
    house.plugin.script = ({ rpc }) => (rpc === 'ListVolumes' ? { code: 'INTERNAL' } : undefined);
    expect(await refusalOf(house.volumes.reconcile('disk'))).to.include({ code: 'CSI_ERROR', grpcCode: 'INTERNAL' });
    expect(house.plugin.told()).to.deep.equal([]);
    let stale = 2;
    house.plugin.script = ({ rpc }) => {
      if (rpc !== 'ListVolumes' || stale === 0) return undefined;
      stale -= 1;
      return { code: 'ABORTED' };
    };
    await house.volumes.reconcile('disk');
    await house.rest();
    expect(house.plugin.told()).to.deep.equal(['ControllerPublishVolume csi-a: OK']);
  });
});
