/** Effects that undo others: they wait until no call in doubt can still run. */
import { expect } from 'chai';
import { setup } from 'xstate';
import { type Stamped, unbound, unboundLoop } from '../../../machines/kit/host.js';
import { pause } from '../../../src/engine/clock.js';
import type { ActorKind, Effect, EffectCall } from '../../../src/engine/effects/effects.js';
import { Lab, type Life } from '../lab.js';
import { type ManualEffect, manualEffect } from '../manual-effect.js';

type DoorEvent = { type: 'open' | 'shut' | 'look' | 'both' | 'watch' | 'remove' } & Stamped;

const effect = unbound<void, object>();

/** Door machine: opening and shutting are effects, and shutting undoes opening. */
const doorMachine = setup({
  types: {} as { events: DoorEvent },
  actors: { open: effect, shut: effect, look: effect, watch: unboundLoop<DoorEvent, object>() },
}).createMachine({
  id: 'door',
  initial: 'still',
  on: { open: '.opening', shut: '.shutting', look: '.looking', both: '.both', watch: '.watching', remove: '.removed' },
  states: {
    still: {},
    opening: { invoke: { id: 'open', src: 'open', input: {}, onDone: 'still', onError: 'still' } },
    shutting: { invoke: { id: 'shut', src: 'shut', input: {}, onDone: 'still', onError: 'still' } },
    looking: { invoke: { id: 'look', src: 'look', input: {}, onDone: 'still', onError: 'still' } },
    removed: { tags: 'absent' },
    watching: { invoke: { id: 'watch', src: 'watch', input: {} } },
    both: {
      type: 'parallel',
      states: {
        left: { invoke: { id: 'shut', src: 'shut', input: {} } },
        right: { invoke: { id: 'open', src: 'open', input: {} } },
      },
    },
  },
});

const deadlineMs = 60_000;

