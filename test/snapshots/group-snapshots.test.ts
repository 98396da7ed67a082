/** Snapshots of several volumes at one moment: made, waited for and deleted as one. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from '../volumes/fake-plugin.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { id: 'monday' };
const asked = { ...key, volumes: [{ id: 'wal' }, { id: 'data' }] };

describe('a snapshot of a group', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
    for (const id of ['data', 'wal']) await house.volumes.create(spec(id, { capacity: { requiredBytes: 10 } }));
    house.plugin.calls.length = 0;
  });
  afterEach(async () => {
    try {
      expect(house.plugin.wrongs).to.deep.equal([]);
    } finally {
      await house.dispose();
    }
  });

  const groups = () => house.runtime.groupSnapshots;
  function tells(rpc: string, ...steps: Step[]): void {
    house.plugin.script = (call) => (call.rpc === rpc ? steps.shift() : undefined);
  }

  it('V1 V3 is made of all of them in one call, with the id of each, and deleted with all of these', async () => {
    const made = await groups().create(asked);
    expect(made).to.deep.include({
      state: 'ready',
      plugin: pluginName,
      csiId: 'group-1',
      takenAtMs: 1_000_000,
      snapshots: [
        { csiId: 'group-1-of-vol-1', volume: { namespace: 'default', id: 'data' }, sizeBytes: 10 },
        { csiId: 'group-1-of-vol-2', volume: { namespace: 'default', id: 'wal' }, sizeBytes: 10 },
      ],
    });
    expect(house.plugin.calls[0]?.request).to.deep.include({
      name: `sc-${made.uid}`,
      sourceVolumeIds: ['vol-1', 'vol-2'],
    });
    expect((await groups().list()).items).to.deep.equal([made]);
    expect((await house.runtime.snapshots.list()).items).to.deep.equal([]);
    await groups().delete(key);
    expect(house.plugin.calls[1]?.request).to.deep.include({
      groupSnapshotId: 'group-1',
      snapshotIds: ['group-1-of-vol-1', 'group-1-of-vol-2'],
    });
    expect(await groups().get(key)).to.equal(undefined);
  });

  it('V2 the same volumes in another order are the same group; none, or one twice, are refused', async () => {
    const made = await groups().create(asked);
    expect(await groups().create({ ...key, volumes: [{ id: 'data' }, { id: 'wal' }] })).to.deep.equal(made);
    for (const volumes of [[], [{ id: 'data' }, { id: 'data', namespace: 'default' }]])
      expect((await refusalOf(groups().create({ id: 'x', volumes }))).code).to.equal('INVALID_ARGUMENT');
    await groups().delete(key);
  });

  it('V2 volumes of two plugins: refused, both named', async () => {
    const connection = { socketPath: '/nowhere/other.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'other', allocId: 'o', connection });
    await house.rest();
    await house.volumes.create(spec('far', { plugin: 'other' }));
    const { code, message } = await refusalOf(groups().create({ id: 'x', volumes: [{ id: 'data' }, { id: 'far' }] }));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('disk, other');
  });

  it('V11 without the service, or without what it is to offer: PLUGIN_LACKS, and nothing is made', async () => {
    house.plugin.groupCapabilities = [];
    expect((await refusalOf(groups().create(asked))).code).to.equal('PLUGIN_LACKS');
    await groups().delete(key);
    const plain = await new VolumeHouse().furnish();
    try {
      await plain.volumes.create(spec('data'));
      const error = await refusalOf(plain.runtime.groupSnapshots.create({ ...key, volumes: [{ id: 'data' }] }));
      expect(error.code).to.equal('PLUGIN_LACKS');
      expect(error.message).to.contain('GROUP_CONTROLLER_SERVICE');
    } finally {
      await plain.dispose();
    }
    expect(house.plugin.told()).to.deep.equal([]);
  });

  it('V10 one that is not ready is asked for again; one whose volumes are gone by then is looked for', async () => {
    house.plugin.unreadyFor = 2;
    const making = groups().create(asked);
    await house.rest();
    expect((await groups().get(key))?.state).to.equal('waiting');
    const [kept] = house.plugin.snapshots.values();
    if (kept) kept.unready = 0;
    tells('CreateVolumeGroupSnapshot', { code: 'NOT_FOUND' });
    await house.clock.advance(60_000);
    expect((await making).state).to.equal('ready');
    expect(house.plugin.told()).to.deep.equal([
      'CreateVolumeGroupSnapshot: OK',
      'CreateVolumeGroupSnapshot: NOT_FOUND',
      'GetVolumeGroupSnapshot: OK',
    ]);
  });

  it('V10 an answer that is lost: what was made is removed, with its members, and made anew under another name', async () => {
    tells('CreateVolumeGroupSnapshot', { code: 'UNAVAILABLE', work: true });
    const making = groups().create(asked);
    await house.clock.advance(60_000);
    const made = await making;
    expect(made.csiId).to.equal('group-2');
    expect([...house.plugin.snapshots.keys()]).to.deep.equal(['group-2']);
    expect([...house.plugin.snapshots.values()][0]?.name).to.equal(`sc-${made.uid}-1`);
  });

  it('V13 one of its members is gone when it is deleted, and so not found: what is there of it is deleted', async () => {
    await groups().create(asked);
    house.plugin.lostMembers.add('group-1-of-vol-1');
    await groups().delete(key);
    expect(house.plugin.snapshots.size).to.equal(0);
    expect(await groups().get(key)).to.equal(undefined);
    expect(house.plugin.told().slice(1)).to.deep.equal([
      'DeleteVolumeGroupSnapshot: NOT_FOUND',
      'GetVolumeGroupSnapshot: OK',
      'DeleteVolumeGroupSnapshot: OK',
    ]);
    expect(house.plugin.calls.at(-1)?.request).to.deep.include({ snapshotIds: ['group-1-of-vol-2'] });
  });

  it('V13 it is not found, and that is so: it is gone', async () => {
    await groups().create(asked);
    house.plugin.snapshots.clear();
    tells('DeleteVolumeGroupSnapshot', { code: 'NOT_FOUND' });
    await groups().delete(key);
    expect(await groups().get(key)).to.equal(undefined);
    expect(house.plugin.told().slice(1)).to.deep.equal([
      'DeleteVolumeGroupSnapshot: NOT_FOUND',
      'GetVolumeGroupSnapshot: NOT_FOUND',
    ]);
  });

  it('V13 not found as it is deleted, and found as it is looked for: it is never taken for gone; forced, that is on record', async () => {
    await groups().create(asked);
    house.plugin.script = ({ rpc }) => (rpc === 'DeleteVolumeGroupSnapshot' ? { code: 'NOT_FOUND' } : undefined);
    const deleting = groups().delete(key);
    await house.clock.advance(600_000);
    const { state, error } = (await groups().get(key)) ?? {};
    expect(state).to.equal('pending-delete');
    expect(error?.message).to.contain('NOT_FOUND').and.contain('GetVolumeGroupSnapshot finds it');
    const forced = groups().delete(key, { force: true });
    await house.clock.advance(60_000);
    await Promise.all([deleting, forced]);
    expect((await groups().get(key))?.leftovers?.[0]).to.match(/^group-1: .*NOT_FOUND/);
  });

  it('V13 the plugin does not know these members together: told so, not taken for gone; forced, that is on record', async () => {
    await groups().create(asked);
    house.plugin.script = ({ rpc }) =>
      rpc === 'DeleteVolumeGroupSnapshot' ? { code: 'INVALID_ARGUMENT', text: 'snapshot_ids differ' } : undefined;
    expect((await refusalOf(groups().delete(key))).message).to.contain('snapshot_ids differ');
    expect((await groups().get(key))?.state).to.equal('failed');
    await groups().delete(key, { force: true });
    expect((await groups().get(key))?.leftovers?.[0]).to.match(/^group-1: .*snapshot_ids differ/);
  });

  it('V13 one of its volumes is gone before it is made: told so, and nothing is made', async () => {
    house.plugin.volumes.delete('vol-2');
    expect(await refusalOf(groups().create(asked))).to.include({ grpcCode: 'NOT_FOUND' });
    await groups().delete(key);
    expect(await groups().get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal(['CreateVolumeGroupSnapshot: NOT_FOUND']);
  });

  it('V13 a plugin that takes nearly all of its time for each call: it is made, and deleted though a member is gone', async () => {
    const slowly = () => new Promise<void>((resolve) => void house.clock.after(110_000, resolve));
    house.plugin.groupControllerGetCapabilities = async () => {
      await slowly();
      return house.plugin.groupCapabilities;
    };
    house.plugin.script = () => ({ before: slowly() });
    const making = groups().create(asked);
    await house.clock.advance(220_000);
    await making;
    house.plugin.lostMembers.add('group-1-of-vol-1');
    const deleting = groups().delete(key);
    await house.clock.advance(440_000);
    await deleting;
    expect(house.plugin.snapshots.size).to.equal(0);
    expect(house.plugin.told()).to.deep.equal([
      'CreateVolumeGroupSnapshot: OK',
      'DeleteVolumeGroupSnapshot: NOT_FOUND',
      'GetVolumeGroupSnapshot: OK',
      'DeleteVolumeGroupSnapshot: OK',
    ]);
  });

  it('V10 the runtime ends while it is made, and while it is deleted: nothing is left at the end', async () => {
    tells('CreateVolumeGroupSnapshot', { after: new Promise(() => {}) });
    const cut = refusalOf(groups().create(asked));
    await house.rest();
    house.plugin.overlaps = 'allowed'; // the call of the runtime that is gone never ends
    await house.restart();
    await cut;
    await house.clock.advance(300_000);
    const made = await groups().create(asked);
    expect([...house.plugin.snapshots.keys()]).to.deep.equal([made.csiId]);
    tells('DeleteVolumeGroupSnapshot', { code: 'UNAVAILABLE', work: true });
    const deleting = refusalOf(groups().delete(key));
    await house.rest();
    await house.restart();
    await deleting;
    await house.clock.advance(300_000);
    expect(await groups().get(key)).to.equal(undefined);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('V9 waits until nothing is under way for any of its volumes, and holds none of them meanwhile', async () => {
    let finish = (): void => {};
    tells('ControllerPublishVolume', { before: new Promise<void>((resolve) => (finish = resolve)) });
    const publishing = house.volumes.publish({ id: 'wal' }, 'a');
    await house.rest();
    const making = groups().create(asked);
    await house.rest();
    await house.volumes.publish({ id: 'data' }, 'a');
    expect((await groups().get(key))?.error?.message).to.contain('one of the volumes');
    finish();
    await Promise.all([publishing, making]);
    expect(house.plugin.told().at(-1)).to.equal('CreateVolumeGroupSnapshot: OK');
  });
});
