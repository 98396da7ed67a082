/** Looking at instances for as long as they are registered: when, what is kept of it, and what may go wrong. */
import { expect } from 'chai';
import { pluginAddress } from '../../machines/kit/addresses.js';
import type { Fingerprint, PluginBasics } from '../../machines/plugin/plugin.js';
import type { PluginStatus } from '../../src/registry/plugin-statuses.js';
import { type FakeClient, healthy, unhealthy } from './fake-kind.js';
import { device, House, inShort, nodeId } from './house.js';

const intervalMs = 30_000;
const basic: PluginBasics = { pluginName: 'acme', vendorVersion: '7', nodeId: 'n-1' };

describe('fingerprints', () => {
  let house: House;

  beforeEach(async () => {
    house = await new House().open();
  });

  afterEach(() => house.dispose());

  const status = (): PluginStatus => house.plugins.status('device', 'gpu');
  const health = async (): Promise<string[]> =>
    (await house.events()).filter(({ kind }) => kind === 'health').map(inShort);

  /** Milliseconds between the looks that come while this much time passes. */
  async function gaps(ms: number): Promise<number[]> {
    const times: number[] = [];
    const { find } = house.kind;
    house.kind.find = (look) => {
      times.push(house.clock.now());
      return find(look);
    };
    const startMs = house.clock.now();
    await house.clock.advance(ms);
    return times.map((at, index) => at - (times[index - 1] ?? startMs));
  }

  describe('rounds', () => {
    it('I1 the first begins at once; good, it leads to healthy', async () => {
      await house.plugins.register(device('a1'));
      await house.kind.looked(1);
      await house.rest();
      expect(status()).to.include({ state: 'healthy', checkedAt: house.clock.now() });
    });

    it('I1 a healthy instance is looked at every 30 s', async () => {
      await house.register(device('a1'));
      expect(await gaps(4 * intervalMs)).to.deep.equal([intervalMs, intervalMs, intervalMs, intervalMs]);
    });

    it('I1 an unchanged round is no event and no commit; only checkedAt moves', async () => {
      house.kind.find = () => ({ ...healthy, basic: { ...basic }, capabilities: ['SPIN'] });
      await house.register(device('a1'));
      const [commits, told] = [house.commits.length, await house.told()];
      await house.clock.advance(100 * intervalMs);
      expect(house.commits.length).to.equal(commits);
      expect(await house.told()).to.deep.equal(told);
      expect(status().checkedAt).to.equal(house.clock.now());
    });

    it('I1 the same in another order of keys is unchanged too', async () => {
      house.kind.find = () => ({ healthy: true, description: 'ready', basic: { pluginName: 'x', vendorVersion: '1' } });
      await house.register(device('a1'));
      const { length } = house.commits;
      house.kind.find = () => ({ basic: { vendorVersion: '1', pluginName: 'x' }, description: 'ready', healthy: true });
      await house.clock.advance(2 * intervalMs);
      expect(house.commits).to.have.lengthOf(length);
    });

    it('I1 a change that is none of health is kept, with one commit and no event', async () => {
      await house.register(device('a1'));
      const [commits, told] = [house.commits.length, await house.told()];
      house.kind.find = () => ({ ...healthy, capabilities: ['SPIN'] });
      await house.clock.advance(3 * intervalMs);
      expect(status().fingerprint.capabilities).to.deep.equal(['SPIN']);
      expect(house.commits.length).to.equal(commits + 1);
      expect(await house.told()).to.deep.equal(told);
    });

    it('I1 an object that the dispenser goes on changing is seen to change, and nothing of it is shared', async () => {
      const mine = { healthy: true, description: 'ready', capabilities: ['SPIN'] };
      house.kind.find = () => mine;
      await house.register(device('a1'));
      mine.capabilities.push('GLOW');
      expect(status().fingerprint.capabilities).to.deep.equal(['SPIN']);
      await house.clock.advance(intervalMs);
      expect(status().fingerprint.capabilities).to.deep.equal(['SPIN', 'GLOW']);
    });

    it('I1 an unhealthy instance is looked at sooner, less and less so, until the interval is reached', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      expect(await gaps(121_500)).to.deep.equal([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    });

    it('I1 healthy in between, it begins with short gaps again', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      await house.clock.advance(31_500);
      house.kind.find = () => healthy;
      await house.clock.advance(intervalMs);
      expect(status().healthy).to.equal(true);
      house.kind.find = () => unhealthy;
      await house.clock.advance(intervalMs);
      expect(await gaps(1_500)).to.deep.equal([500, 1_000]);
    });

    it('I1 the interval is what the runtime was told, also where it is shorter than any retry', async () => {
      await house.runtime.close();
      await house.open({ fingerprint: { intervalMs: 40 } });
      await house.register(device('a1'));
      expect(await gaps(120)).to.deep.equal([40, 40, 40]);
      house.kind.find = () => unhealthy;
      expect(await gaps(120)).to.deep.equal([40, 40, 40]);
    });
  });

  describe('time limit of a round', () => {
    it('I1 no answer within 30 s: unhealthy with that reason, the dispenser told to stop, and another round', async () => {
      const release = house.kind.hold();
      await house.register(device('a1'));
      await house.clock.advance(29_999);
      expect([status().state, house.kind.lastLook.request.signal.aborted]).to.deep.equal(['fingerprinting', false]);
      await house.clock.advance(1);
      expect(house.kind.lastLook.request.signal.aborted).to.equal(true);
      expect(status()).to.include({ state: 'unhealthy' });
      expect(status().description).to.equal('failed initial fingerprint: no answer within 30000 ms');
      await house.clock.advance(500);
      expect(house.kind.looks).to.have.lengthOf(2);
      release(healthy);
      await house.rest();
      expect(status().state, "the first one's answer is late").to.equal('unhealthy');
      release(healthy);
      await house.rest();
      expect(status().state).to.equal('healthy');
    });

    it('I1 a dispenser that fails after its time is over hurts nobody', async () => {
      const release = house.kind.hold();
      await house.register(device('a1'));
      await house.clock.advance(30_000);
      release(new Error('too late'));
      await house.rest();
      expect(status().description).to.equal('failed initial fingerprint: no answer within 30000 ms');
    });

    it('I1 the limit is what the runtime was told', async () => {
      await house.runtime.close();
      await house.open({ fingerprint: { timeoutMs: 50 } });
      house.kind.hold();
      await house.register(device('a1'));
      await house.clock.advance(50);
      expect(status().description).to.include('no answer within 50 ms');
    });

    it('I1 an answered round leaves no timer behind', async () => {
      await house.register(device('a1'));
      const { pending } = house.clock;
      await house.clock.advance(10 * intervalMs);
      expect(house.clock.pending).to.equal(pending);
    });
  });

  describe('what is kept', () => {
    it('I2 what was read once is handed to each later round, also after bad ones, and need not be said again', async () => {
      house.kind.find = () => ({ ...healthy, basic });
      await house.register(device('a1'));
      house.kind.find = () => unhealthy;
      await house.clock.advance(intervalMs);
      house.kind.find = () => Promise.reject(new Error('unplugged'));
      await house.clock.advance(500);
      house.kind.find = () => healthy;
      await house.clock.advance(1_000);
      await house.clock.advance(intervalMs);
      expect(house.kind.looks.map(({ request }) => request.basic)).to.deep.equal([
        undefined,
        ...Array.from({ length: 4 }, () => basic),
      ]);
      expect(status().fingerprint).to.include(basic);
    });

    it('I2 a part that is said to be undefined is left out, not forgotten', async () => {
      house.kind.find = () => ({ ...healthy, basic, capabilities: ['SPIN'] });
      await house.register(device('a1'));
      const { length } = house.commits;
      // @ts-expect-error: allowed wherever exactOptionalPropertyTypes is off
      house.kind.find = () => ({ ...healthy, basic: undefined });
      await house.clock.advance(2 * intervalMs);
      expect(house.kind.lastLook.request.basic).to.deep.equal(basic);
      expect(status().fingerprint).to.deep.equal({ ...basic, capabilities: ['SPIN'] });
      expect(house.commits.length - length, 'capabilities were not said again').to.equal(1);
    });

    it('I3 a bad round reports what it could read, and the next one is told of it', async () => {
      house.kind.find = () => ({ ...unhealthy, basic });
      await house.register(device('a1'));
      expect(status()).to.deep.include({ healthy: false, fingerprint: { ...basic, capabilities: undefined } });
      await house.clock.advance(500);
      expect(house.kind.lastLook.request.basic).to.deep.equal(basic);
    });

    it('I4 alive but not ready is not healthy, however often; the first ready round is', async () => {
      house.kind.find = () => ({ healthy: false, description: 'initialising' });
      await house.register(device('a1'));
      await house.clock.advance(60_000);
      expect(status()).to.include({ state: 'unhealthy', description: 'initialising' });
      house.kind.find = () => healthy;
      await house.clock.advance(intervalMs);
      expect(status().state).to.equal('healthy');
      expect(await health()).to.deep.equal(['a1 unknown → false: initialising', 'a1 unhealthy → true: ready']);
    });

    it('I6 capabilities are unknown until they are read, and kept while it is unhealthy', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      expect(status().fingerprint).to.deep.equal({ capabilities: undefined });
      house.kind.find = () => ({ ...healthy, capabilities: ['SPIN'] });
      await house.clock.advance(500);
      house.kind.find = () => {
        throw new Error('unplugged');
      };
      await house.clock.advance(intervalMs);
      expect(status()).to.deep.include({ state: 'unhealthy', fingerprint: { capabilities: ['SPIN'] } });
    });
  });

  describe('what may go wrong', () => {
    const failures: [title: string, fail: () => Fingerprint | Promise<Fingerprint>][] = [
      ['rejects', () => Promise.reject(new Error('unplugged'))],
      [
        'throws before it answers',
        () => {
          throw new Error('unplugged');
        },
      ],
    ];
    for (const [title, fail] of failures) {
      it(`I3 a first look that ${title}: unhealthy, failed initial fingerprint, then tried again`, async () => {
        house.kind.find = fail;
        await house.register(device('a1'));
        expect(status()).to.include({
          state: 'unhealthy',
          description: 'failed initial fingerprint: unplugged',
        });
        await house.clock.advance(1_500);
        expect(status().description).to.equal('failed initial fingerprint: unplugged');
        expect(house.kind.looks).to.have.lengthOf(3);
        expect(await health()).to.deep.equal(['a1 unknown → false: failed initial fingerprint: unplugged']);
        house.kind.find = () => healthy;
        await house.clock.advance(2_000);
        expect(status().state).to.equal('healthy');
        house.kind.find = fail;
        await house.clock.advance(intervalMs);
        expect(status().description, 'a later one').to.equal('unplugged');
        await house.runtime.close();
      });
    }

    it('I3 a client that can not be made is a failed look; it is tried again, and made once', async () => {
      house.kind.connecting = () => {
        throw new Error('out of handles');
      };
      await house.register(device('a1'));
      expect(status()).to.include({ state: 'unhealthy', description: 'failed initial fingerprint: out of handles' });
      await house.clock.advance(1_499);
      house.kind.connecting = () => {};
      await house.clock.advance(intervalMs);
      expect(status().state).to.equal('healthy');
      expect(house.kind.clients).to.have.lengthOf(1);
      expect(await house.history(device('a1'))).to.deep.equal(['begun', 'fingerprint.changed', 'fingerprint.changed']);
    });

    it('I3 a loss that can not be listened for is a failed look', async () => {
      house.kind.onDisconnect = () => {
        throw new Error('deaf');
      };
      await house.register(device('a1'));
      expect(status().description).to.equal('failed initial fingerprint: deaf');
    });

    it('R15 a dispenser in plain JavaScript may answer anything: never a crash, healthy only if it says so', async () => {
      const answers: [answer: unknown, state: string, description: string | RegExp][] = [
        [undefined, 'unhealthy', /no result/],
        [null, 'unhealthy', /no result/],
        ['healthy', 'unhealthy', /no result/],
        [{}, 'unhealthy', 'not healthy'],
        [{ healthy: 'yes' }, 'unhealthy', 'not healthy'],
        [{ healthy: 1, description: 'hm' }, 'unhealthy', 'hm'],
        [{ healthy: true }, 'healthy', 'ready'],
        [{ healthy: true, description: 'ok', serial: 7n }, 'unhealthy', /BigInt/],
        [{ healthy: true, description: 'ok', made: new Date(0), on: () => {} }, 'healthy', 'ok'],
        [{ healthy: false, description: 42 }, 'unhealthy', /description that is not a string/],
        [{ healthy: true, capabilities: 'READ' }, 'unhealthy', /capabilities that is not a list of strings/],
        [{ healthy: true, capabilities: ['READ', null] }, 'unhealthy', /capabilities that is not a list of strings/],
        [{ healthy: true, basic: null }, 'unhealthy', /basic that is not an object/],
        [{ healthy: true, basic: ['p'] }, 'unhealthy', /basic that is not an object/],
        [{ healthy: true, basic: { pluginName: 7 } }, 'unhealthy', /basic.pluginName that is not a string/],
        [{ healthy: true, basic: { vendorVersion: 1.4 } }, 'unhealthy', /basic.vendorVersion that is not a string/],
        [{ healthy: true, basic: { pluginCapabilities: {} } }, 'unhealthy', /basic.pluginCapabilities that is not a/],
        [{ healthy: true, basic: { nodeId: false } }, 'unhealthy', /basic.nodeId that is not a string/],
        [{ healthy: true, basic: { maxVolumes: '5' } }, 'unhealthy', /basic.maxVolumes that is not a number/],
        [{ healthy: true, basic: { topology: null } }, 'unhealthy', /basic.topology that is not an object of strings/],
        [{ healthy: true, basic: { topology: { zone: 1 } } }, 'unhealthy', /basic.topology that is not an object of/],
        [{ healthy: true, basic: { serial: 7 } }, 'healthy', 'ready'],
      ];
      for (const [index, [answer, state, description]] of answers.entries()) {
        const allocId = `a${index}`;
        // @ts-expect-error: the type says otherwise
        house.kind.find = () => answer;
        await house.register(device(allocId, { name: allocId }));
        const got = house.plugins.status('device', allocId);
        expect(got.state, allocId).to.equal(state);
        expect(got.description).to.match(
          typeof description === 'string' ? new RegExp(`^${description}$`) : description,
        );
        await house.clock.advance(2_000);
        expect(house.kind.lastLook.request.info.allocId, 'looked at again').to.equal(allocId);
        expect(await house.history(device(allocId, { name: allocId }))).to.deep.equal(['begun', 'fingerprint.changed']);
        await house.plugins.deregister('device', allocId, allocId);
      }
    });

    it('I11 a client that can not be closed is forgotten all the same; the instance ends', async () => {
      house.kind.closing = () => {
        throw new Error('stuck');
      };
      await house.register(device('a1'));
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.rest();
      expect(house.kind.closes).to.deep.equal([1]);
      expect(await house.store.load(pluginAddress(nodeId, 'device', 'gpu', 'a1'))).to.include({ gone: true });
    });
  });

  describe('a lost connection', () => {
    const lose = (client: FakeClient | undefined): void => {
      for (const lost of [...(client?.listeners ?? [])]) lost();
    };

    it('I10 leads to a look at once, not at the next interval', async () => {
      await house.register(device('a1'));
      await house.clock.advance(1_000);
      house.kind.find = () => ({ healthy: false, description: 'hung up' });
      lose(house.kind.clients[0]);
      await house.rest();
      expect(status()).to.include({ state: 'unhealthy', description: 'hung up' });
    });

    it('I10 while a look is under way leads to another one after it', async () => {
      const release = house.kind.hold();
      await house.register(device('a1'));
      lose(house.kind.clients[0]);
      await house.clock.advance(1_000);
      expect(house.kind.looks).to.have.lengthOf(1);
      release(healthy);
      await house.rest();
      expect(house.kind.looks).to.have.lengthOf(2);
    });

    it('I10 again and again, even by the look itself, leads to ten looks a second, not to an endless run', async () => {
      house.kind.find = ({ client }) => {
        lose(client);
        return unhealthy;
      };
      await house.register(device('a1'));
      const { length } = house.kind.looks;
      await house.clock.advance(10_000);
      expect(house.kind.looks.length - length).to.equal(100);
    });

    it('I10 one listener at a time, and none once it has ended', async () => {
      await house.register(device('a1'));
      await house.clock.advance(20 * intervalMs);
      const [client] = house.kind.clients;
      expect(client?.listeners.size).to.equal(1);
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.rest();
      expect(client?.listeners.size).to.equal(0);
    });
  });
});