describe('effects that undo others', () => {
  let lab: Lab;
  let life: Life;
  let open: ManualEffect;
  let shut: ManualEffect;
  let look: ManualEffect;

  beforeEach(async () => {
    lab = new Lab();
    open = manualEffect(deadlineMs);
    shut = manualEffect(5_000);
    look = manualEffect(5_000);
    await restart();
  });

  const restart = async (how: Pick<ActorKind, 'onDemand'> = {}): Promise<void> => {
    const effects = { open, shut: shutting(shut), look, watch: manualEffect('loop') };
    const kind: ActorKind = { machine: doorMachine, effects, begin: () => ({}), ...how };
    life = await lab.start([kind]);
  };
  /** Waits until no opening can still run, then shuts. */
  const shutting = ({ run }: ManualEffect): Effect => ({
    sentDeadlineMs: 5_000,
    compensates: ['open'],
    run: async (call) => {
      const clearInMs = call.clearInMs();
      if (clearInMs > 0) await pause(lab.clock, clearInMs, call.signal);
      call.signal.throwIfAborted();
      call.sent();
      return run(call);
    },
  });
  const ask = (type: string, address = 'door/a'): Promise<unknown> => life.engine.ask(address, { type });

  /** Expects a wait as long as a call may last, then the call. */
  const waitsOutACall = async (): Promise<void> => {
    await lab.clock.advance(deadlineMs - 1);
    expect(shut.calls).to.have.length(0);
    await lab.clock.advance(1);
    expect(shut.calls).to.have.length(1);
  };

  it('opening ended in this runtime: starts at once', async () => {
    await ask('open');
    open.last.finish();
    await lab.rest();
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it('opening cancelled in this runtime: waits until its deadline has passed', async () => {
    await ask('open');
    await lab.clock.advance(1_000);
    await ask('look');
    await ask('shut');
    await lab.clock.advance(deadlineMs - 1_001);
    expect(shut.calls).to.have.length(0);
    await lab.clock.advance(1);
    expect(shut.calls).to.have.length(1);
  });

  it('opening timed out in this runtime: starts at once', async () => {
    await ask('open');
    await lab.clock.advance(deadlineMs);
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it("runtime ended during an opening: waits until the opening's deadline has passed", async () => {
    await ask('open');
    await restart();
    await ask('shut');
    await lab.clock.advance(deadlineMs - 1);
    expect(shut.calls).to.have.length(0);
    await lab.clock.advance(1);
    expect(shut.calls).to.have.length(1);
  });

  it('state left during the wait: never starts', async () => {
    await ask('open');
    await restart();
    await ask('shut');
    await ask('look');
    await lab.clock.advance(2 * deadlineMs);
    expect(shut.calls).to.have.length(0);
  });

  it('asked for after the deadline has passed: starts at once', async () => {
    await ask('open');
    await restart();
    await ask('look'); // before the opening runs again
    await lab.clock.advance(deadlineMs);
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it('recovered opening has ended: the call of the former runtime may still run, so it waits', async () => {
    await ask('open');
    await restart();
    await lab.clock.advance(100);
    open.last.finish();
    await lab.rest();
    await ask('shut');
    expect(shut.calls).to.have.length(0);
    await lab.clock.advance(deadlineMs);
    expect(shut.calls).to.have.length(1);
  });

  it('cancelled effect is none that it undoes: starts at once', async () => {
    await ask('look');
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it('other effects and other actors do not wait', async () => {
    await ask('open');
    await restart();
    await ask('look');
    await ask('shut', 'door/b');
    expect(look.calls).to.have.length(1);
    expect(shut.calls).to.have.length(1);
  });

  it('earlier effect was a loop: does not wait', async () => {
    await ask('watch');
    await restart();
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it('listed before the opening in the record: waits as well', async () => {
    await ask('both');
    expect(shut.calls).to.have.length(1);
    await restart();
    await lab.clock.advance(deadlineMs - 1);
    expect(shut.calls).to.have.length(1);
    await lab.clock.advance(1);
    expect(shut.calls).to.have.length(2);
  });

  it('runtime killed during the wait: waits the whole time again, as no clock tells what has passed', async () => {
    await ask('open');
    await restart();
    await ask('shut');
    await lab.clock.advance(deadlineMs / 2);
    await restart();
    await waitsOutACall();
  });

  it('killed again after the recovered opening ended: the call of the first runtime still counts', async () => {
    await ask('open');
    await restart();
    await lab.clock.advance(100);
    open.last.finish();
    await lab.rest();
    await restart();
    await ask('shut');
    await waitsOutACall();
  });

  it('opening cancelled and runtime killed: waits in the next runtime', async () => {
    await ask('open');
    await ask('look');
    look.last.finish();
    await lab.rest();
    await restart();
    await ask('shut');
    await waitsOutACall();
  });

  it('actor deleted during an opening, and created again after a restart: waits', async () => {
    await ask('open');
    await ask('remove');
    await restart();
    await ask('shut');
    await waitsOutACall();
  });

  it('time of the call over, and a commit since: starts at once in the next runtime', async () => {
    await ask('open');
    await restart();
    await lab.clock.advance(100);
    open.last.finish();
    await lab.clock.advance(deadlineMs);
    await ask('look');
    look.last.finish();
    await lab.rest();
    await restart();
    await ask('shut');
    expect(shut.calls).to.have.length(1);
  });

  it('actor loaded long after the restart: that time counts', async () => {
    await ask('open');
    await ask('look');
    look.last.finish();
    await lab.rest();
    await restart({ onDemand: true });
    await lab.clock.advance(deadlineMs - 1_000);
    await ask('shut');
    await lab.clock.advance(999);
    expect(shut.calls).to.have.length(0);
    await lab.clock.advance(1);
    expect(shut.calls).to.have.length(1);
  });

  it('opening has a shorter limit since the restart: waits for the former limit', async () => {
    await ask('open');
    Object.assign(open, { deadlineMs: 1_000 });
    await restart();
    await ask('shut');
    await waitsOutACall();
  });

  it('effect without calls: sent() throws', async () => {
    let asked: unknown;
    const idle: Effect = { makesCall: false, deadlineMs: Number.POSITIVE_INFINITY, run: async (call) => call.sent() };
    life = await lab.start([{ machine: doorMachine, effects: { look: idle }, begin: () => ({}) }]);
    life.engine.observe(({ entry: { event } }) => {
      if (event?.type === 'xstate.error.actor.look') asked = event.error;
    });
    await ask('look');
    await lab.rest();
    expect(asked).to.deep.include({ message: 'look must not call sent(): it is declared with makesCall: false' });
  });

  it('effect without calls can ask when another is clear, before that one is requested', async () => {
    let clearInMs: number | undefined;
    const waiter: Effect = {
      makesCall: false,
      run: async (call) => {
        clearInMs = call.clearInMs({ src: 'shut', input: {} });
      },
    };
    const effects = { open, shut: shutting(shut), look: waiter };
    life = await lab.start([{ machine: doorMachine, effects, begin: () => ({}) }]);
    await ask('open');
    await ask('look');
    await lab.rest();
    expect(clearInMs).to.equal(deadlineMs);
  });

  it('effect without calls that another undoes: refused', async () => {
    const idle: Effect = { makesCall: false, run: open.run };
    const effects = { open: idle, shut: shutting(shut) };
    const refused = await lab.start([{ machine: doorMachine, effects, begin: () => ({}) }]).catch(String);
    expect(refused).to.include("door: open makes no call, and can't undo one or be undone");
  });

  it('effect that undoes others but has no sentDeadlineMs: refused', async () => {
    const { run } = shut;
    const kind: ActorKind = {
      machine: doorMachine,
      effects: { open, shut: { run, compensates: ['open'] } },
      begin: () => ({}),
    };
    const refused = await lab.start([kind]).catch(String);
    expect(refused).to.include('door: shut compensates others, and has no sentDeadlineMs');
  });

  it('sent() throws before the effect is clear', async () => {
    let early: unknown;
    const hasty = { ...shutting(shut), run: async (call: EffectCall) => call.sent() };
    await ask('open');
    const kind: ActorKind = { machine: doorMachine, effects: { open, shut: hasty }, begin: () => ({}) };
    life = await lab.start([kind]);
    life.engine.observe(({ entry: { event } }) => {
      if (event?.type === 'xstate.error.actor.shut') early = event.error;
    });
    await ask('shut');
    await lab.rest();
    expect(early).to.deep.include({ message: 'shut must wait: a call that it undoes may still be running' });
  });

  for (const [how, byMs] of [
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ] as const) {
    it(`wall clock set ${how} meanwhile: waits neither less nor more`, async () => {
      await ask('open');
      await restart();
      await ask('shut');
      const { now } = lab.clock;
      lab.clock.now = () => now() + byMs;
      await ask('nothing to it');
      await lab.clock.advance(deadlineMs - 1);
      expect(shut.calls).to.have.length(0);
      await lab.clock.advance(1);
      expect(shut.calls).to.have.length(1);
    });
  }

  it('killed again before it was asked for: the wait starts again at the last restart', async () => {
    await ask('open');
    await restart();
    await lab.clock.advance(deadlineMs / 2);
    await restart();
    await ask('shut');
    await waitsOutACall();
  });
});
