/** The end of an instance while it is looked at, in every order in which that may happen. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { Fingerprint, PluginInfo } from '../../machines/plugin/plugin.js';
import { type FakeClient, healthy, unhealthy } from './fake-kind.js';
import { device, House, inShort, nodeId } from './house.js';

/** More turns than any of the ways takes here: all that comes after is the same again. */
const turns = 40;

const answers: [title: string, found: Fingerprint | Error][] = [
  ['good', healthy],
  ['bad', unhealthy],
  ['failing', new Error('cancelled')],
];

async function elapse(ticks: number): Promise<void> {
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
}

describe('shutdown of plugin instances', () => {
  let house: House;

  beforeEach(async () => {
    house = await new House().open();
  });

  afterEach(() => house.dispose());

  const clientOf = ({ name }: PluginInfo): FakeClient | undefined =>
    house.kind.clients.find(({ info }) => info.name === name);

  /** Whatever happened before: it is gone, told so, and nobody looks any more. */
  async function checkGone(info: PluginInfo): Promise<void> {
    const { type, name, allocId } = info;
    expect(house.plugins.instances(type, name)).to.deep.equal([]);
    expect(await house.store.load(pluginAddress(nodeId, type, name, allocId))).to.include({ gone: true });
    expect(clientOf(info)?.closes, 'closes').to.equal(1);
    expect(clientOf(info)?.listeners.size, 'listeners').to.equal(0);
    const history = await house.history(info);
    const end = history.indexOf('plugin.shutdown');
    expect(end).to.be.greaterThan(0);
    expect(history.slice(end + 1).filter((entry) => !entry.startsWith('stale'))).to.deep.equal([]);
    const health = (await house.events()).filter(({ kind, info: { name: of } }) => kind === 'health' && of === name);
    for (const [index, { was }] of health.entries()) {
      const before = health[index - 1]?.healthy;
      expect(was).to.equal(before === undefined ? 'unknown' : before ? 'healthy' : 'unhealthy');
    }
    const last = health.at(-1);
    expect(last?.healthy ?? false, 'the last report').to.equal(false);
  }

  for (const [title, found] of answers) {
    for (const wasHealthy of [false, true]) {
      const which = wasHealthy ? 'a later look' : 'the first look';

      it(`I11 ${which} is ${title} while the instance is deregistered, in every order: closed once, no later probe`, async () => {
        const timers = house.clock.pending;
        const infos: PluginInfo[] = [];
        for (let ticks = -turns; ticks <= turns; ticks += 1) {
          const info = device('a1', { name: `n${ticks}` });
          infos.push(info);
          if (wasHealthy) {
            house.kind.find = () => healthy;
            await house.register(info);
          }
          const release = house.kind.hold();
          if (wasHealthy) await house.clock.advance(30_000);
          else await house.register(info);
          const { length } = house.kind.looks;

          if (ticks < 0) release(found);
          const ended = ticks < 0 ? elapse(-ticks).then(() => out(info)) : out(info);
          await elapse(Math.max(ticks, 0));
          if (ticks >= 0) release(found);
          await ended;
          await house.rest();
          expect(house.kind.looks.length, `${ticks} ticks`).to.equal(length);
        }
        const { length } = house.kind.looks;
        await house.clock.advance(3_600_000);
        expect(house.kind.looks).to.have.lengthOf(length);
        for (const info of infos) await checkGone(info);
        expect(house.clock.pending).to.equal(timers);
      });
    }
  }

  const out = ({ type, name, allocId }: PluginInfo): Promise<void> => house.plugins.deregister(type, name, allocId);

  it('I11 deregistered at any moment after its registration: gone, closed at most once, no look after it', async () => {
    const timers = house.clock.pending;
    for (let ticks = 0; ticks <= turns; ticks += 1) {
      const info = device('a1', { name: `n${ticks}` });
      const registered = house.plugins.register(info);
      await elapse(ticks);
      await Promise.all([registered, registered.then(() => out(info))]);
      await house.rest();
      expect(clientOf(info)?.closes ?? 1).to.equal(1);
      expect(await house.store.load(pluginAddress(nodeId, 'device', info.name, 'a1'))).to.include({ gone: true });
    }
    const { length } = house.kind.looks;
    await house.clock.advance(3_600_000);
    expect(house.kind.looks).to.have.lengthOf(length);
    expect(house.clock.pending).to.equal(timers);
  });

  it('I11 a call in flight is cancelled, also one that does not heed it: the end does not wait for it', async () => {
    house.kind.hold();
    await house.register(device('a1'));
    await house.plugins.deregister('device', 'gpu', 'a1');
    await house.rest();
    expect(house.kind.lastLook.request.signal.aborted).to.equal(true);
    await checkGone(device('a1'));
  });

  it('I11 the client is closed before another one for the same instance is made', async () => {
    const open = new Set<FakeClient>();
    const most: number[] = [];
    house.kind.connecting = () => void most.push(open.size);
    house.kind.closing = (client) => void open.delete(client);
    house.kind.find = ({ client }) => {
      open.add(client);
      return healthy;
    };
    await house.register(device('a1'));
    for (let n = 0; n < 5; n += 1) await house.register(device('a1', { version: `v${n}` }));
    for (let n = 0; n < 5; n += 1) {
      void house.plugins.deregister('device', 'gpu', 'a1');
      await house.register(device('a1'));
    }
    expect(most).to.deep.equal(Array.from({ length: 11 }, () => 0));
    expect(house.kind.closes.toSorted()).to.deep.equal([0, ...Array.from({ length: 10 }, () => 1)]);
  });

  it('I11 healthy, it tells a last unhealthy report, after it is told as deregistered', async () => {
    await house.register(device('a1'));
    await out(device('a1'));
    await house.rest();
    expect((await house.events()).map(inShort).slice(2)).to.deep.equal([
      'deregistered a1',
      'a1 healthy → false: shut down',
    ]);
  });

  describe('gone', () => {
    const gpu = { type: 'device', name: 'gpu', allocId: 'a1' };
    const never = new AbortController().signal;

    it('T7 resolves once the instance has shut down, not before', async () => {
      await house.register(device('a1'));
      let isGone = false;
      const gone = house.plugins.gone(gpu, never).then(() => {
        isGone = true;
      });
      await house.clock.advance(60_000);
      expect([isGone, clientOf(device('a1'))?.closes]).to.deep.equal([false, 0]);
      await out(device('a1'));
      await gone;
      expect(clientOf(device('a1'))?.closes).to.equal(1);
    });

    it('T7 of what was never there, or with its signal aborted: resolves at once; aborted later: then', async () => {
      await house.plugins.gone(gpu, never);
      await house.register(device('a1'));
      await house.plugins.gone(gpu, AbortSignal.abort());
      const stop = new AbortController();
      const gone = house.plugins.gone(gpu, stop.signal);
      stop.abort();
      await gone;
    });
  });

  it('I11 the runtime closes at any moment of a probe: clients closed once, no timer left, records kept', async () => {
    for (let ticks = -20; ticks <= 20; ticks += 4) {
      const looking = await new House().open();
      try {
        const release = looking.kind.hold();
        await looking.register(device('a1'), device('a2'));
        if (ticks < 0) release(healthy);
        const closed = ticks < 0 ? elapse(-ticks).then(() => looking.runtime.close()) : looking.runtime.close();
        await elapse(Math.max(ticks, 0));
        if (ticks >= 0) release(healthy);
        await closed;
        expect(looking.kind.closes).to.deep.equal([1, 1]);
        expect(looking.clock.pending).to.equal(0);
        expect(looking.kind.looks.map(({ request }) => request.signal.aborted)[1]).to.equal(true);
        await looking.clock.advance(3_600_000);
        expect(looking.kind.looks).to.have.lengthOf(2);
        looking.kind.find = () => healthy;
        await looking.open();
        await looking.rest();
        expect(looking.allocIds()).to.deep.equal(['a2', 'a1']);
        expect(looking.plugins.status('device', 'gpu').healthy).to.equal(true);
      } finally {
        await looking.dispose();
      }
    }
  });
});
