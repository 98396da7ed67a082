/** Effects: run at least once, give at most one result, are cancelled with their state, and never crash the process. */
import { expect } from 'chai';
import { assign, setup } from 'xstate';
import { type Stamped, unbound, unboundLoop } from '../../../machines/kit/host.js';
import type { ActorKind, EffectCall } from '../../../src/engine/effects/effects.js';
import { historyOf, Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';
import { workerKind } from '../worker.js';

const address = 'worker/a';

describe('effects', () => {
  let lab: Lab;
  let life: Life;
  let work: ManualEffect;
  let listen: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    work = manualEffect();
    listen = manualEffect('loop');
    life = await lab.start([workerKind({ work, listen })]);
  });

  const restart = async (): Promise<void> => {
    life = await lab.start([workerKind({ work, listen })]);
  };
  const worker = (): object | undefined => life.engine.peek(address)?.context;
  const history = (): Promise<string[]> => historyOf(life.engine, address);
  const ask = (type: string): Promise<unknown> => life.engine.ask(address, { type, job: 'dig' });

  it('effect resolves twice: the machine gets the output once', async () => {
    await ask('work');
    work.last.finish('gold');
    work.last.finish('more gold');
    await lab.rest();
    expect(worker()).to.deep.include({ results: ['gold'] });
    expect(await history()).to.deep.equal(['event work', 'event xstate.done.actor.work']);
  });

  it('state entered again: a new effect begins, and the former run does not count', async () => {
    await ask('work');
    const [first] = work.calls;
    await ask('again');
    first?.finish('of the first');
    await lab.rest();
    expect(first?.signal.aborted).to.equal(true);
    expect(work.last).to.deep.include({ seq: 2, input: { job: 'again' } });
    expect(worker()).to.deep.include({ results: [] });
    work.last.finish('of the second');
    await lab.rest();
    expect(worker()).to.deep.include({ results: ['of the second'] });
  });

  for (const leave of ['leave', 'again']) {
    it(`result waits in the mailbox behind '${leave}': journalled as stale`, async () => {
      await ask('work');
      const release = life.store.hold('commit');
      void ask(leave);
      await lab.rest();
      work.last.finish('too late');
      await lab.rest();
      release();
      await lab.rest();
      expect(worker()).to.deep.include({ results: [] });
      expect(await history()).to.deep.equal(['event work', `event ${leave}`, 'stale xstate.done.actor.work']);
    });
  }

  it('state left: the effect is aborted, and its later results are dropped', async () => {
    await ask('work');
    await ask('leave');
    expect(work.last.signal.reason).to.include({ code: 'ABORTED' });
    work.last.finish('too late');
    work.last.send({ type: 'nap' });
    await lab.rest();
    expect(await history()).to.deep.equal(['event work', 'event leave']);
  });

  it('loop sends events: each reaches the machine, in order, until its state is left', async () => {
    await ask('listen');
    for (const text of ['one', 'two', 'three']) listen.last.send({ type: 'heard', text });
    await lab.rest();
    await ask('leave');
    listen.last.send({ type: 'heard', text: 'four' });
    await lab.rest();
    expect(worker()).to.deep.include({ results: ['one', 'two', 'three'] });
    expect(listen.last.signal.aborted).to.equal(true);
  });

  it('loop sends while its state is being left: journalled as stale', async () => {
    await ask('listen');
    const release = life.store.hold('commit');
    void ask('leave');
    await lab.rest();
    listen.last.send({ type: 'heard', text: 'late' });
    release();
    await lab.rest();
    expect(await history()).to.deep.equal(['event listen', 'event leave', 'stale heard']);
  });

  it('loop ends by itself: no event; after a restart it runs again', async () => {
    await ask('listen');
    listen.last.finish('never seen');
    await lab.rest();
    listen.last.send({ type: 'heard', text: 'after its end' });
    await lab.rest();
    expect(await history()).to.deep.equal(['event listen']);
    await restart();
    expect(listen.last).to.include({ recovered: true });
  });

  it('loop throws: an error event, as with any effect', async () => {
    await ask('listen');
    listen.last.fail(new Error('deaf'));
    await lab.rest();
    expect(await history()).to.deep.equal(['event listen', 'crash xstate.error.actor.listen']);
  });

  it('runtime dies: the effect of a waiting state runs again, under its name, marked as recovered', async () => {
    await ask('work');
    expect(work.last).to.include({ recovered: false, seq: 1 });
    await restart();
    expect(work.calls).to.have.length(2);
    expect(work.last).to.deep.include({ recovered: true, address, id: 'work', seq: 1, input: { job: 'dig' } });
    work.last.finish('gold');
    await lab.rest();
    await restart();
    expect(work.calls).to.have.length(2);
    expect(worker()).to.deep.include({ results: ['gold'] });
  });

  it('run of an earlier life ends late: dropped', async () => {
    await ask('work');
    const [before] = work.calls;
    await restart();
    before?.finish('from the grave');
    await lab.rest();
    expect(worker()).to.deep.include({ results: [] });
  });

  it('machine asks for an unknown effect: error NO_EFFECT', async () => {
    life = await lab.start([workerKind({})]);
    await ask('work');
    await lab.rest();
    expect(worker()).to.deep.equal({
      results: [{ code: 'NO_EFFECT', message: "no effect 'work' is defined for this machine", final: false }],
      naps: 0,
    });
  });

  it('effect that changes its input: neither the record nor the next run changes', async () => {
    await ask('work');
    Object.assign(work.last.input ?? {}, { job: 'spoiled' });
    await ask('nothing to it');
    await restart();
    expect(work.last.input).to.deep.equal({ job: 'dig' });
  });

  it('input that JSON would change: the same in the first run and in a recovered run', async () => {
    const seen: unknown[] = [];
    const machine = setup({
      types: {} as { events: { type: 'go' } & Stamped },
      actors: { work: unbound<void, object>() },
    }).createMachine({
      id: 'dated',
      initial: 'idle',
      states: {
        idle: { on: { go: 'busy' } },
        busy: { invoke: { id: 'work', src: 'work', input: { on: new Date(0), not: undefined } } },
      },
    });
    const run = ({ input }: EffectCall): Promise<void> => {
      seen.push(input);
      return new Promise(() => {});
    };
    const kind: ActorKind = { machine, effects: { work: { run } }, begin: () => ({}) };
    life = await lab.start([kind]);
    await life.engine.ask('dated/a', { type: 'go' });
    await lab.start([kind]);
    await lab.clock.advance(100);
    expect(seen).to.deep.equal([{ on: '1970-01-01T00:00:00.000Z' }, { on: '1970-01-01T00:00:00.000Z' }]);
  });

  it('state entered and left within one step: its effect never starts', async () => {
    const transient = setup({ actors: { work: unbound<void, object>() } }).createMachine({
      id: 'transient',
      initial: 'a',
      states: {
        a: { on: { go: 'b' } },
        b: { invoke: { id: 'work', src: 'work', input: {} }, always: 'c' },
        c: {},
      },
    });
    life = await lab.start([{ machine: transient, effects: { work }, begin: () => ({}) }]);
    await life.engine.ask('transient/a', { type: 'go' });
    expect(life.engine.peek('transient/a')).to.include({ state: 'c' });
    expect(work.calls).to.have.length(0);
  });

  it('state entered twice within one step: its effect starts once, with the input of the last entry', async () => {
    const bouncing = setup({
      types: {} as { context: { entries: number } },
      actors: { work: unbound<void, { entry: number }>() },
      actions: { count: assign(({ context }) => ({ entries: context.entries + 1 })) },
      guards: { isFirst: ({ context }) => context.entries === 1 },
    }).createMachine({
      id: 'bouncing',
      context: { entries: 0 },
      initial: 'a',
      states: {
        a: {
          entry: 'count',
          invoke: { id: 'work', src: 'work', input: ({ context }) => ({ entry: context.entries }) },
          always: { guard: 'isFirst', target: 'b' },
        },
        b: { always: 'a' },
      },
    });
    life = await lab.start([{ machine: bouncing, effects: { work }, begin: () => ({}) }]);
    await life.engine.ask('bouncing/a', { type: 'go' });
    expect(work.calls.map(({ input }) => input)).to.deep.equal([{ entry: 2 }]);
  });

  it('first event of an actor enters the first state again: the effect starts once', async () => {
    const eager = setup({ actors: { work: unbound<void, object>() } }).createMachine({
      id: 'eager',
      initial: 'a',
      states: { a: { invoke: { id: 'work', src: 'work', input: {} }, on: { go: { target: 'a', reenter: true } } } },
    });
    life = await lab.start([{ machine: eager, effects: { work }, begin: () => ({}) }]);
    await life.engine.ask('eager/a', { type: 'go' });
    expect(work.calls).to.have.length(1);
  });

  it('effect ends and its state stays: not run again after a restart', async () => {
    const contented = setup({
      actors: { work: unbound<void, object>() },
      actions: { note: assign({}) },
    }).createMachine({
      id: 'contented',
      invoke: { id: 'work', src: 'work', input: {}, onDone: { actions: 'note' } },
    });
    const kind: ActorKind = { machine: contented, effects: { work }, begin: () => ({}) };
    life = await lab.start([kind]);
    await life.engine.ask('contented/a', { type: 'go' });
    work.last.finish();
    await lab.rest();
    life = await lab.start([kind]);
    expect(life.engine.peek('contented/a')).to.include({ seq: 2 });
    expect(work.calls).to.have.length(1);
  });

  it('two effects at once: the end of one does not affect the other', async () => {
    const both = setup({
      actors: { work: unbound<void, object>(), listen: unboundLoop<{ type: 'x' }, object>() },
    }).createMachine({
      id: 'both',
      invoke: { id: 'listen', src: 'listen', input: {} },
      initial: 'busy',
      states: { busy: { invoke: { id: 'work', src: 'work', input: {}, onDone: 'done' } }, done: {} },
    });
    life = await lab.start([{ machine: both, effects: { work, listen }, begin: () => ({}) }]);
    await life.engine.ask('both/a', { type: 'go' });
    work.last.finish();
    await lab.rest();
    expect(life.engine.peek('both/a')).to.include({ state: 'done' });
    expect(listen.last.signal.aborted).to.equal(false);
    expect(listen.calls).to.have.length(1);
  });

  it('actor ends: its effects are aborted', async () => {
    const mortal = setup({ actors: { listen: unboundLoop<{ type: 'x' }, object>() } }).createMachine({
      id: 'mortal',
      invoke: { id: 'listen', src: 'listen', input: {} },
      initial: 'alive',
      states: { alive: { on: { die: 'dead' } }, dead: { type: 'final' } },
    });
    life = await lab.start([{ machine: mortal, effects: { listen }, begin: () => ({}) }]);
    await life.engine.ask('mortal/a', { type: 'live' });
    await life.engine.ask('mortal/a', { type: 'die' });
    expect(listen.last.signal.aborted).to.equal(true);
    expect(life.engine.peek('mortal/a')).to.equal(undefined);
  });
});
