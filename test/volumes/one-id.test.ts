/** Tests a plugin that gives one id to several volumes or snapshots: the first owns it, and the others fail safely. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { refusalOf } from '../refusal.js';
import { LeaderLab } from '../runtime/leader-lab.js';
import { faultyStore } from '../support/faulty-store.js';
import type { Step } from './fake-plugin.js';
import { always, gate, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const first = { id: 'first' };
const second = { id: 'second' };

describe('one CSI id for two records', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
  });
  afterEach(async () => {
    await house.dispose();
  });

  /** Gives this id to all volumes that the plugin creates from here on. */
  function makesAll(volumeId: string, plugin = house.plugin): void {
    const { createVolume } = Object.getPrototypeOf(plugin) as typeof plugin;
    plugin.createVolume = async (request) => {
      const { volume } = await createVolume.call(plugin, request);
      return volume ? { volume: { ...volume, volumeId } } : {};
    };
  }

  /** Gives this id to all snapshots and members of groups from here on. */
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

  /** Checks that a creation fails, naming the owner of the id. */
  async function isRefused(creation: Promise<unknown>, owner = 'volume default/first'): Promise<void> {
    const refusal = await refusalOf(creation);
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN', final: true });
    expect(refusal.message).to.include(owner).and.include('vol-1');
  }

  it('V16 volume created with the id of another: fails, naming the other; its deletion spares the other', async () => {
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

  it('V16 V13 deleted with force, or during its creation: nothing is deleted, no leftover', async () => {
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

  it('V16 two creations answered at once: one gets the id, the other fails', async () => {
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

  it('V16 two snapshots answered at once: one gets the id, the other fails', async () => {
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

  it('V16 first volume created before a restart: the second fails', async () => {
    await house.volumes.create(spec('first'));
    await house.restart();
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
  });

  it('V16 restart between answer and commit: the repeated call fails, nothing is deleted', async () => {
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

  it('V10 V16 creation in doubt, repeated and answered with the id of another: resolved, no leftover', async () => {
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

  it('V2 V16 first volume is external, another is created with its id: fails, naming the first', async () => {
    house.plugin.keeps('vol-1');
    const external = { csiId: 'vol-1', context: { made: 'vol-1' } };
    await house.volumes.create(spec('first', { external }));
    await isRefused(house.volumes.create(spec('second')));
    expect(await stateOf(first)).to.equal('created');
  });

  it('V2 V16 external volume registered while another is created with its id: the created one fails', async () => {
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

  it('V3 V16 same id in two namespaces, plugin that creates no volumes: the second fails', async () => {
    house.plugin.capabilities = ['PUBLISH_UNPUBLISH_VOLUME'];
    await house.restart();
    await house.volumes.create(spec('vol-1'));
    const refusal = await refusalOf(house.volumes.create(spec('vol-1', { namespace: 'other' })));
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN' });
    expect(refusal.message).to.include('volume default/vol-1');
  });

  it('V13 V16 first volume deleted with leftovers: owns its id until they are acknowledged', async () => {
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

  it('V11 V16 first volume gone, second retried: it gets the id', async () => {
    await house.volumes.create(spec('first'));
    makesAll('vol-1');
    await isRefused(house.volumes.create(spec('second')));
    await house.volumes.delete(first);
    await house.volumes.retry(second);
    await house.rest();
    expect(await stateOf(second)).to.equal('created');
  });

  it('V10 V16 id given again during the deletion of the first: the second waits, then gets it', async () => {
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

  it('V16 snapshot with the id of a group member: fails, nothing is deleted', async () => {
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

  it('V16 group with a member that has the id of a snapshot: fails, no member is deleted', async () => {
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

  it('V10 V16 snapshot in doubt, repeated and answered with the id of another: not removed as untrusted', async () => {
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

  it('V10 V16 unready snapshot, answered with the id of another: the other is not removed', async () => {
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

  it('V16 V21 many creations: the records are read once, two commits each', async () => {
    await house.dispose();
    house = new VolumeHouse();
    const store = memoryStore();
    let lists = 0;
    house.store = faultyStore(store, {
      at: 'list',
      how: (_, proceed) => {
        lists += 1;
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

    it('V16 after a change of leader, a creation with an id in use: fails', async () => {
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
