/** The registry's parts by themselves: the loop's hold on its signal, what ends a pause. Clients: clients.test.ts */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import { onAbort, unlessAborted } from '../../src/abort.js';
import type { Clock } from '../../src/engine/clock.js';
import { answerWithin } from '../../src/engine/deadline.js';
import { silentLogger } from '../../src/engine/logger.js';
import { Waiters } from '../../src/engine/waiters.js';
import { Clients } from '../../src/registry/clients.js';
import { type FingerprintLoopOptions, fingerprintLoop, Wake } from '../../src/registry/fingerprint-loop.js';
import { pluginEventOf } from '../../src/registry/plugin-events.js';
import { watchedDirectories } from '../../src/registry/socket-watch.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { FakeKind, unhealthy } from './fake-kind.js';
import { device } from './house.js';

/** The error that this ends with. */
async function caught(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error, but all went well');
}

const address = 'plugin/worker-1/device/gpu/a1';

describe('fingerprint loop', () => {
  /** A loop on a signal of the test's own. */
  function run(
    kind: FakeKind,
    clock: Clock,
    more: Partial<FingerprintLoopOptions> = {},
  ): { stop: AbortController; sent: AnyEventObject[]; ended: Promise<unknown> } {
    const stop = new AbortController();
    const sent: AnyEventObject[] = [];
    const options = {
      intervalMs: 1_000,
      timeoutMs: 100,
      clients: new Clients({ device: kind }, { clock, logger: silentLogger }),
      clock,
      asked: new Waiters(),
      checked: () => {},
      ...more,
    };
    const ended = fingerprintLoop(options).run({
      address,
      id: 'fingerprintLoop',
      src: 'fingerprintLoop',
      seq: 1,
      input: { info: device('a1') },
      signal: stop.signal,
      onAbort: (callback) => onAbort(stop.signal, () => callback(stop.signal.reason)),
      recovered: false,
      attempt: 1,
      sent: () => {},
      mayGoOn: () => {},
      clearInMs: () => 0,
      endDoubts: async () => false,
      send: (event) => sent.push(event),
    });
    return { stop, sent, ended };
  }

  const ways: [title: string, prepare: (kind: FakeKind) => void][] = [
    ['good', () => {}],
    ['bad', (kind) => kind.hold()],
    [
      'thrown',
      (kind) => {
        kind.find = () => {
          throw new Error('no');
        };
      },
    ],
    [
      'without a client',
      (kind) => {
        kind.connecting = () => {
          throw new Error('no');
        };
      },
    ],
  ];
  for (const [title, prepare] of ways) {
    it(`I11 many rounds, each ${title}: at most one listener on the signal, none after the end`, async () => {
      const [kind, clock] = [new FakeKind(), simulatedClock()];
      prepare(kind);
      const { stop, ended } = run(kind, clock);
      await clock.advance(0);
      const held = getEventListeners(stop.signal, 'abort').length;
      await clock.advance(100_000);
      expect(getEventListeners(stop.signal, 'abort').length).to.be.at.most(held);
      stop.abort();
      await ended;
      expect(getEventListeners(stop.signal, 'abort')).to.have.lengthOf(0);
      expect(clock.pending).to.equal(0);
    });
  }

  it('R9 I11 loops that come and go leave nobody behind who waits for another dispenser', async () => {
    const [kind, clock] = [new FakeKind(), simulatedClock()];
    const clients = new Clients({ device: kind }, { clock, logger: silentLogger });
    const change = clients.changeOf('device');
    if (!change) throw new Error('the kind is not known');
    const waiting = new Set<() => void>();
    const on = change.on.bind(change);
    change.on = (call) => {
      const stop = on(call);
      const once = (): void => {
        waiting.delete(once);
        stop();
      };
      waiting.add(once);
      return once;
    };
    for (let times = 0; times < 20; times += 1) {
      const { stop, ended } = run(kind, clock, { clients });
      await clock.advance(0);
      expect(waiting.size).to.equal(1);
      stop.abort();
      await ended;
    }
    expect(waiting.size).to.equal(0);
  });

  it('I11 ended by an error, it lets go of what it watched, and of its client’s losses', async () => {
    const [kind, clock, before] = [new FakeKind(), simulatedClock(), watchedDirectories()];
    const checked = (): void => {
      throw new Error('broken');
    };
    const { ended } = run(kind, clock, { checked });
    expect((await caught(ended)).message).to.equal('broken');
    expect(watchedDirectories()).to.equal(before);
    expect(kind.clients[0]?.listeners.size).to.equal(0);
  });

  it('I1 tells only what differs from the round before', async () => {
    const [kind, clock] = [new FakeKind(), simulatedClock()];
    const { stop, sent, ended } = run(kind, clock);
    await clock.advance(10_000);
    kind.find = () => unhealthy;
    await clock.advance(10_000);
    stop.abort();
    await ended;
    expect(sent).to.deep.equal([
      { type: 'fingerprint.changed', fingerprint: { healthy: true, description: 'ready' } },
      { type: 'fingerprint.changed', fingerprint: unhealthy },
    ]);
  });

  it('I11 ended while it looks, it tells nothing of that look and says it was not checked', async () => {
    const [kind, clock] = [new FakeKind(), simulatedClock()];
    const release = kind.hold();
    const { stop, sent, ended } = run(kind, clock);
    await clock.advance(0);
    stop.abort();
    release(unhealthy);
    await ended;
    expect(sent).to.deep.equal([]);
    expect(kind.closes).to.deep.equal([1]);
  });
});

