/**
 * Effects that undo calls with known recipients: once the recipient has ended, so have its calls, before their time.
 */
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
  /** Present recipient of opening; recipients that have ended; recipients whose end stays unknown. */
  let keeper: string | undefined;
  let ended: Set<string>;
  let unknown: Set<string>;
  /** Result of `endDoubts` at the start of the last `shut`. */
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
  /** Tells whether shutting may start. */
  const isClear = async (): Promise<boolean> => {
    const before = shut.calls.length;
    await ask('shut');
    return shut.calls.length > before;
  };

  it('left by an earlier runtime, recipient ended: clear at once', async () => {
    await ask('open');
    ended.add('ann');
    await restart();
    expect(await isClear()).to.equal(true);
  });

  it('recipient still runs: worth asking again, and clear once it has ended', async () => {
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, true]);
    ended.add('ann');
    expect(await isClear()).to.equal(true);
  });

  it('end of the recipient stays unknown: clear when the time is over', async () => {
    unknown.add('ann');
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, false]);
    await lab.clock.advance(deadlineMs);
    expect(await isClear()).to.equal(true);
  });

  it('recipient unknown: clear when the time is over', async () => {
    keeper = undefined;
    await ask('open');
    await restart();
    expect([await isClear(), isWorthAsking]).to.deep.equal([false, false]);
    await lab.clock.advance(deadlineMs);
    expect(await isClear()).to.equal(true);
  });

  it('several runtimes ended meanwhile: clear when all recipients have ended', async () => {
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

  it('one of several calls has no known recipient: waits for the time of all', async () => {
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

  it('cancelled in this runtime, recipient ended since: clear at once', async () => {
    await ask('open');
    expect(await isClear()).to.equal(false);
    ended.add('ann');
    expect(await isClear()).to.equal(true);
  });

  it('recipient known to have ended, runtime ends before a commit: the next one finds it again', async () => {
    await ask('open');
    ended.add('ann');
    await restart();
    expect(await isClear()).to.equal(true);
    await restart();
    expect(await isClear()).to.equal(true);
  });
});
