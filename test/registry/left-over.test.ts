/** What waits, follows, clients and instances that come and go leave behind: nothing, on signals and in memory. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { silentLogger } from '../../src/engine/logger.js';
import { Waiters } from '../../src/engine/waiters.js';
import { Clients } from '../../src/registry/clients.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { FakeKind } from './fake-kind.js';
import { device, House, refusal, take } from './house.js';

const many = 20;

describe('left over', () => {
  let house: House;
  let stop: AbortController;

  beforeEach(async () => {
    house = await new House().open();
    stop = new AbortController();
  });

  afterEach(() => house.dispose());

  const listeners = (): number => getEventListeners(stop.signal, 'abort').length;

  /** Of Node, for as long as the work takes. */
  async function warningsOf(work: () => Promise<unknown>): Promise<string[]> {
    const warnings: string[] = [];
    const hear = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', hear);
    try {
      await work();
      await new Promise((resolve) => setImmediate(resolve)); // they are told in a turn of their own
      return warnings;
    } finally {
      process.off('warning', hear);
    }
  }

  it('R12 many waits with one signal: one listener, no warning; an abort ends each of them', async () => {
    const warnings = await warningsOf(async () => {
      const { signal } = stop;
      const waits = Array.from({ length: many }, (_, n) =>
        refusal(() => house.plugins.waitFor('device', `n${n}`, { signal })),
      );
      expect(listeners()).to.equal(1);
      stop.abort();
      expect((await Promise.all(waits)).map(({ code }) => code)).to.deep.equal(Array(many).fill('ABORTED'));
    });
    expect([warnings, listeners()]).to.deep.equal([[], 0]);
  });

  it('R10 many followers with one signal: one listener, no warning; an abort ends each of them', async () => {
    const warnings = await warningsOf(async () => {
      const follow = async (): Promise<void> => {
        for await (const _ of house.plugins.updates(undefined, { signal: stop.signal }));
      };
      const follows = Array.from({ length: many }, follow);
      await house.rest();
      expect(listeners()).to.equal(1);
      stop.abort();
      await Promise.all(follows);
    });
    expect([warnings, listeners()]).to.deep.equal([[], 0]);
  });

  it('R10 R12 a signal that is never aborted: nothing of waits and followers that ended stays on it', async () => {
    const { signal } = stop;
    const timedOut = refusal(() => house.plugins.waitFor('device', 'tpu', { signal, timeoutMs: 5 }));
    const found = house.plugins.waitFor('device', 'gpu', { signal });
    const followed = take(house.plugins.updates(undefined, { signal }), 1);
    await house.register(device('a1'));
    await house.clock.advance(5);
    await Promise.all([timedOut, found, followed]);
    expect(listeners()).to.equal(0);
  });

  it('T7 many waits until instances are gone: one listener; none stays after the end or an abort', async () => {
    await house.register(device('a1'), device('a2'));
    const gone = (allocId: string): Promise<void> => house.plugins.gone(device(allocId), stop.signal);
    const first = Array.from({ length: many }, () => gone('a1'));
    expect(listeners()).to.equal(1);
    await house.plugins.deregister('device', 'gpu', 'a1');
    await Promise.all(first);
    expect(listeners()).to.equal(0);
    const second = Array.from({ length: many }, () => gone('a2'));
    stop.abort();
    await Promise.all(second);
    expect(listeners()).to.equal(0);
  });

  it('R12 a wait that has ended, however it did, is kept by nobody', async () => {
    const clock = simulatedClock();
    const waiters = new Waiters();
    const { signal } = stop;
    const failed = (code: string): Error => new Error(code);
    const wait = (address: string, reached: () => string | undefined): Promise<string> =>
      waiters.until(address, reached, { clock, timeoutMs: 5, signal, failed });
    let isThere = false;
    const found = wait('a', () => (isThere ? 'found' : undefined));
    const late = wait('a', () => undefined);
    const broken = wait('b', () => {
      if (isThere) throw new Error('broken');
      return undefined;
    });
    const endings = Promise.allSettled([found, late, broken, wait('c', () => 'at once')]);
    expect(waiters.size).to.equal(2);
    isThere = true;
    waiters.wakeAll();
    expect(waiters.size).to.equal(1);
    await clock.advance(5);
    const aborted = wait('d', () => undefined).catch(({ message }: Error) => message);
    stop.abort();
    expect([await aborted, waiters.size, clock.pending, listeners()]).to.deep.equal(['ABORTED', 0, 0, 0]);
    const told = (await endings).map((end) => (end.status === 'fulfilled' ? end.value : end.reason.message));
    expect(told).to.deep.equal(['found', 'TIMEOUT', 'broken', 'at once']);
  });

  it('R9 no address is kept where no client was connected, or all are closed', () => {
    const kind = new FakeKind();
    const clients = new Clients({ device: kind }, { clock: simulatedClock(), logger: silentLogger });
    kind.connecting = () => {
      throw new Error('no');
    };
    expect(() => clients.get('a', device('a1'))).to.throw('no');
    expect(clients.size).to.equal(0);
    kind.connecting = () => {};
    clients.get('a', device('a1'));
    clients.get('b', device('a2'));
    clients.get('b', device('a2'), 1);
    expect(clients.size).to.equal(2);
    clients.close('a', device('a1'));
    clients.left('b');
    clients.left('b');
    expect(clients.size).to.equal(0);
  });
});
