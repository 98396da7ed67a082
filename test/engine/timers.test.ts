/** Timers of actors: due at moments; each fires once, and none of a state that was left. */
import { expect } from 'chai';
import { assign, raise, setup } from 'xstate';
import { hostActions, type Stamped } from '../../machines/kit/host.js';
import type { ActorKind } from '../../src/engine/effects/effects.js';
import { historyOf, journalOf, Lab, type Life } from './lab.js';
import { napMs, workerKind } from './worker.js';

const address = 'worker/a';
const kinds = [workerKind({})];
const woke = 'event xstate.after.nap.worker.napping';

describe('timers', () => {
  let lab: Lab;
  let life: Life;

  beforeEach(async () => {
    lab = new Lab();
    life = await lab.start(kinds);
  });

  const restart = async (): Promise<void> => {
    life = await lab.start(kinds);
  };
  const ask = (type: string): Promise<unknown> => life.engine.ask(address, { type });
  const history = (): Promise<string[]> => historyOf(life.engine, address);
  const naps = (): unknown => life.engine.peek(address)?.context;

  it('due: the timer fires, not a millisecond earlier, and once', async () => {
    await ask('nap');
    await lab.clock.advance(napMs - 1);
    expect(life.engine.peek(address)).to.include({ state: 'napping' });
    await lab.clock.advance(1);
    expect(life.engine.peek(address)).to.include({ state: 'idle' });
    await lab.clock.advance(10 * napMs);
    expect(naps()).to.deep.include({ naps: 1 });
  });

  it('restart before it is due: fires at the original moment', async () => {
    await ask('nap');
    await lab.clock.advance(napMs / 2);
    await restart();
    await lab.clock.advance(napMs / 2 - 1);
    expect(life.engine.peek(address)).to.include({ state: 'napping' });
    await lab.clock.advance(1);
    expect(naps()).to.deep.include({ naps: 1 });
  });

  it('due while no runtime runs: fires at once after the restart, once', async () => {
    await ask('nap');
    await lab.crash();
    await lab.clock.advance(5 * napMs);
    await restart();
    expect(naps()).to.deep.include({ naps: 1 });
    await restart();
    await lab.clock.advance(5 * napMs);
    expect(await history()).to.deep.equal(['event nap', woke]);
  });

  it('runtime dies between firing and commit: fires again after the restart, and counts once', async () => {
    await ask('nap');
    life.store.hold('commit');
    await lab.clock.advance(napMs);
    await restart();
    expect(naps()).to.deep.include({ naps: 1 });
    expect(await history()).to.deep.equal(['event nap', woke]);
  });

  it('state left: its timer never fires', async () => {
    await ask('nap');
    await ask('leave');
    await lab.clock.advance(10 * napMs);
    await restart();
    await lab.clock.advance(10 * napMs);
    expect(await history()).to.deep.equal(['event nap', 'event leave']);
  });

  it('state entered again: the delay starts again', async () => {
    await ask('nap');
    await lab.clock.advance(napMs - 1);
    await ask('again');
    await lab.clock.advance(napMs - 1);
    expect(naps()).to.deep.include({ naps: 0 });
    await lab.clock.advance(1);
    expect(naps()).to.deep.include({ naps: 1 });
  });

  for (const leave of ['leave', 'again']) {
    it(`timer waits in the mailbox behind '${leave}': journalled as stale`, async () => {
      await ask('nap');
      await lab.clock.advance(napMs - 1);
      const release = life.store.hold('commit');
      void ask(leave);
      await lab.clock.advance(1);
      release();
      await lab.rest();
      expect(naps()).to.deep.include({ naps: 0 });
      expect(await history()).to.deep.equal(['event nap', `event ${leave}`, woke.replace('event', 'stale')]);
    });
  }

  it('timer event carries the moment at which it was handled', async () => {
    await ask('nap');
    await lab.clock.advance(napMs);
    const [nap, after] = await journalOf(life.engine, address);
    expect(after?.at).to.equal((nap?.at ?? 0) + napMs);
  });

  it('record names the earliest due moment, or none', async () => {
    await ask('nap');
    expect(await lab.data.due({ prefix: '', untilMs: lab.clock.now() + napMs, limit: 9 })).to.deep.equal({
      rows: [{ address, wakeAtMs: lab.clock.now() + napMs }],
    });
    await ask('leave');
    expect(await lab.data.due({ prefix: '', untilMs: Number.MAX_SAFE_INTEGER, limit: 9 })).to.deep.equal({ rows: [] });
  });

  it('stopped runtime leaves its timers to the next one', async () => {
    await ask('nap');
    await lab.stop(life.engine);
    expect(lab.clock.pending).to.equal(0);
    await restart();
    await lab.clock.advance(napMs);
    expect(naps()).to.deep.include({ naps: 1 });
  });

  describe('of raised events', () => {
    let isBroken: boolean;
    const alarmMachine = setup({
      types: {} as { context: { heard: string[] }; events: { type: 'set' | 'ring' | 'buzz' | 'hush' } & Stamped },
      actions: {
        ...hostActions,
        hear: assign(({ context, event }) => ({ heard: [...context.heard, event.type] })),
        ringLater: raise({ type: 'ring', at: 0, random: 0 }, { delay: 100 }),
        buzzLater: raise({ type: 'buzz', at: 0, random: 0 }, { delay: 50 }),
        breakDown: assign(() => {
          if (isBroken) throw new Error('broken bell');
          return {};
        }),
      },
    }).createMachine({
      id: 'alarm',
      context: { heard: [] },
      on: {
        set: { actions: ['ringLater', 'buzzLater', 'ringLater'] },
        ring: { actions: 'hear' },
        buzz: { actions: 'breakDown' },
      },
    });
    const alarmKind: ActorKind = { machine: alarmMachine, effects: {}, begin: () => ({}) };

    beforeEach(async () => {
      isBroken = true;
      life = await lab.start([alarmKind]);
      await life.engine.ask('alarm/a', { type: 'set' });
    });

    it('several delayed raises without an id: each of them arrives', async () => {
      await lab.clock.advance(100);
      expect(life.engine.peek('alarm/a')?.context).to.deep.equal({ heard: ['ring', 'ring'] });
    });

    it('timer event crashes the machine: fires again, also after a restart, until it is handled', async () => {
      await lab.clock.advance(50);
      life = await lab.start([alarmKind]);
      isBroken = false;
      await lab.clock.advance(1_000);
      expect(await historyOf(life.engine, 'alarm/a')).to.include.members(['crash buzz', 'event buzz']);
      expect(life.engine.peek('alarm/a')?.context).to.deep.equal({ heard: ['ring', 'ring'] });
      expect(await lab.data.due({ prefix: '', untilMs: Number.MAX_SAFE_INTEGER, limit: 9 })).to.deep.equal({
        rows: [],
      });
    });

    it('timer event always crashes the machine: quarantined; released, it fires again', async () => {
      await lab.clock.advance(60_000);
      expect(life.engine.quarantined().map(({ address }) => address)).to.deep.equal(['alarm/a']);
      isBroken = false;
      await life.engine.release('alarm/a');
      await lab.clock.advance(1_000);
      const history = await historyOf(life.engine, 'alarm/a');
      expect(history.filter((entry) => entry === 'crash buzz')).to.have.length(6);
      expect(history.filter((entry) => entry === 'event buzz')).to.have.length(1);
    });
  });
});
