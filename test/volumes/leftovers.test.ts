/** Tests leftovers of a forced deletion: a retry works on them, also after a restart, and clears what it can confirm. */
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import type { Call } from './fake-plugin.js';
import { always, toldOf } from './scripts.js';
import { spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const monday = { id: 'monday' };
const shared = { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' } as const;

describe('leftovers of a forced deletion', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    house.plugin.mayBeLeft = () => true;
    await house.furnish();
  });
  afterEach(async () => {
    try {
      expect(house.plugin.wrongs).to.deep.equal([]);
    } finally {
      await house.dispose();
    }
  });

  const leftovers = async () => (await house.volumes.get(key))?.leftovers?.map(({ what }) => what);
  const fails = (...rpcs: Call['rpc'][]): void => {
    house.plugin.script = ({ rpc }) => (rpcs.includes(rpc) ? { code: 'UNAVAILABLE' } : undefined);
  };
  /** Lets all calls succeed from here on. */
  const mended = (): void => {
    house.plugin.script = () => undefined;
    house.plugin.calls.length = 0;
  };
  async function force(): Promise<void> {
    const forced = house.volumes.delete(key, { force: true });
    await house.clock.advance(120_000);
    await forced;
    expect((await house.volumes.get(key))?.state).to.equal('deleted');
  }
  async function retried(): Promise<void> {
    await house.volumes.retry(key);
    await house.clock.advance(120_000);
  }

  it('V13 V14 attached and not deleted: a retry without the fault unpublishes, deletes and clears both', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    fails('ControllerUnpublishVolume', 'DeleteVolume');
    await force();
    expect(await leftovers()).to.deep.equal(['published', 'created']);
    mended();
    await retried();
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK', 'DeleteVolume: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(await house.volumes.create(spec('data'))).to.include({ state: 'created' });
  });

  it('V13 attached, deletion confirmed: a retry only unpublishes', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a', { capability: shared });
    fails('ControllerUnpublishVolume');
    await force();
    mended();
    await retried();
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V13 V14 retry fails partly: unconfirmed leftovers stay listed, confirmed ones do not', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    fails('ControllerUnpublishVolume', 'DeleteVolume');
    await force();
    mended();
    fails('DeleteVolume');
    await retried();
    expect(await leftovers()).to.deep.equal(['created']);
    mended();
    await retried();
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(house.plugin.told()).to.deep.equal(['DeleteVolume: OK']);
  });

  it('V13 creation in doubt: a retry creates again to learn the id, then deletes', async () => {
    house.plugin.script = ({ rpc }) => (rpc === 'CreateVolume' ? { code: 'UNAVAILABLE', work: true } : undefined);
    house.volumes.create(spec('data')).catch(() => {});
    await house.rest();
    await force();
    expect(await leftovers()).to.deep.equal(['created']);
    mended();
    await retried();
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V2 V13 external volume: a retry unpublishes, and never deletes', async () => {
    house.plugin.keeps('their');
    await house.volumes.create(spec('data', { external: { csiId: 'their', context: { made: 'their' } } }));
    await house.volumes.publish(key, 'a');
    fails('ControllerUnpublishVolume');
    await force();
    mended();
    await retried();
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect([...house.plugin.volumes.keys()]).to.deep.equal(['their']);
  });

  it('V13 the runtime ends during a retry: the next one goes on', async () => {
    await house.volumes.create(spec('data'));
    fails('DeleteVolume');
    await force();
    mended();
    always(house.plugin, 'DeleteVolume', { after: new Promise<never>(() => {}) });
    await house.volumes.retry(key);
    await house.rest();
    const closed = house.runtime.close();
    await house.clock.advance(60_000);
    await closed;
    house.plugin.script = () => undefined;
    house.plugin.inFlight.clear();
    await house.open();
    await house.clock.advance(300_000);
    expect(await house.volumes.get(key)).to.equal(undefined);
    expect(house.plugin.volumes.size).to.equal(0);
  });

  it('V13 staging not reported by its node: a retry is refused with advice; the report clears it', async () => {
    await house.volumes.create(spec('data'));
    const { generation } = await house.volumes.claim(key, {
      ...{ allocId: 'one', nodeId: 'a', mode: 'write' },
      ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
    });
    await house.volumes.publish(key, 'a');
    await force();
    expect(await leftovers()).to.deep.equal(['staged']);
    const refusal = await refusalOf(house.volumes.retry(key));
    expect(refusal.message).to.include('alloc one').and.include('acknowledge');
    await house.runtime.nodes.reportUnstaged('a', key, { claimGeneration: generation });
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V13 deleted again or used: refused, advising a retry of the leftovers', async () => {
    await house.volumes.create(spec('data'));
    fails('DeleteVolume');
    await force();
    for (const request of [house.volumes.delete(key), house.volumes.publish(key, 'a')])
      expect((await refusalOf(request)).message)
        .to.include('retry')
        .and.include('acknowledge');
  });

  it('V13 V14 of a snapshot: a retry deletes it; a failed retry leaves it listed', async () => {
    await house.volumes.create(spec('data'));
    const { snapshots } = house.runtime;
    await snapshots.create({ ...monday, volume: key });
    always(house.plugin, 'DeleteSnapshot', { code: 'PERMISSION_DENIED' });
    await snapshots.delete(monday, { force: true });
    expect((await refusalOf(snapshots.delete(monday))).message).to.include('retry');
    await snapshots.retry(monday);
    await house.rest();
    expect((await snapshots.get(monday))?.leftovers).to.have.length(1);
    mended();
    await snapshots.retry(monday);
    await house.rest();
    expect(await snapshots.get(monday)).to.equal(undefined);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('V13 of a snapshot in doubt: a retry creates again to learn the id, then deletes', async () => {
    await house.volumes.create(spec('data'));
    const { snapshots } = house.runtime;
    house.plugin.script = ({ rpc }) => (rpc === 'CreateSnapshot' ? { code: 'UNAVAILABLE', work: true } : undefined);
    snapshots.create({ ...monday, volume: key }).catch(() => {});
    await house.rest();
    const forced = snapshots.delete(monday, { force: true });
    await house.clock.advance(120_000);
    await forced;
    mended();
    await snapshots.retry(monday);
    await house.clock.advance(60_000);
    expect(await snapshots.get(monday)).to.equal(undefined);
    expect(house.plugin.snapshots.size).to.equal(0);
  });

  it('V13 of a group: a retry deletes it with the ids of its members', async () => {
    for (const id of ['data', 'wal']) await house.volumes.create(spec(id));
    const { groupSnapshots } = house.runtime;
    await groupSnapshots.create({ ...monday, volumes: [{ id: 'data' }, { id: 'wal' }] });
    always(house.plugin, 'DeleteVolumeGroupSnapshot', { code: 'PERMISSION_DENIED' });
    await groupSnapshots.delete(monday, { force: true });
    mended();
    await groupSnapshots.retry(monday);
    await house.rest();
    expect(toldOf(house.plugin, 'DeleteVolumeGroupSnapshot')).to.deep.equal(['DeleteVolumeGroupSnapshot: OK']);
    expect(house.plugin.calls.at(-1)?.request).to.deep.include({
      snapshotIds: ['group-1-of-vol-1', 'group-1-of-vol-2'],
    });
    expect(await groupSnapshots.get(monday)).to.equal(undefined);
  });

  it('V13 V16 of a snapshot: its id stays reserved', async () => {
    await house.volumes.create(spec('data'));
    const { snapshots } = house.runtime;
    await snapshots.create({ ...monday, volume: key });
    always(house.plugin, 'DeleteSnapshot', { code: 'PERMISSION_DENIED' });
    await snapshots.delete(monday, { force: true });
    const kept = house.plugin.snapshots.get('snap-1');
    if (kept) kept.name = 'of another';
    house.plugin.snapshotNamed = () => kept;
    const refusal = await refusalOf(snapshots.create({ id: 'tuesday', volume: key }));
    expect(refusal).to.include({ code: 'CSI_ID_TAKEN' });
  });
});
