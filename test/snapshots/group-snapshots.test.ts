/** Tests group snapshots: several volumes at one moment, created, awaited and deleted as one. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Step } from '../volumes/fake-plugin.js';
import { pluginName, spec, VolumeHouse } from '../volumes/volume-house.js';

const key = { id: 'monday' };
const asked = { ...key, volumes: [{ id: 'wal' }, { id: 'data' }] };

describe('a group snapshot', () => {
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

  it('V1 V3 created in one call with the ids of all volumes, deleted with the ids of all members', async () => {
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

  it('V2 same volumes in another order: the same group; no volume, or one twice: refused', async () => {
    const made = await groups().create(asked);
    expect(await groups().create({ ...key, volumes: [{ id: 'data' }, { id: 'wal' }] })).to.deep.equal(made);
    for (const volumes of [[], [{ id: 'data' }, { id: 'data', namespace: 'default' }]])
      expect((await refusalOf(groups().create({ id: 'x', volumes }))).code).to.equal('INVALID_ARGUMENT');
    await groups().delete(key);
  });

  it('V2 volumes of two plugins: refused, naming both', async () => {
    const connection = { socketPath: '/nowhere/other.sock' };
    await house.runtime.plugins.register({ type: 'csi-controller', name: 'other', allocId: 'o', connection });
    await house.rest();
    await house.volumes.create(spec('far', { plugin: 'other' }));
    const { code, message } = await refusalOf(groups().create({ id: 'x', volumes: [{ id: 'data' }, { id: 'far' }] }));
    expect(code).to.equal('INVALID_ARGUMENT');
    expect(message).to.contain('disk, other');
  });

  it('V11 without the group service or its capability: PLUGIN_LACKS, nothing is created', async () => {
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

  it('V10 not ready: called again; volumes gone meanwhile: found by GetVolumeGroupSnapshot', async () => {
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

  it('V10 answer lost: the group and its members are removed, then created under another name', async () => {
    tells('CreateVolumeGroupSnapshot', { code: 'UNAVAILABLE', work: true });
    const making = groups().create(asked);
    await house.clock.advance(60_000);
    const made = await making;
    expect(made.csiId).to.equal('group-2');
    expect([...house.plugin.snapshots.keys()]).to.deep.equal(['group-2']);
    expect([...house.plugin.snapshots.values()][0]?.name).to.equal(`sc-${made.uid}-1`);
  });

  it('V13 a member is gone, deletion answers NOT_FOUND: deleted with the present members', async () => {
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

  it('V13 deletion answers NOT_FOUND, and the group is not found: gone', async () => {
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

  it('V13 deletion answers NOT_FOUND, but the group is found: not taken for gone; with force, a leftover', async () => {
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

  it('V13 plugin refuses the member ids: fails, not taken for gone; with force, a leftover', async () => {
    await groups().create(asked);
    house.plugin.script = ({ rpc }) =>
      rpc === 'DeleteVolumeGroupSnapshot' ? { code: 'INVALID_ARGUMENT', text: 'snapshot_ids differ' } : undefined;
    expect((await refusalOf(groups().delete(key))).message).to.contain('snapshot_ids differ');
    expect((await groups().get(key))?.state).to.equal('failed');
    await groups().delete(key, { force: true });
    expect((await groups().get(key))?.leftovers?.[0]).to.match(/^group-1: .*snapshot_ids differ/);
  });

  it('V13 a volume is gone before the creation: fails, nothing is created', async () => {
    house.plugin.volumes.delete('vol-2');
    expect(await refusalOf(groups().create(asked))).to.include({ grpcCode: 'NOT_FOUND' });
    await groups().delete(key);
    expect(await groups().get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal(['CreateVolumeGroupSnapshot: NOT_FOUND']);
  });

  it('V13 each call takes nearly its timeout: created, and deleted although a member is gone', async () => {
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

  it('V10 runtime closed during creation and during deletion: no leftover in the end', async () => {
    tells('CreateVolumeGroupSnapshot', { after: new Promise(() => {}) });
    const cut = refusalOf(groups().create(asked));
    await house.rest();
    house.plugin.overlaps = 'allowed'; // The call of the closed runtime never ends.
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

  it('V9 waits for calls of all its volumes, without blocking any of them meanwhile', async () => {
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
