/** Steps of a hosted machine give data: effects, timers, messages, broadcasts, an answer; nothing runs. */
import { expect } from 'chai';
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  assign,
  cancel,
  createMachine,
  emit,
  fromPromise,
  log,
  raise,
  sendTo,
  setup,
  spawnChild,
} from 'xstate';
import { hostActions, unbound } from '../../../machines/kit/host.js';
import { HostedMachine, type MachineStep } from '../../../src/engine/machine/hosted-machine.js';

const go: AnyEventObject = { type: 'go' };

interface Visits {
  visits: number;
}

/** Machine that counts its visits, and works during a visit. */
const visited = setup({
  types: {} as { context: Visits; events: { type: 'go' | 'back' | 'again' } },
  actors: { work: unbound<void, { visit: number; asked: string }>() },
  actions: { count: assign(({ context }) => ({ visits: context.visits + 1 })), uncount: assign({ visits: -1 }) },
}).createMachine({
  id: 'visited',
  version: '7',
  context: { visits: 0 },
  initial: 'out',
  states: {
    out: { entry: 'uncount', on: { go: { target: 'in', actions: 'count' } } },
    in: {
      entry: 'count',
      invoke: {
        id: 'work',
        src: 'work',
        input: ({ context, event }) => ({ visit: context.visits, asked: event.type }),
      },
      on: { back: 'out', again: { target: 'in', reenter: true } },
    },
  },
});

