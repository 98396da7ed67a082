/** A plugin that gives one id to several volumes or snapshots: the first has it, whatever becomes of the others. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { interceptedStore } from '../engine/intercepted-store.js';
import { refusalOf } from '../refusal.js';
import { LeaderLab } from '../runtime/leader-lab.js';
import type { Step } from './fake-plugin.js';
import { always, gate, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const first = { id: 'first' };
const second = { id: 'second' };

describe('one id for two', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
  });
  afterEach(async () => {
    await house.dispose();
  });

  /** From here on each volume that the plugin makes has this id. */
  function makesAll(volumeId: string, plugin = house.plugin): void {
    const { createVolume } = Object.getPrototypeOf(plugin) as typeof plugin;
    plugin.createVolume = async (request) => {
      const { volume } = await createVolume.call(plugin, request);
      return volume ? { volume: { ...volume, volumeId } } : {};
    };
  }

  /** The same of snapshots, and of the members of groups. */
  function snapsAll(snapshotId: string): void {
    const { createSnapshot, createVolumeGroupSnapshot } = Object.getPrototypeOf(
      Object.getPrototypeOf(house.plugin),
    ) as typeof house.plugin;
    house.plugin.createSnapshot = async (request) => {
      const { snapshot } = await createSnapshot.call(house.plugin, request);
      return snapshot ? { snapshot: { ...snapshot, snapshotId } } : {};
    };
    house.plugin.createVolumeGroupSnapshot = async (request) => {
      const { groupSnapshot } = await createVolumeGroupSnapshot.call(house.plugin, request);
      if (!groupSnapshot) return {};
      const [member, ...others] = groupSnapshot.snapshots ?? [];
      return { groupSnapshot: { ...groupSnapshot, snapshots: member ? [{ ...member, snapshotId }, ...others] : [] } };
    };
  }

  const stateOf = async (key: { id: string }) => (await house.volumes.get(key))?.state;

  /** Of the volume that has not got the id. */
  async function isRefused(creation: Promise<unknown>, owner = 'volume default/first'): Promise<void> {
    const refusal = await refusalOf(creation);
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN', final: true });
    expect(refusal.message).to.include(owner).and.include('vol-1');
  }

  it('V16 a volume made under the id of another fails, naming that, and its deletion leaves it alone', async () => {
    await house.volumes.create(spec('first'));
    await house.volumes.publish(first, 'a');
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
    expect([await stateOf(first), await stateOf(second)]).to.deep.equal(['published', 'failed']);
    await refusalOf(house.volumes.publish(second, 'b'));
    await house.volumes.delete(second);
    expect(await house.volumes.get(second)).to.equal(undefined);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
    expect((await house.volumes.get(first))?.csiId).to.equal('vol-1');
  });

  it('V16 V13 the same deleted with force, or while it is made: nothing is deleted, nothing is left', async () => {
    await house.volumes.create(spec('first'));
    makesAll('vol-1');
    const held = gate();
    always(house.plugin, 'CreateVolume', { after: held.passed });
    house.volumes.create(spec('second')).catch(() => {});
    await house.rest();
    const deleted = house.volumes.delete(second, { force: true });
    held.open();
    await deleted;
    expect(await house.volumes.get(second)).to.equal(undefined);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
  });

  it('V16 two creations answered at the same moment: one has the id, the other is refused', async () => {
    makesAll('vol-1');
    const held = gate();
    always(house.plugin, 'CreateVolume', { after: held.passed });
    const both = [house.volumes.create(spec('first')), house.volumes.create(spec('second'))];
    await house.rest();
    held.open();
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    expect([await stateOf(first), await stateOf(second)].sort()).to.deep.equal(['created', 'failed']);
  });

  it('V16 two snapshots answered at the same moment: one has the id, the other is refused', async () => {
    for (const id of ['first', 'second']) await house.volumes.create(spec(id));
    snapsAll('snap-1');
    const held = gate();
    always(house.plugin, 'CreateSnapshot', { after: held.passed });
    const { snapshots } = house.runtime;
    const both = [first, second].map((volume) => snapshots.create({ id: `of-${volume.id}`, volume }));
    await house.rest();
    held.open();
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
  });

  it('V16 the first is of a runtime before: the second is refused all the same', async () => {
    await house.volumes.create(spec('first'));
    await house.restart();
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
  });

  it('V16 a restart between the answer and its commit: the repeat is refused, and nothing is deleted', async () => {
    await house.volumes.create(spec('first'));
    makesAll('vol-1');
    always(house.plugin, 'CreateVolume', { after: new Promise<never>(() => {}) });
    house.volumes.create(spec('second')).catch(() => {});
    await house.rest();
    const closed = house.runtime.close();
    await house.clock.advance(60_000);
    await closed;
    house.plugin.script = () => undefined;
    house.plugin.inFlight.clear();
    await house.open();
    await house.clock.advance(60_000);
    expect(await stateOf(second)).to.equal('failed');
    await house.volumes.delete(second);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
  });

  it('V10 V16 a creation in doubt, repeated under the id of another: the doubt is over, nothing is left', async () => {
    await house.volumes.create(spec('first'));
    makesAll('vol-1');
    const steps: Step[] = [{ code: 'UNAVAILABLE' }];
    house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? steps.shift() : undefined);
    const creation = refusalOf(house.volumes.create(spec('second')));
    await house.clock.advance(60_000);
    expect(await creation).to.include({ code: 'CSI_ID_TAKEN' });
    await house.volumes.delete(second, { force: true });
    expect(await house.volumes.get(second)).to.equal(undefined);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
  });

  it('V2 V16 the first was taken over, and another is made under its id: refused, naming the first', async () => {
    house.plugin.keeps('vol-1');
    const external = { csiId: 'vol-1', context: { made: 'vol-1' } };
    await house.volumes.create(spec('first', { external }));
    await isRefused(house.volumes.create(spec('second')));
    expect(await stateOf(first)).to.equal('created');
  });

  it('V2 V16 taken over while another is made under its id: the one that is made is refused', async () => {
    const held = gate();
    always(house.plugin, 'CreateVolume', { after: held.passed });
    const creation = house.volumes.create(spec('second'));
    await house.rest();
    const taking = house.volumes.create(spec('first', { external: { csiId: 'vol-1' } }));
    await house.rest();
    held.open();
    await taking;
    await isRefused(creation);
    await house.volumes.delete(second);
    expect(toldOf(house.plugin, 'DeleteVolume')).to.deep.equal([]);
  });

  it('V3 V16 the same id in two namespaces, of a plugin that makes no volumes: the second is refused', async () => {
    house.plugin.capabilities = ['PUBLISH_UNPUBLISH_VOLUME'];
    await house.restart();
    await house.volumes.create(spec('vol-1'));
    const refusal = await refusalOf(house.volumes.create(spec('vol-1', { namespace: 'other' })));
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN' });
    expect(refusal.message).to.include('volume default/vol-1');
  });

  it('V13 V16 the first is deleted, with leftovers: its id is its own until they are acknowledged', async () => {
    await house.volumes.create(spec('first'));
    always(house.plugin, 'DeleteVolume', { code: 'INVALID_ARGUMENT' });
    await house.volumes.delete(first, { force: true });
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
    const taking = await refusalOf(house.volumes.create(spec('third', { external: { csiId: 'vol-1' } })));
    expect(taking).to.include({ code: 'VOLUME_EXISTS' });
    await house.volumes.acknowledge(first);
    await house.volumes.retry(second);
    await house.rest();
    expect(await stateOf(second)).to.equal('created');
  });

  it('V11 V16 the first is gone, and the second is tried again: it has the id', async () => {
    await house.volumes.create(spec('first'));
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
    await house.volumes.delete(first);
    await house.volumes.retry(second);
    await house.rest();
    expect(await stateOf(second)).to.equal('created');
  });

  it('V10 V16 the first is being deleted as its id is given out again: the second waits, then has it', async () => {
    await house.volumes.create(spec('first'));
    const held = gate();
    always(house.plugin, 'DeleteVolume', { after: held.passed });
    const deleted = house.volumes.delete(first);
    await house.rest();
    makesAll('vol-1');
    const created = house.volumes.create(spec('second'));
    await house.rest();
    held.open();
    await deleted;
    await house.clock.advance(60_000);
    expect(await created).to.include({ state: 'created', csiId: 'vol-1' });
  });

  it('V16 a snapshot made under the id of a member of a group: refused, and nothing is deleted', async () => {
    for (const id of ['first', 'second']) await house.volumes.create(spec(id));
    const { snapshots, groupSnapshots } = house.runtime;
    await groupSnapshots.create({ id: 'group', volumes: [first, second] });
    snapsAll('group-1-of-vol-1');
    const refusal = await refusalOf(snapshots.create({ id: 'monday', volume: first }));
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN' });
    expect(refusal.message).to.include('group snapshot default/group').and.include('group-1-of-vol-1');
    await snapshots.delete({ id: 'monday' });
    expect(await snapshots.get({ id: 'monday' })).to.equal(undefined);
    expect(toldOf(house.plugin, 'DeleteSnapshot')).to.deep.equal([]);
    expect((await groupSnapshots.get({ id: 'group' }))?.state).to.equal('ready');
  });

  it('V16 a group with a member of the id of another snapshot: refused, and no member is deleted', async () => {
    for (const id of ['first', 'second']) await house.volumes.create(spec(id));
    const { snapshots, groupSnapshots } = house.runtime;
    await snapshots.create({ id: 'monday', volume: first });
    snapsAll('snap-1');
    const refusal = await refusalOf(groupSnapshots.create({ id: 'group', volumes: [first, second] }));
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN' });
    expect(refusal.message).to.include('snapshot default/monday').and.include('snap-1');
    await groupSnapshots.delete({ id: 'group' });
    expect(toldOf(house.plugin, 'DeleteVolumeGroupSnapshot')).to.deep.equal([]);
    expect((await snapshots.get({ id: 'monday' }))?.state).to.equal('ready');
  });

  it('V10 V16 a snapshot in doubt, repeated under the id of another: it is not removed as untrusted', async () => {
    for (const id of ['first', 'second']) await house.volumes.create(spec(id));
    const { snapshots } = house.runtime;
    await snapshots.create({ id: 'monday', volume: first });
    snapsAll('snap-1');
    const steps: Step[] = [{ code: 'UNAVAILABLE' }];
    house.plugin.script = ({ rpc }) => (rpc === 'CreateSnapshot' ? steps.shift() : undefined);
    const creation = refusalOf(snapshots.create({ id: 'tuesday', volume: second }));
    await house.clock.advance(60_000);
    expect(await creation).to.include({ code: 'CSI_ID_TAKEN' });
    await snapshots.delete({ id: 'tuesday' }, { force: true });
    expect(toldOf(house.plugin, 'DeleteSnapshot')).to.deep.equal([]);
    expect((await snapshots.get({ id: 'monday' }))?.state).to.equal('ready');
  });

  it('V10 V16 one that was not ready, looked at under the id of another: that one is not removed', async () => {
    for (const id of ['first', 'second']) await house.volumes.create(spec(id));
    const { snapshots } = house.runtime;
    await snapshots.create({ id: 'monday', volume: first });
    house.plugin.unreadyFor = 1;
    const creation = refusalOf(snapshots.create({ id: 'tuesday', volume: second }));
    await house.rest();
    snapsAll('snap-1');
    await house.clock.advance(60_000);
    expect(await creation).to.include({ code: 'CSI_ID_TAKEN' });
    await snapshots.delete({ id: 'tuesday' });
    expect([...house.plugin.snapshots.keys()]).to.deep.equal(['snap-1']);
    expect((await snapshots.get({ id: 'monday' }))?.state).to.equal('ready');
  });

  it('V16 V21 many creations: the records are read once, and each creation is two commits', async () => {
    await house.dispose();
    house = new VolumeHouse();
    const store = memoryStore();
    let lists = 0;
    house.store = interceptedStore(store, {
      pass: (method, proceed) => {
        if (method === 'list') lists += 1;
        return proceed();
      },
    });
    await house.furnish();
    await house.volumes.create(spec('data'));
    const before = lists;
    await Promise.all(Array.from({ length: 600 }, (_, n) => house.volumes.create(spec(`data-${n}`))));
    expect(lists - before).to.equal(0);
    expect((await store.load(volumeAddress('default', 'data-7')))?.seq).to.equal(2);
  });

  describe('with another agent', () => {
    let lab: LeaderLab;
    beforeEach(() => {
      lab = new LeaderLab();
    });
    afterEach(() => lab.dispose());

    it('V16 it takes over, and makes one under the id of one made before: refused', async () => {
      const leader = await lab.agent('n1');
      const other = await lab.agent('n2');
      await refusalOf(other.runtime.volumes.create(spec('early', { external: { csiId: 'vol-0' } })));
      await leader.runtime.volumes.create(spec('first'));
      await lab.close(leader);
      await lab.clock.advance(1_000);
      makesAll('vol-1', lab.plugin);
      await isRefused(other.runtime.volumes.create(spec('second')));
      await other.runtime.volumes.delete(second);
      expect(toldOf(lab.plugin, 'DeleteVolume')).to.deep.equal([]);
    });
  });
});
