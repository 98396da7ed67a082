/** One run of an effect after the other: what it is told, what comes of it, and that it comes once. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { LiveEffect } from '../../../src/engine/actor/actor-record.js';
import { EffectRunner, type Run, type Saying } from '../../../src/engine/effects/effect-runner.js';
import type { Effect, EffectCall } from '../../../src/engine/effects/effects.js';
import { TimerHeap } from '../../../src/engine/timer-heap.js';
import { StagecraftError } from '../../../src/errors.js';
import { type SimulatedClock, simulatedClock } from '../../../src/testing/index.js';
import { watched } from '../lab.js';
import { manualEffect } from '../manual-effect.js';

describe('the runner of effects', () => {
  let clock: SimulatedClock;
  let timers: TimerHeap;
  let runner: EffectRunner;
  let delivered: { event: AnyEventObject; says: Saying }[];
  let unhandled: unknown[];

  const keepUnhandled = (error: unknown): void => void unhandled.push(error);

  beforeEach(() => {
    clock = simulatedClock();
    timers = new TimerHeap(clock);
    delivered = [];
    unhandled = [];
    runner = new EffectRunner(clock, timers, (_, __, event, says) => delivered.push({ event, says }));
    process.on('unhandledRejection', keepUnhandled);
  });

  afterEach(() => {
    process.off('unhandledRejection', keepUnhandled);
    expect(unhandled).to.deep.equal([]);
  });

  const start = (effect: Effect | undefined, live: Partial<LiveEffect> = {}): Run => {
    const asked = { id: 'work', src: 'work', input: { job: 'dig' }, seq: 7, ...live };
    return runner.start({ address: 'worker/a', live: asked, effect, recovered: false });
  };
  const rest = (): Promise<void> => clock.advance(0);
  const errors = (): unknown[] => delivered.map(({ event }) => event.error?.code);
  /** Runs it, and gives the call that it was called with. */
  const callOf = (deadlineMs: number, live: Partial<LiveEffect> = {}): { call: EffectCall; run: Run } => {
    let seen: EffectCall | undefined;
    const run = start(
      {
        deadlineMs,
        run: (call) => {
          seen = call;
          return new Promise(() => {});
        },
      },
      live,
    );
    if (!seen) throw new Error('the effect was not called');
    return { call: seen, run };
  };

  it('an effect is told who asked for it, with what, and which attempt it is', () => {
    const { call } = callOf(1_000, { attempt: 3 });
    expect({ ...call }).to.deep.include({
      ...{ address: 'worker/a', id: 'work', seq: 7, input: { job: 'dig' }, recovered: false, attempt: 3 },
    });
    expect(callOf(1_000).call.attempt).to.equal(1);
  });

  it('it is cancelled before it asks for its signal, then the signal is aborted, with the reason', () => {
    const { call, run } = callOf(1_000);
    runner.cancel(run);
    expect(call.signal.aborted).to.equal(true);
    expect(call.signal.reason).to.include({ code: 'ABORTED' });
    expect(call.signal).to.equal(call.signal);
  });

  it('it is cancelled with a reason, then its signal says so, and only the first one', () => {
    const { call, run } = callOf(1_000);
    const { signal } = call;
    runner.cancel(run, new StagecraftError('FENCED', 'gone'));
    runner.cancel(run, new StagecraftError('RUNTIME_CLOSED', 'closed'));
    expect(signal.reason).to.include({ code: 'FENCED' });
  });

  it('its deadline has passed before it asks for its signal, then the signal is aborted with TIMEOUT', async () => {
    const { call } = callOf(1_000);
    await clock.advance(1_000);
    expect(call.signal.reason).to.include({ code: 'TIMEOUT' });
  });

  it('it listens to its signal, then it is told once', () => {
    const { call, run } = callOf(1_000);
    let told = 0;
    call.signal.addEventListener('abort', () => {
      told += 1;
      runner.cancel(run);
    });
    runner.cancel(run);
    expect(told).to.equal(1);
  });

  it('it asks to be called back, then it is, once and with the reason, but not where it has ended that', () => {
    const { call, run } = callOf(1_000);
    const told: unknown[] = [];
    const hearNoMore = call.onAbort(() => told.push('too late'));
    call.onAbort((reason) => told.push(reason));
    hearNoMore();
    runner.cancel(run, new StagecraftError('FENCED', 'gone'));
    expect(told).to.deep.equal([call.signal.reason]);
    expect(call.signal.reason).to.include({ code: 'FENCED' });
  });

  it('one that is called back ends what another waits for, then that is not called', () => {
    const { call, run } = callOf(1_000);
    const told: string[] = [];
    const ends: (() => void)[] = [];
    call.onAbort(() => {
      told.push('first');
      for (const end of ends) end();
    });
    ends.push(call.onAbort(() => told.push('second')));
    runner.cancel(run);
    expect(told).to.deep.equal(['first']);
  });

  it('it asks to be called back once its deadline has passed, then it is at once', async () => {
    const { call } = callOf(1_000);
    await clock.advance(1_000);
    const told: unknown[] = [];
    call.onAbort((reason) => told.push(reason));
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ code: 'TIMEOUT' });
  });

  it('its deadline passes and it gives a result later, then its one result is the TIMEOUT', async () => {
    const work = manualEffect(1_000);
    start(work);
    await clock.advance(1_000);
    work.last.finish('late');
    work.last.send({ type: 'late' });
    await rest();
    expect(errors()).to.deep.equal(['TIMEOUT']);
    expect(timers.size).to.equal(0);
  });

  it('its result comes in the very moment of the deadline, then one of both counts', async () => {
    const work = manualEffect(1_000);
    start(work);
    clock.after(1_000, () => work.last.finish('just in time'));
    await clock.advance(2_000);
    expect(delivered).to.have.length(1);
  });

  it('an effect without deadline goes on, and sets no timer', async () => {
    start(manualEffect());
    start(manualEffect('loop'));
    expect(timers.size).to.equal(0);
    await clock.advance(1e9);
    expect(delivered).to.deep.equal([]);
  });

  it('it sends after its end, its cancellation or its deadline, then that reaches nobody', async () => {
    const [ended, cancelled, late, loop] = [manualEffect(), manualEffect(), manualEffect(10), manualEffect('loop')];
    start(ended);
    const run = start(cancelled);
    start(late);
    start(loop);
    ended.last.finish();
    loop.last.finish();
    runner.cancel(run);
    await clock.advance(10);
    const known = delivered.length;
    for (const effect of [ended, cancelled, late, loop]) effect.last.send({ type: 'after the end' });
    await rest();
    expect(delivered).to.have.length(known);
    expect(known).to.equal(2);
  });

  it('what it sends comes at once, in order, as a copy, and is not its end', async () => {
    const work = manualEffect();
    start(work);
    const event = { type: 'news', list: [1] };
    work.last.send(event);
    event.list.push(2);
    work.last.send({ type: 'more' });
    expect(delivered).to.deep.equal([
      { event: { type: 'news', list: [1] }, says: 'event' },
      { event: { type: 'more' }, says: 'event' },
    ]);
  });

  const odd: [string, Effect['run'], object][] = [
    [
      'throws at once',
      () => {
        throw new Error('no');
      },
      { type: 'xstate.error.actor.work', error: { name: 'Error', message: 'no', code: 'EFFECT_FAILED', final: false } },
    ],
    [
      'rejects with nothing',
      () => Promise.reject(),
      {
        type: 'xstate.error.actor.work',
        error: { name: 'Error', message: 'undefined', code: 'EFFECT_FAILED', final: false },
      },
    ],
  ];
  for (const [how, run, event] of odd) {
    it(`an effect ${how}, then that is its error, once, and no timer is left`, async () => {
      start({ run, deadlineMs: 1_000 });
      await rest();
      expect(delivered).to.have.length(1);
      expect(delivered[0]?.event).to.deep.include(event);
      expect(timers.size).to.equal(0);
    });
  }

  it('an effect gives no promise, then what it gives is its output', async () => {
    const run = Object.assign(async () => {}, {});
    const plain: Effect = { run };
    Object.assign(plain, { run: () => 'gold' });
    start(plain);
    await rest();
    expect(delivered[0]).to.deep.include({ says: 'result' });
    expect(delivered[0]?.event).to.deep.include({ type: 'xstate.done.actor.work', output: 'gold' });
  });

  it('an effect gives a thenable that calls back twice and then throws, then its first word counts', async () => {
    const plain: Effect = { run: async () => {} };
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: what the test is about
      then: (resolve: (value: string) => void) => {
        resolve('one');
        resolve('two');
        throw new Error('three');
      },
    };
    Object.assign(plain, { run: () => thenable });
    start(plain);
    await rest();
    expect(delivered.map(({ event }) => event.output)).to.deep.equal(['one']);
  });

  for (const [what, output] of [
    ['a bigint', 1n],
    [
      'what throws when it is written',
      {
        toJSON: () => {
          throw new Error('never');
        },
      },
    ],
  ] as const) {
    it(`its output is ${what}, then that is an error of it`, async () => {
      start({ run: async () => output });
      await rest();
      expect(delivered).to.have.length(1);
      expect(delivered[0]?.event.type).to.equal('xstate.error.actor.work');
      expect(timers.size).to.equal(0);
    });
  }

  it('nobody runs such an effect, then its error is NO_EFFECT', async () => {
    start(undefined);
    await rest();
    expect(errors()).to.deep.equal(['NO_EFFECT']);
  });

  describe('stop', () => {
    it('nothing runs, then it ends at once', async () => {
      const stopped = watched(runner.stop(5_000));
      await rest();
      expect(stopped.state).to.equal('answered');
    });

    it('cancelled effects need a moment, then it waits for the last of them', async () => {
      const [quick, slow] = [manualEffect(), manualEffect()];
      for (const effect of [quick, slow]) runner.cancel(start(effect));
      const stopped = watched(runner.stop(5_000));
      quick.last.finish();
      await clock.advance(1_000);
      expect(stopped.state).to.equal('open');
      slow.last.fail(new Error('aborted'));
      await rest();
      expect(stopped.state).to.equal('answered');
      expect(clock.pending).to.equal(0);
      expect(delivered).to.deep.equal([]);
    });

    it('an effect does not end, then it waits as long as it was told', async () => {
      runner.cancel(start(manualEffect()));
      const stopped = watched(runner.stop(5_000));
      await clock.advance(4_999);
      expect(stopped.state).to.equal('open');
      await clock.advance(1);
      expect(stopped.state).to.equal('answered');
    });

    it('an effect goes on beyond its deadline, then it is waited for all the same', async () => {
      const work = manualEffect(10);
      start(work);
      await clock.advance(10);
      const stopped = watched(runner.stop(5_000));
      await clock.advance(100);
      expect(stopped.state).to.equal('open');
      work.last.finish();
      await rest();
      expect(stopped.state).to.equal('answered');
    });

    it('asked for twice, then both end when the effects have', async () => {
      const work = manualEffect();
      runner.cancel(start(work));
      const stopped = [watched(runner.stop(5_000)), watched(runner.stop(5_000))];
      await rest();
      work.last.finish();
      await rest();
      expect(stopped.map(({ state }) => state)).to.deep.equal(['answered', 'answered']);
      expect(clock.pending).to.equal(0);
    });
  });
});
