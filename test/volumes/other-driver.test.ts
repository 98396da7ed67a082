/** Tests another driver under the name of a plugin: it gets no calls about volumes of the first driver. */
import { expect } from 'chai';
import { volumeAddress } from '../../machines/kit/addresses.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import { refusalOf } from '../refusal.js';
import { FakePlugin } from './fake-plugin.js';
import { always } from './scripts.js';
import { pluginName, spec, VolumeHouse } from './volume-house.js';

const key = { id: 'data' };
const monday = { id: 'monday' };
const other = 'other.example';

describe('another driver under the name of a plugin', () => {
  let house: VolumeHouse;
  beforeEach(async () => {
    house = new VolumeHouse();
    house.plugin.pluginCapabilities = ['CONTROLLER_SERVICE', 'GROUP_CONTROLLER_SERVICE'];
    await house.furnish();
  });
  afterEach(async () => {
    try {
      expect(house.plugin.wrongs).to.deep.equal([]);
    } finally {
      await house.dispose();
    }
  });

  /** Registers a driver under the name of the plugin, and clears the recorded calls. */
  async function becomes(driver: string): Promise<void> {
    house.plugin.driver = driver;
    await house.clock.advance(60_000);
    house.plugin.calls.length = 0;
  }
  async function isRefused(request: Promise<unknown>): Promise<void> {
    const refusal = await refusalOf(request);
    expect(refusal).to.include({ code: 'OTHER_DRIVER', final: true });
    expect(refusal.message).to.include('fake.example').and.include(other).and.include(`--accept-driver ${other}`);
  }

  it('V6 volume of the first driver: no call goes to the other, each refusal names both', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    await house.volumes.create(spec('free'));
    expect((await house.volumes.get(key))?.driver).to.equal('fake.example');
    await becomes(other);
    await isRefused(house.volumes.unpublish(key, 'a'));
    await isRefused(house.volumes.expand(key, { requiredBytes: 1_000 }));
    await isRefused(house.volumes.modify(key, { iops: '1' }));
    await isRefused(house.volumes.publish({ id: 'free' }, 'b'));
    await isRefused(house.volumes.delete({ id: 'free' }));
    await isRefused(house.volumes.create(spec('copy', { source: { volume: key } })));
    await isRefused(house.runtime.snapshots.create({ ...monday, volume: key }));
    expect(house.plugin.told()).to.deep.equal([]);
    expect(house.plugin.volumes.size).to.equal(2);
  });

  it('V6 V20 other driver lists none of its volumes: no evidence, nothing is published again', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    await becomes(other);
    house.plugin.volumes.clear();
    expect(await house.volumes.reconcile('disk')).to.deep.equal([{ plugin: 'disk', volumes: 0, differing: [] }]);
    expect(await house.volumes.get(key))
      .to.include({ state: 'published' })
      .and.not.to.have.property('missing');
  });

  it('V6 V11 first driver registered again: a retry goes on', async () => {
    await house.volumes.create(spec('data'));
    await becomes(other);
    await isRefused(house.volumes.delete(key));
    await becomes('fake.example');
    await house.volumes.retry(key);
    await house.rest();
    expect(house.plugin.told()).to.deep.equal(['DeleteVolume: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V6 V13 deleted with force: a leftover; a retry that accepts the other driver clears it', async () => {
    await house.volumes.create(spec('data'));
    await house.volumes.publish(key, 'a');
    await becomes(other);
    await house.volumes.delete(key, { force: true });
    const left = (await house.volumes.get(key))?.leftovers;
    expect(left?.map(({ what }) => what)).to.deep.equal(['published', 'created']);
    expect(left?.[0]?.message).to.include(other);
    expect(house.plugin.told()).to.deep.equal([]);
    await house.volumes.retry(key, { acceptDriver: other });
    await house.rest();
    expect(house.plugin.told()).to.deep.equal(['ControllerUnpublishVolume csi-a: OK', 'DeleteVolume: OK']);
    expect(await house.volumes.get(key)).to.equal(undefined);
  });

  it('V6 V12 other driver accepted: it gets all calls, also after a restart, and the journal names it', async () => {
    await house.volumes.create(spec('data'));
    await becomes(other);
    await isRefused(house.volumes.publish(key, 'a'));
    await house.volumes.retry(key, { acceptDriver: other });
    await house.rest();
    expect(await house.volumes.get(key)).to.include({ state: 'published', driver: other });
    await house.restart();
    await house.clock.advance(60_000);
    await house.volumes.unpublish(key, 'a');
    const entries: JournalEntry[] = [];
    for await (const entry of house.runtime.journal.entries(volumeAddress('default', 'data'))) entries.push(entry);
    expect(entries.flatMap(({ event }) => event?.acceptDriver ?? [])).to.deep.equal([other]);
    await becomes('fake.example');
    expect((await refusalOf(house.volumes.delete(key))).message).to.include(`'${other}' made this`);
  });

  it('V6 accepted with an invalid name: INVALID_ARGUMENT, the first driver keeps its calls', async () => {
    await house.volumes.create(spec('data'));
    for (const acceptDriver of ['', 'a\nb'])
      expect((await refusalOf(house.volumes.retry(key, { acceptDriver }))).code).to.equal('INVALID_ARGUMENT');
    await house.volumes.delete(key);
  });

  it('V6 snapshots and groups of the first driver: not deleted by the other until it is accepted', async () => {
    for (const id of ['data', 'wal']) await house.volumes.create(spec(id));
    const { snapshots, groupSnapshots } = house.runtime;
    expect((await snapshots.create({ ...monday, volume: key })).driver).to.equal('fake.example');
    await groupSnapshots.create({ ...monday, volumes: [{ id: 'data' }, { id: 'wal' }] });
    await becomes(other);
    await isRefused(snapshots.delete(monday));
    await isRefused(groupSnapshots.delete(monday));
    expect(house.plugin.told()).to.deep.equal([]);
    await snapshots.retry(monday, { acceptDriver: other });
    await groupSnapshots.retry(monday, { acceptDriver: other });
    await house.clock.advance(1_000);
    expect([await snapshots.get(monday), await groupSnapshots.get(monday)]).to.deep.equal([undefined, undefined]);
  });

  it('V6 group of volumes of two drivers: refused, naming both', async () => {
    await house.volumes.create(spec('data'));
    await becomes(other);
    await house.volumes.create(spec('wal'));
    const asked = { ...monday, volumes: [{ id: 'data' }, { id: 'wal' }] };
    const refusal = await refusalOf(house.runtime.groupSnapshots.create(asked));
    expect(refusal).to.include({ code: 'INVALID_ARGUMENT' });
    expect(refusal.message).to.include('fake.example').and.include(other);
  });

  it('V6 V10 creation in doubt when the other driver comes: not repeated with the other', async () => {
    always(house.plugin, 'CreateVolume', { code: 'UNAVAILABLE', work: true });
    const creation = refusalOf(house.volumes.create(spec('data')));
    await house.rest();
    await becomes(other);
    expect(await creation).to.include({ code: 'OTHER_DRIVER' });
    house.plugin.script = () => undefined;
    await house.volumes.retry(key);
    await house.clock.advance(60_000);
    expect(house.plugin.told()).to.deep.equal([]);
    await becomes('fake.example');
    await house.volumes.delete(key);
    expect(house.plugin.told()).to.deep.equal(['CreateVolume: OK', 'DeleteVolume: OK']);
  });

  it('V6 node plugin registered first, with another driver name: a creation records that of the controller', async () => {
    await house.dispose();
    house = new VolumeHouse();
    const node = new FakePlugin();
    node.driver = 'node.example';
    await house.open({ dispensers: { 'csi-controller': house.plugin, 'csi-node': node } });
    const connection = { socketPath: '/nowhere/node.sock' };
    await house.runtime.plugins.register({ type: 'csi-node', name: pluginName, allocId: 'node-1', connection });
    await house.rest();
    const creation = house.volumes.create(spec('data'));
    await house.rest();
    await house.register();
    await house.clock.advance(60_000);
    expect((await creation).driver).to.equal('fake.example');
  });

  it('V6 volume created before drivers were recorded: recorded at its next call, in the same commit', async () => {
    await house.dispose();
    house = new VolumeHouse();
    const look = house.plugin.look.bind(house.plugin);
    house.plugin.look = async () => {
      const { basic: _, ...seen } = await look();
      return seen;
    };
    await house.furnish();
    await house.volumes.create(spec('data'));
    expect((await house.volumes.get(key))?.driver).to.equal(undefined);
    house.plugin.look = look;
    await house.clock.advance(60_000);
    const seqOf = async (): Promise<number> => (await house.store.load(volumeAddress('default', 'data')))?.seq ?? 0;
    const before = await seqOf();
    await house.volumes.publish(key, 'a');
    expect((await seqOf()) - before).to.equal(2);
    expect((await house.volumes.get(key))?.driver).to.equal('fake.example');
    await becomes(other);
    await isRefused(house.volumes.unpublish(key, 'a'));
  });
});
