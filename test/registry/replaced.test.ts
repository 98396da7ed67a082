/** Dispensers that a test puts in the place of others, and what `createRuntime` takes as a dispenser. */
import { expect } from 'chai';
import { createRuntime, type Dispenser, type Runtime } from '../../src/index.js';
import type { PluginStatus } from '../../src/registry/plugin-statuses.js';
import { replaceDispenser } from '../../src/testing/index.js';
import { refusalOf } from '../refusal.js';
import { FakeKind, healthy, unhealthy } from './fake-kind.js';
import { device, House, refusal } from './house.js';

describe('dispensers', () => {
  let house: House;
  let other: FakeKind;

  beforeEach(async () => {
    house = await new House().open();
    other = new FakeKind();
    other.find = () => unhealthy;
  });

  afterEach(() => house.dispose());

  const status = (): PluginStatus => house.plugins.status('device', 'gpu');

  describe('replaced for a test', () => {
    it('R9 instances are looked at with the new one at once, on new clients; the old ones are closed, once', async () => {
      await house.register(device('a1'), device('b1', { name: 'tpu' }));
      const looks = house.kind.looks.length;
      replaceDispenser(house.runtime, 'device', other);
      await house.rest();
      expect(house.kind.closes).to.deep.equal([1, 1]);
      expect(other.looks.map(({ client }) => client)).to.deep.equal(other.clients);
      expect(other.clients.map(({ info }) => info)).to.deep.equal([device('a1'), device('b1', { name: 'tpu' })]);
      expect(status()).to.include({ state: 'unhealthy', description: 'worn out' });
      expect(await house.plugins.dispense('device', 'gpu')).to.equal(other.clients[0]);
      await house.clock.advance(60_000);
      expect(house.kind.looks).to.have.lengthOf(looks);
      expect(other.clients).to.have.lengthOf(2);
    });

    it('R9 put back: looked at with the former one at once, on new clients; twice is once', async () => {
      await house.register(device('a1'));
      const putBack = replaceDispenser(house.runtime, 'device', other);
      await house.rest();
      putBack();
      putBack();
      await house.rest();
      expect(status().healthy).to.equal(true);
      expect([other.closes, house.kind.closes]).to.deep.equal([[1], [1, 0]]);
      expect(await house.told()).to.deep.equal([
        'registered a1',
        'a1 unknown → true: ready',
        'a1 healthy → false: worn out',
        'a1 unhealthy → true: ready',
      ]);
    });

    it('R9 several, put back in whatever order: the last one that is left counts', async () => {
      await house.register(device('a1'));
      const third = new FakeKind();
      const backFromOther = replaceDispenser(house.runtime, 'device', other);
      const backFromThird = replaceDispenser(house.runtime, 'device', third);
      await house.rest();
      backFromOther();
      await house.rest();
      expect([other.closes, third.closes], 'the third goes on').to.deep.equal([[], [0]]);
      backFromThird();
      await house.rest();
      expect(third.closes).to.deep.equal([1]);
      expect(house.kind.closes).to.deep.equal([1, 0]);
    });

    it('R9 waitFor waits for the look of the new one', async () => {
      await house.register(device('a1'));
      const release = other.hold();
      replaceDispenser(house.runtime, 'device', other);
      let waited = false;
      const waiting = house.plugins.waitFor('device', 'gpu').then(() => {
        waited = true;
      });
      await house.rest();
      expect([waited, status().checkedAt]).to.deep.equal([false, undefined]);
      release(healthy);
      await waiting;
    });

    it('R9 a look of the old one that is under way ends, and what it finds counts for nothing', async () => {
      const release = house.kind.hold();
      await house.register(device('a1'));
      replaceDispenser(house.runtime, 'device', other);
      expect(house.kind.lastLook.request.signal.aborted).to.equal(true);
      await house.rest();
      release(healthy);
      await house.rest();
      expect(status()).to.include({ state: 'unhealthy', description: 'worn out' });
    });

    it('R9 basic information is read again: the new one is not told of what the old one knew', async () => {
      house.kind.find = () => ({ ...healthy, basic: { pluginName: 'old', vendorVersion: '1' } });
      await house.register(device('a1'));
      replaceDispenser(house.runtime, 'device', other);
      await house.rest();
      expect(other.lastLook.request).to.not.have.property('basic');
    });

    it('R9 instances of other types, and those that are registered later, go where they belong', async () => {
      await house.runtime.close();
      const driver = new FakeKind();
      await house.open({ dispensers: { device: house.kind, driver } });
      await house.register(device('a1', { type: 'driver' }));
      replaceDispenser(house.runtime, 'device', other);
      await house.register(device('a2'));
      expect([driver.closes, driver.looks.length]).to.deep.equal([[0], 1]);
      expect([house.kind.clients, other.clients.length]).to.deep.equal([[], 1]);
    });

    it('R9 an instance that is deregistered afterwards: the client of the new one is closed, its loop ends', async () => {
      await house.register(device('a1'));
      replaceDispenser(house.runtime, 'device', other);
      await house.rest();
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.rest();
      expect(other.closes).to.deep.equal([1]);
      const { length } = other.looks;
      await house.clock.advance(60_000);
      expect(other.looks).to.have.lengthOf(length);
    });

    it('R9 the next runtime knows nothing of it; put back after the end is nothing', async () => {
      await house.register(device('a1'));
      const putBack = replaceDispenser(house.runtime, 'device', other);
      await house.rest();
      await house.restart();
      await house.rest();
      putBack();
      await house.rest();
      expect(status().healthy).to.equal(true);
      expect(house.kind.closes).to.deep.equal([1, 0]);
    });

    it('R9 unknown type: NO_DISPENSER; invalid dispenser: INVALID_ARGUMENT; no runtime: TypeError', async () => {
      const { runtime } = house;
      const none: Dispenser = JSON.parse('{}');
      const stranger: Runtime = JSON.parse('{ "plugins": {} }');
      expect((await refusal(() => replaceDispenser(runtime, 'printer', other))).code).to.equal('NO_DISPENSER');
      expect((await refusal(() => replaceDispenser(runtime, 'device', none))).code).to.equal('INVALID_ARGUMENT');
      expect(() => replaceDispenser(stranger, 'device', other)).to.throw(TypeError);
    });

    it('R9 nothing of it shows on the runtime', () => {
      const { runtime } = house;
      for (const part of [runtime, runtime.plugins]) {
        const names = [part, Object.getPrototypeOf(part)].flatMap((one) => Reflect.ownKeys(one));
        expect(names.filter((name) => /dispenser|replace|client/i.test(String(name)))).to.deep.equal([]);
      }
    });
  });

  describe('given to createRuntime', () => {
    const good = (): void => {};
    const whole = { connect: good, fingerprint: good, close: good };
    const faults: [title: string, dispensers: unknown, why: string][] = [
      ['a list', [], 'must be an object'],
      ['nothing at all', null, 'must be an object'],
      ['an empty type', { '': whole }, 'empty type'],
      ['a type of 129 bytes', { [`${'é'.repeat(64)}x`]: whole }, 'at most 128 bytes'],
      ['a type with half a surrogate pair', { 'x\ud800': whole }, 'surrogate'],
      ['null for a type', { device: null }, "the dispenser of 'device' is no object"],
      ['undefined for a type', { device: undefined }, "the dispenser of 'device' is no object"],
      ['a function', { device: good }, "the dispenser of 'device' is no object"],
      ['one without connect', { device: { ...whole, connect: undefined } }, "'device' has no function connect"],
      ['one without fingerprint', { device: { ...whole, fingerprint: 1 } }, "'device' has no function fingerprint"],
      ['one without close', { device: { connect: good, fingerprint: good } }, "'device' has no function close"],
      ['an empty one', { device: {} }, 'connect, nor fingerprint, nor close'],
      ['one whose onDisconnect is no function', { device: { ...whole, onDisconnect: true } }, 'onDisconnect'],
    ];
    for (const [title, dispensers, why] of faults) {
      it(`R15 ${title}: INVALID_ARGUMENT, which names it`, async () => {
        const fresh = new House();
        try {
          const options = { nodeId: 'n1', dataDir: fresh.directory, dispensers };
          // @ts-expect-error: plain JavaScript may give anything
          const error = await refusalOf(createRuntime(options));
          expect(error.code).to.equal('INVALID_ARGUMENT');
          expect(error.message).to.include(why);
        } finally {
          await fresh.dispose();
        }
      });
    }

    it('R15 one for a built-in type takes its place', async () => {
      await house.runtime.close();
      await house.open({ dispensers: { 'csi-node': house.kind } });
      await house.register(device('a1', { type: 'csi-node' }));
      expect(house.plugins.status('csi-node', 'gpu').healthy).to.equal(true);
      expect(await house.plugins.dispense('csi-node', 'gpu')).to.equal(house.kind.clients[0]);
      const error = await refusal(() => house.plugins.register(device('a1')));
      expect(error.message).to.include('csi-node, csi-controller');
    });

    it('R15 removed: its instances are unhealthy with the reason, new ones refused; given again: healthy', async () => {
      await house.register(device('a1'));
      await house.runtime.close();
      await house.open({ dispensers: {} });
      await house.rest();
      expect(status()).to.include({ state: 'unhealthy', healthy: false });
      expect(status().description).to.match(
        /^failed initial fingerprint: nothing here speaks to plugins of type 'device'/,
      );
      expect((await refusal(() => house.plugins.register(device('a2')))).code).to.equal('NO_DISPENSER');
      await house.runtime.close();
      await house.open({ dispensers: { device: house.kind } });
      await house.rest();
      expect(status().healthy).to.equal(true);
    });

    it('R15 types of 128 bytes, or named like a property of every object, work as any other', async () => {
      await house.runtime.close();
      const types = ['é'.repeat(64), 'constructor', '__proto__'];
      const dispensers = Object.fromEntries(types.map((type) => [type, house.kind]));
      await house.open({ dispensers });
      for (const type of types) {
        await house.register(device('a1', { type }));
        expect(house.plugins.status(type, 'gpu').healthy).to.equal(true);
      }
    });
  });
});
