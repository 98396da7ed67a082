/** Clients of instances by themselves: made once, closed once, and how long a close may take. */
import { expect } from 'chai';
import type { Logger } from '../../src/engine/logger.js';
import { Clients } from '../../src/registry/clients.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/simulated-clock.js';
import { FakeKind, healthy } from './fake-kind.js';
import { device, refusal } from './house.js';

const address = 'plugin/worker-1/device/gpu/a1';
const drainMs = 30_000;

describe('clients', () => {
  let clock: SimulatedClock;
  let kind: FakeKind;
  let clients: Clients;
  let warnings: string[];
  /** What they were of. */
  let warned: object[];

  beforeEach(() => {
    clock = simulatedClock();
    kind = new FakeKind();
    warnings = [];
    warned = [];
    const warn: Logger['warn'] = (fields, message) => {
      warned.push(fields);
      warnings.push(message);
    };
    const logger: Logger = { debug: () => {}, info: () => {}, warn, error: warn };
    clients = new Clients({ device: kind }, { clock, logger });
  });

  /** Makes closes wait; the answer ends the one that waits longest. */
  function holdCloses(): { end(error?: Error): void; signals: AbortSignal[] } {
    const waiting: ((error?: Error) => void)[] = [];
    const signals: AbortSignal[] = [];
    kind.closing = (_, { signal }) => {
      signals.push(signal);
      return new Promise((resolve, reject) => waiting.push((error) => (error ? reject(error) : resolve())));
    };
    return { end: (error) => waiting.shift()?.(error), signals };
  }

  it('R9 one for an address and its definition: asked for again, it is the same', () => {
    const first = clients.get(address, device('a1'));
    expect(clients.get(address, device('a1'))).to.equal(first);
    expect(clients.get(address, device('a1', { version: '2' }))).to.not.equal(first);
    expect(clients.get(`${address}2`, device('a1'))).to.not.equal(first);
    expect(kind.clients).to.have.lengthOf(3);
  });

  it('I11 closed once, however often it is asked for; then a new one is made', () => {
    const first = clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    clients.close(address, device('a1'));
    expect(kind.closes).to.deep.equal([1]);
    expect(clients.get(address, device('a1'))).to.not.equal(first);
  });

  it('R4 a deregistered instance: all its clients are closed, those of others stay', () => {
    for (const version of ['1', '2']) clients.get(address, device('a1', { version }));
    const other = clients.get(`${address}2`, device('a2'));
    clients.left(address);
    clients.left(address);
    expect(kind.closes).to.deep.equal([1, 1, 0]);
    expect(clients.get(`${address}2`, device('a2'))).to.equal(other);
  });

  it('R9 asked for before those who were there have left: its own, which stays open until it leaves itself', () => {
    const first = clients.get(address, device('a1'));
    const third = clients.get(address, device('a1'), 2);
    expect(third).to.not.equal(first);
    clients.close(address, device('a1'));
    clients.left(address);
    expect([clients.get(address, device('a1'), 1), kind.closes]).to.deep.equal([third, [1, 0]]);
    clients.left(address);
    expect([clients.get(address, device('a1')), kind.closes]).to.deep.equal([third, [1, 0]]);
    clients.left(address);
    expect(kind.closes).to.deep.equal([1, 1]);
  });

  it('R9 no dispenser for a type, even one named like a property of every object: NO_DISPENSER lists the types', async () => {
    for (const type of ['printer', 'constructor', '__proto__', '']) {
      const error = await refusal(() => clients.dispenser(type));
      expect(error.code).to.equal('NO_DISPENSER');
      expect(error.message).to.include('known are device');
    }
  });

  it('T7 a close that answers nothing is done at once: no timer, nothing to wait for', () => {
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    expect([clients.isClosing(address), clock.pending]).to.deep.equal([false, 0]);
  });

  it('T7 a close that takes its time: the client is closing until then, told once, and no timer is left', async () => {
    const { end, signals } = holdCloses();
    let told = 0;
    clients.onSettled(() => {
      told += 1;
    });
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    await clock.advance(drainMs - 1);
    expect([clients.isClosing(address), told]).to.deep.equal([true, 0]);
    end();
    await clock.advance(0);
    expect([clients.isClosing(address), told, clock.pending]).to.deep.equal([false, 1, 0]);
    await clock.advance(drainMs);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false]);
    expect(warnings).to.deep.equal([]);
  });

  it('T7 a close that exceeds its time: its signal fires, it is logged, and nobody waits for it', async () => {
    const { end, signals } = holdCloses();
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    await clock.advance(drainMs);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect([clients.isClosing(address), clock.pending]).to.deep.equal([false, 0]);
    expect(warnings).to.deep.equal([`calls were in flight ${drainMs} ms after their client was closed: given up`]);
    end(new Error('stuck'));
    await clock.advance(0);
    expect(warnings.slice(1), 'a late failure').to.deep.equal(['a client could not be closed: stuck']);
  });

  it('T7 a close that throws or rejects is logged and forgotten', async () => {
    kind.closing = () => {
      throw new Error('stuck');
    };
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    const { end } = holdCloses();
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    end(new Error('torn'));
    await clock.advance(0);
    expect([clients.isClosing(address), clock.pending]).to.deep.equal([false, 0]);
    expect(warnings).to.deep.equal(['a client could not be closed: stuck', 'a client could not be closed: torn']);
  });

  it('R4 another client is made while the first one is closing; each has its own time', async () => {
    const { end, signals } = holdCloses();
    const first = clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    const second = clients.get(address, device('a1'));
    expect(second).to.not.equal(first);
    await clock.advance(drainMs / 2);
    clients.close(address, device('a1'));
    end();
    await clock.advance(0);
    expect(clients.isClosing(address), 'the second one').to.equal(true);
    await clock.advance(drainMs / 2);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, false]);
    await clock.advance(drainMs / 2);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, true]);
    expect(clients.isClosing(address)).to.equal(false);
  });

  it('R13 ended: what is open is closed, nothing that is closing is waited for, and twice is once', async () => {
    const { signals } = holdCloses();
    clients.get(address, device('a1'));
    clients.close(address, device('a1'));
    clients.get(`${address}2`, device('a2'));
    clients.end();
    clients.end();
    await clock.advance(0);
    expect(kind.closes).to.deep.equal([1, 1]);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
    expect([clients.isClosing(address), clients.isClosing(`${address}2`), clock.pending]).to.deep.equal([
      false,
      false,
      0,
    ]);
    expect(warnings).to.deep.equal([]);
  });

  it('T3 a look at what is not registered ends with its signal, also where the dispenser does not heed it', async () => {
    kind.hold();
    const limit = new AbortController();
    const seen = clients.look(device('a1'), limit.signal).catch(({ message }: Error) => message);
    limit.abort(new Error('no answer'));
    expect(await seen).to.equal('no answer');
    expect(kind.closes).to.deep.equal([1]);
  });

  it('T3 a probe of an unregistered plugin has its own client, closed after it, also if the probe fails', async () => {
    const { signal } = new AbortController();
    expect(await clients.look(device('a1'), signal)).to.deep.equal(healthy);
    kind.find = () => Promise.reject(new Error('no'));
    expect(await clients.look(device('a1'), signal).catch(({ message }: Error) => message)).to.equal('no');
    expect(kind.closes).to.deep.equal([1, 1]);
  });

  it('T3 the client of such a probe closes slowly: nobody waits, and logs name the plugin', async () => {
    const { signals } = holdCloses();
    let settled = 0;
    clients.onSettled(() => {
      settled += 1;
    });
    await clients.look(device('a1'), new AbortController().signal);
    await clock.advance(drainMs);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true]);
    expect([warned, settled, clock.pending]).to.deep.equal([[{ type: 'device', name: 'gpu', allocId: 'a1' }], 0, 0]);
  });
});
