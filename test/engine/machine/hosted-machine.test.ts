/** What a step hands to the engine, as data: effects, timers, messages, broadcasts, an answer; and that nothing runs. */
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
import { HostedMachine, type Step } from '../../../src/engine/machine/hosted-machine.js';
import '../quiet-xstate.js';

const go: AnyEventObject = { type: 'go' };

interface Visits {
  visits: number;
}

/** Counts its visits, and works while it is visited. */
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
  const stepThrough = (hosted: HostedMachine, ...events: AnyEventObject[]): Step => {
    let step = hosted.begin({});
    for (const event of events) step = hosted.step(step.snapshot, event);
    return step;
  };

  it('one machine is prepared once, whoever hosts it; another one of the same definition is not taken for it', () => {
    expect(HostedMachine.of(visited)).to.equal(HostedMachine.of(visited));
    expect(HostedMachine.of(visited.provide({}))).to.not.equal(HostedMachine.of(visited));
  });

  it('an entered state asks for its invoke with the input of that moment, and starts nothing', () => {
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

  it('input that depends on the context sees it as it was on entry, not as later actions leave it', () => {
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

  it('a state that is entered again asks for its invoke again', () => {
    const { started, snapshot } = stepThrough(new HostedMachine(visited), go, { type: 'again' });
    expect(started.map(({ input }) => input)).to.deep.equal([{ visit: 2, asked: 'again' }]);
    expect([...new HostedMachine(visited).activeInvokes(snapshot)]).to.deep.equal(['work']);
  });

  it('a state that was left keeps no invoke running', () => {
    const hosted = new HostedMachine(visited);
    expect([...hosted.activeInvokes(stepThrough(hosted, go, { type: 'back' }).snapshot)]).to.deep.equal([]);
  });

  it('two states that share an invoke id but not its source each get their own', () => {
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

  it('two invokes of one id and source with different inputs can not be told apart: refused when the machine is hosted', () => {
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

  it('an invoke of logic without a name could never be found: refused when the machine is hosted', () => {
    const machine = createMachine({ id: 'm', invoke: { src: fromPromise(async () => {}) } });
    expect(() => new HostedMachine(machine)).to.throw('name the actor');
  });

  it('after and cancel come as changes of timers, in order', () => {
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

  it('a delayed raise and a cancel of it by name are timers too', () => {
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
    it(`a delay of ${delay} is an error, not a timer that never or always fires`, () => {
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

  it('a raise without delay is taken within the step, and is no timer', () => {
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

  it('messages, broadcasts and the answer come as the machine gave them, in order', () => {
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

  it('a step that throws leaves nothing behind for the next one', () => {
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

  it('always-transitions without end are an error, not a hang', () => {
    const hosted = new HostedMachine(
      createMachine({
        id: 'm',
        initial: 'a',
        states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
      }),
    );
    expect(() => stepThrough(hosted, go)).to.throw('Infinite loop');
  });

  it('raises without end are an error, also in the first step', () => {
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
    it(`a machine that asks for ${what} is refused`, () => {
      expect(() => stepThrough(new HostedMachine(createMachine(config)), go)).to.throw(/which (no host runs|is no)/);
    });
  }

  it('an error of an actor that no transition takes is thrown with its own message', () => {
    const hosted = new HostedMachine(visited);
    const error = { name: 'Error', message: 'the disk is full', code: 'X', final: true };
    const { snapshot } = stepThrough(hosted, go);
    expect(() => hosted.step(snapshot, { type: 'xstate.error.actor.work', error })).to.throw('the disk is full');
  });

  it('a context that its input makes throw is thrown from the first step', () => {
    const hosted = new HostedMachine(createMachine({ id: 'm', context: () => fault('no input') }));
    expect(() => hosted.begin({})).to.throw('no input');
  });

  it('a context of more than plain data becomes plain data at once, so that a restart changes nothing', () => {
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
