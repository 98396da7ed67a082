/** Single runs of effects: what the run gets, and its only result. */
import { expect } from 'chai';
import type { AnyEventObject } from 'xstate';
import type { LiveEffect } from '../../../src/engine/actor/actor-record.js';
import { EffectRunner, type Run } from '../../../src/engine/effects/effect-runner.js';
import type { Effect, EffectCall, Saying } from '../../../src/engine/effects/effects.js';
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
    runner = new EffectRunner(clock, timers, (_, event, says) => delivered.push({ event, says }));
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
  /** Runs an effect. @returns the call that it got */
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

  it('run knows its actor, its input, and its attempt', () => {
    const { call } = callOf(1_000, { attempt: 3 });
    expect({ ...call }).to.deep.include({
      ...{ address: 'worker/a', id: 'work', seq: 7, input: { job: 'dig' }, recovered: false, attempt: 3 },
    });
    expect(callOf(1_000).call.attempt).to.equal(1);
  });

  it('cancelled before it reads its signal: the signal is aborted, with the reason', () => {
    const { call, run } = callOf(1_000);
    runner.cancel(run);
    expect(call.signal.aborted).to.equal(true);
    expect(call.signal.reason).to.include({ code: 'ABORTED' });
    expect(call.signal).to.equal(call.signal);
  });

  it('cancelled with a reason: the signal has the first reason only', () => {
    const { call, run } = callOf(1_000);
    const { signal } = call;
    runner.cancel(run, new StagecraftError('FENCED', 'gone'));
    runner.cancel(run, new StagecraftError('RUNTIME_CLOSED', 'closed'));
    expect(signal.reason).to.include({ code: 'FENCED' });
  });

  it('deadline passed before it reads its signal: aborted with TIMEOUT', async () => {
    const { call } = callOf(1_000);
    await clock.advance(1_000);
    expect(call.signal.reason).to.include({ code: 'TIMEOUT' });
  });

  it('listener on the signal: called once', () => {
    const { call, run } = callOf(1_000);
    let told = 0;
    call.signal.addEventListener('abort', () => {
      told += 1;
      runner.cancel(run);
    });
    runner.cancel(run);
    expect(told).to.equal(1);
  });

  it('onAbort: called once with the reason, unless the effect has unsubscribed', () => {
    const { call, run } = callOf(1_000);
    const told: unknown[] = [];
    const hearNoMore = call.onAbort(() => told.push('too late'));
    call.onAbort((reason) => told.push(reason));
    hearNoMore();
    runner.cancel(run, new StagecraftError('FENCED', 'gone'));
    expect(told).to.deep.equal([call.signal.reason]);
    expect(call.signal.reason).to.include({ code: 'FENCED' });
  });

  it('callback that unsubscribes another one: that one is not called', () => {
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

  it('onAbort after the deadline: called at once', async () => {
    const { call } = callOf(1_000);
    await clock.advance(1_000);
    const told: unknown[] = [];
    call.onAbort((reason) => told.push(reason));
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ code: 'TIMEOUT' });
  });

  it('deadline passes and a result comes later: TIMEOUT is the only result', async () => {
    const work = manualEffect(1_000);
    start(work);
    await clock.advance(1_000);
    work.last.finish('late');
    work.last.send({ type: 'late' });
    await rest();
    expect(errors()).to.deep.equal(['TIMEOUT']);
    expect(timers.size).to.equal(0);
  });

  it('result in the very moment of the deadline: only one of both counts', async () => {
    const work = manualEffect(1_000);
    start(work);
    clock.after(1_000, () => work.last.finish('just in time'));
    await clock.advance(2_000);
    expect(delivered).to.have.length(1);
  });

  it('effect without deadline goes on, and sets no timer', async () => {
    start(manualEffect());
    start(manualEffect('loop'));
    expect(timers.size).to.equal(0);
    await clock.advance(1e9);
    expect(delivered).to.deep.equal([]);
  });

  it('event sent after the end, the cancellation or the deadline: dropped', async () => {
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

  it('sent events arrive at once, in order, as copies, and do not end the run', async () => {
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
    it(`effect ${how}: that is its error, once, and no timer remains`, async () => {
      start({ run, deadlineMs: 1_000 });
      await rest();
      expect(delivered).to.have.length(1);
      expect(delivered[0]?.event).to.deep.include(event);
      expect(timers.size).to.equal(0);
    });
  }

  it('effect returns no promise: the returned value is its output', async () => {
    const run = Object.assign(async () => {}, {});
    const plain: Effect = { run };
    Object.assign(plain, { run: () => 'gold' });
    start(plain);
    await rest();
    expect(delivered[0]).to.deep.include({ says: 'result' });
    expect(delivered[0]?.event).to.deep.include({ type: 'xstate.done.actor.work', output: 'gold' });
  });

  it('thenable that calls back twice and then throws: the first call counts', async () => {
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
    it(`output is ${what}: an error of the effect`, async () => {
      start({ run: async () => output });
      await rest();
      expect(delivered).to.have.length(1);
      expect(delivered[0]?.event.type).to.equal('xstate.error.actor.work');
      expect(timers.size).to.equal(0);
    });
  }

  it('no such effect: error NO_EFFECT', async () => {
    start(undefined);
    await rest();
    expect(errors()).to.deep.equal(['NO_EFFECT']);
  });

  describe('stop', () => {
    it('nothing runs: ends at once', async () => {
      const stopped = watched(runner.stop(5_000));
      await rest();
      expect(stopped.state).to.equal('answered');
    });

    it('cancelled effects need a moment: waits for the last of them', async () => {
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

    it('effect does not end: waits for the whole grace', async () => {
      runner.cancel(start(manualEffect()));
      const stopped = watched(runner.stop(5_000));
      await clock.advance(4_999);
      expect(stopped.state).to.equal('open');
      await clock.advance(1);
      expect(stopped.state).to.equal('answered');
    });

    it('effect goes on beyond its deadline: the stop still waits for it', async () => {
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

    it('called twice: both end when the effects have ended', async () => {
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