describe('limits', () => {
  const stop = new AbortController();
  const listening = (): number => getEventListeners(stop.signal, 'abort').length;

  it('I1 an answer within limits: whatever comes of it, it leaves neither a timer nor a listener', async () => {
    const clock = simulatedClock();
    const limits = { clock, timeoutMs: 100, ends: [stop.signal] };
    let limit: AbortSignal | undefined;
    const hang = (signal: AbortSignal): Promise<never> => {
      limit = signal;
      return new Promise(() => {});
    };
    expect(await answerWithin(limits, async () => 'yes')).to.equal('yes');
    expect((await caught(answerWithin(limits, () => Promise.reject(new Error('no'))))).message).to.equal('no');
    const late = caught(answerWithin(limits, hang));
    expect(listening()).to.equal(1);
    await clock.advance(100);
    expect((await late).message).to.equal('no answer within 100 ms');
    expect(limit?.aborted).to.equal(true);
    expect([listening(), clock.pending]).to.deep.equal([0, 0]);
  });

  it('I11 an answer within limits: aborted before the call, it calls nobody and rejects with the reason of the signal', async () => {
    const end = new AbortController();
    end.abort(new Error('enough'));
    const asked = caught(
      answerWithin({ clock: simulatedClock(), timeoutMs: 100, ends: [end.signal] }, () => new Promise(() => {})),
    );
    expect((await asked).message).to.equal('enough');
  });

  it('I11 unlessAborted: rejects with the signal’s reason, also if the call ignores it; no listener stays', async () => {
    const end = new AbortController();
    const asked = caught(unlessAborted(end.signal, new Promise(() => {})));
    end.abort(new Error('enough'));
    expect((await asked).message).to.equal('enough');
    expect((await caught(unlessAborted(end.signal, Promise.reject(new Error('asked'))))).message).to.equal('enough');
    expect(getEventListeners(end.signal, 'abort')).to.have.lengthOf(0);
  });
});

describe('wake', () => {
  it('I10 the first cause ends its pause, later ones change nothing, all are let go of together', async () => {
    const wake = new Wake();
    const calls: (() => void)[] = [];
    const ended: number[] = [];
    for (const n of [1, 2]) {
      wake.on((call) => {
        calls.push(call);
        return () => ended.push(n);
      });
    }
    wake.on(() => undefined);
    const clock = simulatedClock();
    const paused = wake.pause(clock, 1_000);
    expect(wake.isCalled).to.equal(false);
    for (const call of calls) call();
    expect(wake.isCalled).to.equal(true);
    await paused;
    await wake.pause(clock, 1_000);
    expect(clock.pending).to.equal(0);
    wake.release();
    wake.release();
    expect(ended).to.deep.equal([1, 2]);
  });

  it('I11 released, it listens to its signal no more', () => {
    const stop = new AbortController();
    const wake = new Wake();
    wake.onAbort(stop.signal);
    wake.release();
    stop.abort();
    expect(wake.isCalled).to.equal(false);
  });
});

describe('plugin events', () => {
  it('R10 every kind of broadcast has its event, with the id of its row', () => {
    const [info, from] = [device('a2'), device('a1')];
    const eventOf = (broadcast: object): unknown =>
      pluginEventOf({
        id: 'plugins/n1@7',
        cursor: 7,
        source: 's',
        seq: 1,
        index: 0,
        text: JSON.stringify({ ...broadcast, at: 5 }),
      });
    for (const kind of ['registered', 'updated', 'deregistered']) {
      expect(eventOf({ type: kind, info })).to.deep.equal({ id: 'plugins/n1@7', at: 5, kind, info });
    }
    const leaves = { type: 'deregistered', info, dependents: ['volume v'] };
    expect(eventOf(leaves)).to.deep.include({ kind: 'deregistered', info, dependents: ['volume v'] });
    expect(eventOf({ type: 'promoted', info, from })).to.deep.equal({
      id: 'plugins/n1@7',
      at: 5,
      kind: 'promoted',
      info,
      from,
    });
    const node = { nodeId: 'n-2', topology: { zone: 'b' }, maxVolumes: 3, before: { nodeId: 'n-1' } };
    expect(eventOf({ type: 'node-info', info, ...node })).to.deep.equal({
      id: 'plugins/n1@7',
      at: 5,
      kind: 'node-info',
      info,
      ...node,
    });
    expect(eventOf({ type: 'health', info, from: 'healthy', healthy: false, description: 'x' })).to.deep.equal({
      id: 'plugins/n1@7',
      at: 5,
      kind: 'health',
      info,
      was: 'healthy',
      healthy: false,
      description: 'x',
    });
  });
});
