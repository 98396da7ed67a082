/** What a restart brings back: the same on every store that keeps anything. Crashes: crash.test.ts */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { Store } from '../../src/engine/store.js';
import { Cable } from './cable.js';
import { odd } from './crash-story.js';
import { device, gpus, House, inShort, nodeId, refusal, take } from './house.js';
import { inLmdb, inMemory, inRedis, type KeptData, type RawData } from './kept-data.js';

const subjects: { name: string; make(): Promise<KeptData & Partial<RawData>> }[] = [
  { name: 'memory', make: async () => inMemory() },
  { name: 'lmdb', make: () => inLmdb() },
  { name: 'redis', make: inRedis },
];

const whole = device('a1', {
  version: '1.2.3',
  connection: { socketPath: '/nowhere/ü 日本.sock' },
  options: odd,
});
const basic = {
  pluginName: 'acme',
  vendorVersion: '7',
  nodeId: 'n-1',
  maxVolumes: 12,
  topology: { 'acme/zone': 'b' },
  pluginCapabilities: ['CONTROLLER_SERVICE'],
};

for (const { name, make } of subjects) {
  describe(`plugins restored from ${name}`, () => {
    let house: House;
    let data: KeptData & Partial<RawData>;

    const restart = (): Promise<House> =>
      name === 'memory' ? house.restart() : house.restart(new Cable(data.store()));
    const healthyNow = (...infos: PluginInfo[]): Promise<unknown> =>
      Promise.all(infos.map((info) => house.plugins.waitFor(info.type, info.name)));

    beforeEach(async () => {
      data = await make();
      house = await new House(new Cable(data.store())).open();
    });

    afterEach(async () => {
      await house.dispose();
      await data.remove();
    });

    it('R11 the order of instances and every field of theirs', async () => {
      const infos = [whole, device('a0'), device('a3', { version: '' }), device('a2', { options: {} })];
      for (const info of infos) await house.plugins.register(info);
      await house.plugins.register(device('b/1', { name: '日本/%' }));
      await restart();
      expect(house.plugins.instances('device', 'gpu')).to.deep.equal(infos.toReversed());
      expect(JSON.stringify(house.plugins.forAlloc('device', 'gpu', 'a1'))).to.equal(JSON.stringify(whole));
      expect(house.plugins.list()).to.have.deep.members([infos[3], device('b/1', { name: '日本/%' })]);
      expect(house.runtime.actors.quarantined()).to.deep.equal([]);
    });

    it('R11 what was known of an instance is known before anybody looks, with no claim to have looked', async () => {
      house.kind.find = () => ({ healthy: true, description: 'cool', basic, capabilities: ['SPIN'] });
      await house.plugins.register(whole);
      await healthyNow(whole);
      house.kind.hold();
      await restart();
      expect(house.plugins.status('device', 'gpu')).to.deep.equal({
        info: whole,
        state: 'healthy',
        healthy: true,
        description: 'cool',
        fingerprint: { ...basic, capabilities: ['SPIN'] },
      });
    });

    it('R11 no registered event comes of it, and none of health that has not changed', async () => {
      await house.plugins.register(whole);
      await house.plugins.register(device('a2'));
      await healthyNow(whole);
      await house.rest();
      await restart();
      await healthyNow(whole);
      await restart();
      await healthyNow(whole);
      const told = (await house.told()).toSorted();
      expect(told).to.deep.equal([
        'a1 unknown → true: ready',
        'a2 unknown → true: ready',
        'registered a1',
        'registered a2',
      ]);
    });

    it('R12 healthy in an earlier run is not healthy now: a wait lasts until somebody has looked', async () => {
      await house.plugins.register(whole);
      await healthyNow(whole);
      const release = house.kind.hold();
      await restart();
      const wait = house.plugins.waitFor('device', 'gpu');
      await house.kind.looked(2);
      expect(house.plugins.status('device', 'gpu').checkedAt).to.equal(undefined);
      release({ healthy: true, description: 'cool' });
      expect((await wait).checkedAt).to.equal(house.clock.now());
    });

    it('I2 basic information is read anew by the next run, not taken from the last', async () => {
      house.kind.find = () => ({ healthy: true, description: 'cool', basic });
      await house.plugins.register(whole);
      await healthyNow(whole);
      await restart();
      await healthyNow(whole);
      expect(house.kind.lastLook.request.basic).to.equal(undefined);
      expect(house.kind.lastLook.request.info).to.deep.equal(whole);
    });

    it('R11 what was deregistered stays away, a promoted instance stays active', async () => {
      for (const allocId of ['a1', 'a2', 'a3']) await house.plugins.register(device(allocId));
      await house.plugins.deregister('device', 'gpu', 'a3');
      await house.plugins.register(device('b1', { name: 'tpu' }));
      await house.plugins.deregister('device', 'tpu', 'b1');
      await restart();
      expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
      expect(house.plugins.list()).to.deep.equal([device('a2')]);
      const { rows } = await house.store.list({ prefix: 'plugin', limit: 10 });
      expect(rows.map(({ address }) => address)).to.have.members([
        gpus,
        ...['a1', 'a2'].map((allocId) => pluginAddress(nodeId, 'device', 'gpu', allocId)),
      ]);
    });

    it('R11 an update is restored as updated', async () => {
      await house.plugins.register(whole);
      await house.plugins.register({ ...whole, version: '2' });
      await restart();
      expect(house.plugins.list()).to.deep.equal([{ ...whole, version: '2' }]);
      await healthyNow(whole);
      expect(house.kind.lastLook.client.info).to.deep.equal({ ...whole, version: '2' });
    });

    it('R11 the restored go on: registered again as before, replaced and deregistered', async () => {
      await house.plugins.register(whole);
      await healthyNow(whole);
      await restart();
      await house.plugins.register(whole);
      await house.plugins.register(device('a2'));
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.plugins.waitFor('device', 'gpu');
      expect(house.plugins.status('device', 'gpu').info).to.deep.equal(device('a2'));
    });

    it('R10 an event id of an earlier run leads on in the next one', async () => {
      await house.plugins.register(device('a1'));
      await healthyNow(device('a1'));
      const [first] = await house.events();
      await restart();
      await house.plugins.register(device('a2'));
      const later = await take(house.plugins.updates(undefined, { from: first?.id ?? '' }), 2);
      expect(later.map(inShort)).to.deep.equal(['a1 unknown → true: ready', 'registered a2']);
    });

    for (const [title, text] of [
      ['is no JSON', '{"format":1,"mach'],
      ['is of a format to come', '{"format":999}'],
      ['names a state that the machine has not', undefined],
    ] satisfies [string, string | undefined][]) {
      it(`R11 one record ${title}: it is named and left as it is, the rest is restored`, async () => {
        for (const allocId of ['a1', 'a2']) await house.plugins.register(device(allocId));
        await house.plugins.register(device('b1', { name: 'tpu' }));
        await healthyNow(device('a2'), device('b1', { name: 'tpu' }));
        await house.runtime.close();
        const store = new Cable(data.store());
        const damaged = await damage(store, gpus, text);
        house.store = store;
        await house.open();
        expect(house.runtime.actors.quarantined().map(({ address }) => address)).to.deep.equal([gpus]);
        expect(house.plugins.list()).to.deep.equal([device('b1', { name: 'tpu' })]);
        await healthyNow(device('b1', { name: 'tpu' }));
        expect((await refusal(() => house.plugins.register(device('a3')))).code).to.equal('ACTOR_QUARANTINED');
        expect((await house.store.load(gpus))?.text).to.equal(damaged);
      });
    }

    it('R11 the record of an instance is damaged: named, and the name still lists it', async () => {
      await house.plugins.register(device('a1'));
      await house.plugins.register(device('a2'));
      await healthyNow(device('a2'));
      await house.runtime.close();
      const store = new Cable(data.store());
      const address = pluginAddress(nodeId, 'device', 'gpu', 'a2');
      await damage(store, address, '{}');
      house.store = store;
      await house.open();
      expect(house.runtime.actors.quarantined().map((one) => one.address)).to.deep.equal([address]);
      expect(house.allocIds()).to.deep.equal(['a2', 'a1']);
      expect(house.plugins.status('device', 'gpu')).to.include({ healthy: false });
      await house.plugins.deregister('device', 'gpu', 'a2');
      expect((await house.plugins.waitFor('device', 'gpu')).info).to.deep.equal(device('a1'));
    });

    it('R15 its dispenser is missing: unhealthy with the reason, removable, and the rest runs', async () => {
      await house.plugins.register(whole);
      await healthyNow(whole);
      await house.runtime.close();
      if (name !== 'memory') house.store = new Cable(data.store());
      await house.open({ dispensers: {} });
      const gone = house.plugins.updates(undefined, { from: 'plugins/worker-1@2' })[Symbol.asyncIterator]();
      const { value } = await gone.next();
      expect(value).to.include({ kind: 'health', was: 'healthy', healthy: false });
      expect(house.plugins.status('device', 'gpu')).to.include({ state: 'unhealthy' });
      expect(house.plugins.status('device', 'gpu').description).to.include("type 'device'");
      expect((await refusal(() => house.plugins.dispense('device', 'gpu'))).code).to.equal('NO_DISPENSER');
      await house.plugins.deregister('device', 'gpu', 'a1');
      expect(house.plugins.list()).to.deep.equal([]);
    });
  });
}

/** Writes something else where a record was; `undefined`: the same with another state. Answers what stands there now. */
async function damage(store: Store, address: string, wanted: string | undefined): Promise<string> {
  await store.open();
  const record = await store.load(address);
  if (!record) throw new Error(`there is no ${address}`);
  const text = wanted ?? record.text.replace('"value":"present"', '"value":"absurd"');
  const { seq, epoch, owner } = record;
  const commit = { address, commitId: 'damage', expectedSeq: seq, epoch, owner, text, journal: '{}' };
  const [result] = await store.commit([commit]);
  if (result?.status !== 'done') throw new Error('the damage could not be done');
  await store.close();
  return text;
}
