/** Waiting for a plugin, by event; and the end of it all. */
import { expect } from 'chai';
import type { PluginStatus } from '../../src/registry/plugin-statuses.js';
import { healthy, unhealthy } from './fake-kind.js';
import { device, House, refusal } from './house.js';

/** Whether it has settled by now, and how. */
function watch(promise: Promise<PluginStatus>): { outcome: string } {
  const watched = { outcome: 'waits' };
  promise.then(
    ({ info, state }) => {
      watched.outcome = `${info.allocId} ${state}`;
    },
    (error: { code: string }) => {
      watched.outcome = error.code;
    },
  );
  return watched;
}

describe('waiting for a plugin', () => {
  let house: House;
  /** Timers that are there before anybody waits. */
  let timers: number;

  beforeEach(async () => {
    house = await new House().open();
    timers = house.clock.pending;
  });

  afterEach(() => house.dispose());

  it('R12 until registered: resolves with the commit of the registration, whatever its health', async () => {
    house.kind.hold();
    const wait = watch(house.plugins.waitFor('device', 'gpu', { until: 'registered' }));
    await house.rest();
    expect(wait.outcome).to.equal('waits');
    await house.register(device('a1'));
    expect(wait.outcome).to.match(/^a1 (registering|fingerprinting)$/);
  });

  it('R12 until healthy, the default: not on registration, not on a bad look, but on the first good one', async () => {
    house.kind.find = () => unhealthy;
    const wait = watch(house.plugins.waitFor('device', 'gpu'));
    await house.register(device('a1'));
    expect(wait.outcome).to.equal('waits');
    house.kind.find = () => healthy;
    await house.clock.advance(500);
    expect(wait.outcome).to.equal('a1 healthy');
  });

  it('R12 it is so already: resolves at once, and leaves no timer', async () => {
    await house.register(device('a1'));
    const before = house.clock.pending;
    const status = await house.plugins.waitFor('device', 'gpu');
    expect(status).to.deep.equal(house.plugins.status('device', 'gpu'));
    expect(house.clock.pending).to.equal(before);
  });

  it('R12 the active instance counts: a new one that is not healthy yet is waited for', async () => {
    await house.register(device('a1'));
    const release = house.kind.hold();
    await house.register(device('a2'));
    const wait = watch(house.plugins.waitFor('device', 'gpu'));
    await house.rest();
    expect(wait.outcome).to.equal('waits');
    release(healthy);
    await house.rest();
    expect(wait.outcome).to.equal('a2 healthy');
  });

  it('R12 the active instance leaves: the promoted one, which is healthy, ends the wait', async () => {
    await house.register(device('a1'));
    house.kind.hold();
    await house.register(device('a2'));
    const wait = watch(house.plugins.waitFor('device', 'gpu'));
    await house.plugins.deregister('device', 'gpu', 'a2');
    await house.rest();
    expect(wait.outcome).to.equal('a1 healthy');
  });

  it('R12 nothing is looked at more often because somebody waits', async () => {
    house.kind.find = () => unhealthy;
    await house.register(device('a1'));
    const { length } = house.kind.looks;
    watch(house.plugins.waitFor('device', 'gpu'));
    await house.clock.advance(499);
    expect(house.kind.looks).to.have.lengthOf(length);
  });

  describe('without success', () => {
    it('R12 nothing is registered within the default of 60 s: TIMEOUT, says for what and that there was none', async () => {
      const failed = refusal(() => house.plugins.waitFor('device', 'gpu'));
      await house.clock.advance(60_000);
      const { code, message } = await failed;
      expect(code).to.equal('TIMEOUT');
      expect(message).to.match(/60000 ms.*device plugin 'gpu'.*healthy.*not registered/);
    });

    it('R12 it never gets healthy: TIMEOUT with the last health text, not an older one', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      const failed = refusal(() => house.plugins.waitFor('device', 'gpu', { timeoutMs: 5_000 }));
      house.kind.find = () => ({ healthy: false, description: 'on fire' });
      await house.clock.advance(5_000);
      const { code, message } = await failed;
      expect(code).to.equal('TIMEOUT');
      expect(message).to.match(/5000 ms.*device plugin 'gpu'.*healthy: on fire/);
    });

    it('R12 not a millisecond before its time is over', async () => {
      const wait = watch(house.plugins.waitFor('device', 'gpu', { timeoutMs: 100 }));
      await house.clock.advance(99);
      expect(wait.outcome).to.equal('waits');
      await house.clock.advance(1);
      expect(wait.outcome).to.equal('TIMEOUT');
    });

    it('R12 its signal is aborted: ABORTED, says for what; the timer is gone', async () => {
      const stop = new AbortController();
      const failed = refusal(() =>
        house.plugins.waitFor('device', 'gpu', { until: 'registered', signal: stop.signal }),
      );
      await house.rest();
      stop.abort();
      const { code, message } = await failed;
      expect(code).to.equal('ABORTED');
      expect(message).to.match(/device plugin 'gpu'.*registered: not registered/);
      expect(house.clock.pending).to.equal(timers);
    });

    it('R12 its signal was aborted before: ABORTED, even where there is nothing to wait for', async () => {
      await house.register(device('a1'));
      const failed = await refusal(() => house.plugins.waitFor('device', 'gpu', { signal: AbortSignal.abort() }));
      expect(failed.code).to.equal('ABORTED');
    });

    for (const [title, options, says] of [
      ['until something that no plugin comes to', '{"until":"ready"}', "'healthy' or 'registered'"],
      ['for no time', '{"timeoutMs":0}', 'timeoutMs must be'],
      ['for less than that', '{"timeoutMs":-1}', 'timeoutMs must be'],
      ['for a text', '{"timeoutMs":"5 s"}', 'timeoutMs must be'],
      ['for null', '{"timeoutMs":null}', 'timeoutMs must be'],
    ] as const) {
      it(`R12 ${title}: INVALID_ARGUMENT at once, where it is so already too`, async () => {
        await house.register(device('a1'));
        const { code, message } = await refusal(() => house.plugins.waitFor('device', 'gpu', JSON.parse(options)));
        expect(code).to.equal('INVALID_ARGUMENT');
        expect(message).to.include(says);
      });
    }

    it('R12 not a number of milliseconds: INVALID_ARGUMENT', async () => {
      const { code } = await refusal(() => house.plugins.waitFor('device', 'gpu', { timeoutMs: Number.NaN }));
      expect(code).to.equal('INVALID_ARGUMENT');
    });

    it('R12 a name that can be none ends at once, and disturbs nobody who waits', async () => {
      const bad = await house.plugins.waitFor('device', '\ud800').catch((error: unknown) => error);
      expect(bad).to.be.an('error');
      const wait = watch(house.plugins.waitFor('device', 'gpu'));
      await house.register(device('a1'));
      expect(wait.outcome).to.equal('a1 healthy');
      expect(house.plugins.status('device', 'gpu').checkedAt).to.equal(house.clock.now());
    });

    it('R12 hundred waits that end in every way leave no timer behind', async () => {
      const stop = new AbortController();
      const waits = Array.from({ length: 100 }, (_, n) => {
        const options = n % 20 === 0 ? { signal: stop.signal } : { timeoutMs: 10 + n };
        return house.plugins.waitFor('device', n % 2 === 0 ? 'gpu' : 'tpu', options);
      });
      const ended = Promise.allSettled(waits);
      await house.register(device('a1'));
      stop.abort();
      await house.clock.advance(200);
      await ended;
      await house.plugins.deregister('device', 'gpu', 'a1');
      await house.rest();
      expect(house.clock.pending).to.equal(timers);
    });
  });

  describe('and the runtime closes', () => {
    it('R12 who waits gets RUNTIME_CLOSED, with what was waited for and the last health text', async () => {
      house.kind.find = () => unhealthy;
      await house.register(device('a1'));
      const failed = refusal(() => house.plugins.waitFor('device', 'gpu'));
      await house.rest();
      await house.runtime.close();
      const { code, message } = await failed;
      expect(code).to.equal('RUNTIME_CLOSED');
      expect(message).to.match(/device plugin 'gpu'.*healthy: worn out/);
    });

    it('R12 the same while the store does not answer: nothing is committed, and waiters are informed', async () => {
      const cutOff = await new House().open();
      const failed = refusal(() => cutOff.plugins.waitFor('device', 'gpu'));
      cutOff.store.commit = () => Promise.reject(new Error('out of reach'));
      expect((await refusal(() => cutOff.dispose())).code).to.equal('STORE_UNAVAILABLE');
      expect((await failed).code).to.equal('RUNTIME_CLOSED');
    });

    it('R13 two shutdowns are one', async () => {
      const [first, second] = [house.runtime.close(), house.runtime.close({ release: true })];
      expect(first).to.equal(second);
      await first;
      expect(house.runtime.close()).to.equal(first);
    });

    it('R13 afterwards every call answers RUNTIME_CLOSED, and none hangs', async () => {
      await house.register(device('a1'));
      const { plugins } = house;
      await house.runtime.close();
      const calls: [string, () => unknown][] = [
        ['register', () => plugins.register(device('a2'))],
        ['register, with a fault', () => plugins.register(device(''))],
        ['deregister', () => plugins.deregister('device', 'gpu', 'a1')],
        ['deregister of nothing', () => plugins.deregister('device', 'tpu', 'a1')],
        ['list', () => plugins.list()],
        ['instances', () => plugins.instances('device', 'gpu')],
        ['forAlloc', () => plugins.forAlloc('device', 'gpu', 'a1')],
        ['status', () => plugins.status('device', 'gpu')],
        ['dispense', () => plugins.dispense('device', 'gpu')],
        ['waitFor', () => plugins.waitFor('device', 'gpu')],
        ['updates', () => plugins.updates()],
      ];
      for (const [name, call] of calls) expect((await refusal(call)).code, name).to.equal('RUNTIME_CLOSED');
    });

    it('R13 a call that comes while it closes is refused, one that came before is finished', async () => {
      const before = house.plugins.register(device('a1'));
      const closing = house.runtime.close();
      expect((await refusal(() => house.plugins.register(device('a2')))).code).to.equal('RUNTIME_CLOSED');
      await before;
      await closing;
      await house.open();
      expect(house.allocIds()).to.deep.equal(['a1']);
    });

    it('R13 no timer is left, and time that passes afterwards does nothing', async () => {
      await house.register(device('a1'), device('a2'), device('b1', { name: 'tpu' }));
      watch(house.plugins.waitFor('device', 'none'));
      const [looks, commits] = [house.kind.looks.length, () => house.commits.length];
      await house.runtime.close();
      expect(house.clock.pending).to.equal(0);
      const atEnd = commits();
      await house.clock.advance(3_600_000);
      expect([house.kind.looks.length, commits()]).to.deep.equal([looks, atEnd]);
      expect(house.kind.closes).to.deep.equal([1, 1, 1]);
    });
  });
});