describe('hosted machine', () => {
  const stepThrough = (hosted: HostedMachine, ...events: AnyEventObject[]): MachineStep => {
    let step = hosted.begin({});
    for (const event of events) step = hosted.step(step.snapshot, event);
    return step;
  };

  it('each machine is prepared once, whoever hosts it; an equal definition is a different machine', () => {
    expect(HostedMachine.of(visited)).to.equal(HostedMachine.of(visited));
    expect(HostedMachine.of(visited.provide({}))).to.not.equal(HostedMachine.of(visited));
  });

  it('entered state requests its invoke with the input of that moment, and starts nothing', () => {
    let ran = 0;
    const bound = visited.provide({
      actors: {
        work: fromPromise(async () => {
          ran += 1;
        }),
      },
    });
    const { started } = stepThrough(new HostedMachine(bound), go);
    expect(started).to.deep.equal([{ id: 'work', src: 'work', input: { visit: 1, asked: 'go' } }]);
    expect(ran).to.equal(0);
  });

  it('input that depends on the context uses the context on entry, not after later actions', () => {
    const hosted = new HostedMachine(
      setup({
        types: {} as { context: Visits },
        actors: { work: unbound<void, Visits>() },
        actions: { count: assign(({ context }) => ({ visits: context.visits + 1 })) },
      }).createMachine({
        id: 'm',
        context: { visits: 1 },
        initial: 'a',
        states: {
          a: { on: { go: 'b' } },
          b: {
            invoke: { id: 'work', src: 'work', input: ({ context }) => ({ visits: context.visits }) },
            initial: 'inner',
            states: { inner: { entry: 'count' } },
          },
        },
      }),
    );
    const step = stepThrough(hosted, go);
    expect(step.started[0]?.input).to.deep.equal({ visits: 1 });
    expect(step.snapshot.context).to.deep.equal({ visits: 2 });
  });

  it('state entered again requests its invoke again', () => {
    const { started, snapshot } = stepThrough(new HostedMachine(visited), go, { type: 'again' });
    expect(started.map(({ input }) => input)).to.deep.equal([{ visit: 2, asked: 'again' }]);
    expect([...new HostedMachine(visited).activeInvokes(snapshot)]).to.deep.equal(['work']);
  });

  it('state that was left keeps no invoke running', () => {
    const hosted = new HostedMachine(visited);
    expect([...hosted.activeInvokes(stepThrough(hosted, go, { type: 'back' }).snapshot)]).to.deep.equal([]);
  });

  it('two states with the same invoke id but different src: each gets its own', () => {
    const hosted = new HostedMachine(
      setup({ actors: { up: unbound<void, object>(), down: unbound<void, object>() } }).createMachine({
        id: 'm',
        initial: 'a',
        states: {
          a: { invoke: { id: 'call', src: 'up', input: { to: 'up' } }, on: { go: 'b' } },
          b: { invoke: { id: 'call', src: 'down', input: { to: 'down' } } },
        },
      }),
    );
    expect(hosted.begin({}).started).to.deep.equal([{ id: 'call', src: 'up', input: { to: 'up' } }]);
    expect(stepThrough(hosted, go).started).to.deep.equal([{ id: 'call', src: 'down', input: { to: 'down' } }]);
  });

  it('two invokes with the same id and src but different inputs: refused when hosted', () => {
    const machine = setup({ actors: { work: unbound<void, object>() } }).createMachine({
      id: 'm',
      initial: 'a',
      states: {
        a: { invoke: { id: 'call', src: 'work', input: { to: 'a' } } },
        b: { invoke: { id: 'call', src: 'work', input: { to: 'b' } } },
      },
    });
    expect(() => new HostedMachine(machine)).to.throw("another invoke of 'work' has the id 'call'");
  });

  it('invoke of logic without a name: refused when hosted', () => {
    const machine = createMachine({ id: 'm', invoke: { src: fromPromise(async () => {}) } });
    expect(() => new HostedMachine(machine)).to.throw('name the actor');
  });

  it('after and cancel give timer changes, in order', () => {
    const hosted = new HostedMachine(
      createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { after: { 100: 'b', 250: 'b' }, on: { go: 'b' } }, b: { after: { 300: 'a' } } },
      }),
    );
    expect(hosted.begin({}).timers).to.deep.equal([
      { id: 'xstate.after.100.m.a', delayMs: 100, event: { type: 'xstate.after.100.m.a' } },
      { id: 'xstate.after.250.m.a', delayMs: 250, event: { type: 'xstate.after.250.m.a' } },
    ]);
    expect(stepThrough(hosted, go).timers).to.deep.equal([
      { id: 'xstate.after.100.m.a', cancelled: true },
      { id: 'xstate.after.250.m.a', cancelled: true },
      { id: 'xstate.after.300.m.b', delayMs: 300, event: { type: 'xstate.after.300.m.b' } },
    ]);
  });

  it('delayed raise and its cancel by name are timers too', () => {
    const hosted = new HostedMachine(
      createMachine({
        id: 'm',
        on: {
          go: { actions: raise({ type: 'late' }, { id: 'lateness', delay: 50 }) },
          stop: { actions: cancel('lateness') },
        },
      }),
    );
    expect(stepThrough(hosted, go).timers).to.deep.equal([{ id: 'lateness', delayMs: 50, event: { type: 'late' } }]);
    expect(stepThrough(hosted, { type: 'stop' }).timers).to.deep.equal([{ id: 'lateness', cancelled: true }]);
  });

  for (const delay of [Number.NaN, Number.POSITIVE_INFINITY]) {
    it(`delay of ${delay}: an error, not a timer`, () => {
      const hosted = new HostedMachine(
        setup({ delays: { odd: () => delay } }).createMachine({
          id: 'm',
          initial: 'a',
          states: { a: { on: { go: 'b' } }, b: { after: { odd: 'a' } } },
        }),
      );
      expect(() => stepThrough(hosted, go)).to.throw(`is ${delay}`);
    });
  }

  it('raise without delay is handled within the step, and is no timer', () => {
    const hosted = new HostedMachine(
      createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { on: { go: { actions: raise({ type: 'on' }) }, on: 'b' } }, b: {} },
      }),
    );
    const { snapshot, timers } = stepThrough(hosted, go);
    expect(snapshot.value).to.equal('b');
    expect(timers).to.deep.equal([]);
  });

  it("messages, broadcasts and the answer come in the machine's order", () => {
    const hosted = new HostedMachine(
      setup({ actions: hostActions }).createMachine({
        id: 'm',
        on: {
          go: {
            actions: [
              { type: 'messages', params: [{ to: 'm/1', event: { type: 'one' } }] },
              emit({ type: 'first' }),
              { type: 'answer', params: { value: 41 } },
              { type: 'messages', params: [{ to: 'm/2', input: { size: 2 } }] },
              emit({ type: 'second' }),
              { type: 'answer', params: { value: 42 } },
            ],
          },
        },
      }),
    );
    const step = stepThrough(hosted, go);
    expect(step.messages).to.deep.equal([
      { to: 'm/1', event: { type: 'one' } },
      { to: 'm/2', input: { size: 2 } },
    ]);
    expect(step.emitted).to.deep.equal([{ type: 'first' }, { type: 'second' }]);
    expect(step.answer).to.deep.equal({ value: 42 });
  });

  it('step that throws leaves nothing behind for the next step', () => {
    const hosted = new HostedMachine(
      setup({ actions: { ...hostActions, fail: assign(() => fault('no')) } }).createMachine({
        id: 'm',
        on: {
          bad: { actions: [{ type: 'answer', params: { value: 'half' } }, emit({ type: 'half' }), 'fail'] },
          go: {},
        },
      }),
    );
    const { snapshot } = hosted.begin({});
    expect(() => hosted.step(snapshot, { type: 'bad' })).to.throw('no');
    expect(hosted.step(snapshot, go)).to.deep.include({ answer: undefined, emitted: [] });
  });

  it('endless always-transitions: an error, not a hang', () => {
    const hosted = new HostedMachine(
      createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
      }),
    );
    expect(() => stepThrough(hosted, go)).to.throw('Infinite loop');
  });

  it('endless raises: an error, also in the first step', () => {
    const hosted = new HostedMachine(
      createMachine({ id: 'm', entry: raise({ type: 'on' }), on: { on: { actions: raise({ type: 'on' }) } } }),
    );
    expect(() => hosted.begin({})).to.throw('Infinite loop');
  });

  const refused: Record<string, Parameters<typeof createMachine>[0]> = {
    'an action of its own': { id: 'm', on: { go: { actions: () => {} } } },
    'an action that nobody implements': { id: 'm', on: { go: { actions: 'unheard' } } },
    'xstate.log': { id: 'm', on: { go: { actions: log('hello') } } },
    'xstate.sendTo': { id: 'm', on: { go: { actions: sendTo(({ self }) => self, { type: 'x' }) } } },
    'a spawned child': { id: 'm', on: { go: { actions: spawnChild('work', { id: 'child' }) } } },
  };
  for (const [what, config] of Object.entries(refused)) {
    it(`machine that asks for ${what}: refused`, () => {
      expect(() => stepThrough(new HostedMachine(createMachine(config)), go)).to.throw(/which (no host runs|is no)/);
    });
  }

  it('error of an actor that no transition takes: thrown with its own message', () => {
    const hosted = new HostedMachine(visited);
    const error = { name: 'Error', message: 'the disk is full', code: 'X', final: true };
    const { snapshot } = stepThrough(hosted, go);
    expect(() => hosted.step(snapshot, { type: 'xstate.error.actor.work', error })).to.throw('the disk is full');
  });

  it('context that throws on its input: thrown from the first step', () => {
    const hosted = new HostedMachine(createMachine({ id: 'm', context: () => fault('no input') }));
    expect(() => hosted.begin({})).to.throw('no input');
  });

  it('context of more than plain data becomes plain data at once, so that a restart changes nothing', () => {
    const hosted = new HostedMachine(
      createMachine({ id: 'm', context: { at: new Date(0), nothing: undefined, odd: Number.NaN, none: -0 } }),
    );
    const { context }: AnyMachineSnapshot = hosted.begin({}).snapshot;
    expect(context).to.deep.equal({ at: '1970-01-01T00:00:00.000Z', odd: null, none: 0 });
  });
});

function fault(message: string): never {
  throw new Error(message);
}
