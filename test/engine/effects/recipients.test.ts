/** An effect that undoes calls whose recipient has ended: those calls are over, however much time they had. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { type Stamped, unbound } from '../../../machines/kit/host.js';
import type { ActorKind, Effect } from '../../../src/engine/effects/effects.js';
import { Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';

type DoorEvent = { type: 'open' | 'shut' | 'rest' } & Stamped;

const effect = unbound<void, object>();

/** Door machine: opening and shutting are effects, and shutting undoes opening. */
const doorMachine = setup({
  types: {} as { events: DoorEvent },
  actors: { open: effect, shut: effect },
}).createMachine({
  id: 'door',
  initial: 'still',
  on: { open: '.opening', shut: '.shutting', rest: '.still' },
  states: {
    still: {},
    opening: { invoke: { id: 'open', src: 'open', input: {}, onDone: 'still', onError: 'still' } },
    shutting: { invoke: { id: 'shut', src: 'shut', input: {}, onDone: 'still', onError: 'still' } },
  },
});

const deadlineMs = 60_000;

describe('an effect that undoes calls to recipients', () => {
  let lab: Lab;
  let life: Life;
  let open: ManualEffect;
  let shut: ManualEffect;
  /** Recipient that opens now; recipients that have ended; recipients whose end stays unknown. */
  let keeper: string | undefined;
  let ended: Set<string>;
  let unknown: Set<string>;
  /** Of the last `shut`, at its start. */
  let isWorthAsking: boolean | undefined;

  beforeEach(async () => {
    lab = new Lab();
    [keeper, ended, unknown] = ['ann', new Set(), new Set()];
    await restart();
  });

  const restart = async (): Promise<void> => {
    open = manualEffect(deadlineMs);
    shut = manualEffect(5_000);
    const opening: Effect = {
      deadlineMs,
      run: open.run,
      recipient: {
        of: () => (keeper === undefined ? undefined : { keeper }),
        hasEnded: async (one) => {
          const name = 'keeper' in one ? String(one.keeper) : '';
          return unknown.has(name) ? undefined : ended.has(name);
        },
      },
    };
    const shutting: Effect = {
      sentDeadlineMs: 5_000,
      compensates: ['open'],
      run: async (call) => {
        isWorthAsking = await call.endDoubts();
        if (call.clearInMs() > 0) throw new Error('it is not clear');
        call.sent();
        return shut.run(call);
      },
    };
    const kind: ActorKind = { machine: doorMachine, effects: { open: opening, shut: shutting }, begin: () => ({}) };
    life = await lab.start([kind]);
  };
  const ask = async (type: string): Promise<void> => {
    await life.engine.ask('door/a', { type });
    await lab.rest();
  };
  /** Whether it is clear to be shut. */
  const isClear = async (): Promise<boolean> => {
    const before = shut.calls.length;
    await ask('shut');
    return shut.calls.length > before;
  };

  it('left by a runtime before, and its recipient has ended: it is clear at once', async () => {
    await ask('open');
    ended.add('ann');
    await restart();
    expect(await isClear()).to.equal(true);
  });

  it('its recipient has not ended: it is worth asking again, and clear once it has', async () => {
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, true]);
    ended.add('ann');
    expect(await isClear()).to.equal(true);
  });

  it('nobody will know whether its recipient has ended: it is clear when the time is over', async () => {
    unknown.add('ann');
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, false]);
    await lab.clock.advance(deadlineMs);
    expect(await isClear()).to.equal(true);
  });

  it('who its recipient was is not known: it is clear when the time is over', async () => {
    keeper = undefined;
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, false]);
    await lab.clock.advance(deadlineMs);
    expect(await isClear()).to.equal(true);
  });

  it('several runtimes ended meanwhile: all recipients have to have ended', async () => {
    await ask('open');
    await restart();
    await ask('rest');
    keeper = 'bea';
    await ask('open');
    await restart();
    await restart();
    ended.add('bea');
    expect(await isClear()).to.equal(false);
    ended.add('ann');
    expect(await isClear()).to.equal(true);
  });

  it('one of several calls went to nobody that is known: it waits for the time of all', async () => {
    await ask('open');
    await restart();
    await ask('rest');
    keeper = undefined;
    await ask('open');
    await restart();
    ended.add('ann');
    expect(await isClear()).to.equal(false);
    await lab.clock.advance(deadlineMs);
    expect(await isClear()).to.equal(true);
  });

  it('cancelled in this runtime, and its recipient has ended since: it is clear at once', async () => {
    await ask('open');
    expect(await isClear()).to.equal(false);
    ended.add('ann');
    expect(await isClear()).to.equal(true);
  });

  it('known to have ended, and the runtime ends before anything is committed: the next one finds it out again', async () => {
    await ask('open');
    ended.add('ann');
    await restart();
    expect(await isClear()).to.equal(true);
    await restart();
    expect(await isClear()).to.equal(true);
  });
});
