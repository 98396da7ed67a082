/** Compiled plans give the same steps as XState: transitions taken, states left and entered, and their order. */
import { expect } from 'chai';
import { type AnyStateMachine, createMachine, emit, raise } from 'xstate';
import { type Config, drive, made, note, notesOf } from '../noting.js';

/** State that notes its entry and exit. */
const noted = (name: string, more: object = {}) => ({ entry: note(`in ${name}`), exit: note(`out ${name}`), ...more });
const deep = (on: NonNullable<Config['on']>, inner: object = {}): AnyStateMachine =>
  made({
    ...noted('m'),
    initial: 'a',
    on,
    states: {
      a: noted('a', {
        id: 'a',
        initial: { target: 'b', actions: note('into b') },
        states: {
          b: noted('b', {
            id: 'b',
            initial: { target: 'c', actions: note('into c') },
            states: { c: noted('c', inner), d: noted('d', { id: 'd' }) },
          }),
          e: noted('e', { id: 'e' }),
        },
      }),
      f: noted('f'),
    },
  });
describe('planned machine', () => {
  describe('states', () => {
    it('begins in nested states, each entered with its initial actions', () => {
      const { value, context } = drive(deep({}), []);
      expect(value).to.deep.equal({ a: { b: 'c' } });
      expect([value, Object(value).a].map(Object.isFrozen), 'nobody changes it for others').to.deep.equal([true, true]);
      expect(context.notes).to.have.length(6);
    });

    it('begins with always-transitions and raised events', () => {
      const machine = made({
        initial: 'a',
        states: {
          a: {
            entry: [raise({ type: 'go' }), 'count'],
            always: { guard: { type: 'isAtLeast', params: 1 }, target: 'b' },
          },
          b: { on: { go: 'c' } },
          c: {},
        },
      });
      expect(drive(machine, []).value).to.equal('c');
    });

    it('static context; machine with a single state; event without a transition', () => {
      const { context } = drive(createMachine({ id: 'm', context: { kept: [1] } }), ['go']);
      expect(context).to.deep.equal({ kept: [1] });
      drive(createMachine({ id: 'm' }), ['go']);
    });

    it('context that is an instance of a class becomes a plain object', () => {
      class Kept {
        readonly kept = 1;
      }
      const { context } = drive(createMachine({ id: 'm', context: () => new Kept() }), ['go']);
      expect(context).not.to.be.instanceOf(Kept);
    });

    it('tags are those of all active states', () => {
      const machine = made({
        tags: ['whole'],
        initial: 'a',
        states: { a: { tags: 'first', on: { go: 'b' } }, b: { on: { go: 'a' } } },
      });
      expect([...drive(machine, ['go']).tags]).to.deep.equal(['whole']);
      expect([...drive(machine, ['go', 'go']).tags]).to.deep.equal(['whole', 'first']);
    });
  });

  describe('transitions', () => {
    const targets: [string, object][] = [
      ['without a target', {}],
      ['without a target, to be reentered', { reenter: true }],
      ['to a state within', { target: '.f' }],
      ['to a state deep within', { target: '#d' }],
      ['to a state within that holds others', { target: '.a' }],
      ['to the root itself', { target: '#m' }],
      ['to the root itself, reentered', { target: '#m', reenter: true }],
      ['to a state within, reentered', { target: '.a', reenter: true }],
      ['to a state deep within, reentered', { target: '#d', reenter: true }],
    ];
    for (const [name, transition] of targets) {
      it(`of the root: ${name}`, () => {
        const { length } = notesOf(drive(deep({}), []));
        const after = drive(deep({ go: { ...transition, actions: note('go') } }), ['go', 'go']);
        expect(notesOf(after).length).to.be.greaterThan(length);
      });
    }

    const inner: [string, object][] = [
      ['to itself', { target: 'c' }],
      ['to itself, reentered', { target: 'c', reenter: true }],
      ['to the one beside it', { target: 'd' }],
      ['to the one beside it, reentered', { target: 'd', reenter: true }],
      ['to the one around it', { target: '#b' }],
      ['to the one around it, reentered', { target: '#b', reenter: true }],
      ['to the one around that', { target: '#a' }],
      ['to a state elsewhere', { target: '#e' }],
      ['to the root', { target: '#m' }],
      ['to the root, reentered', { target: '#m', reenter: true }],
    ];
    for (const [name, transition] of inner) {
      it(`of a nested state: ${name}`, () => {
        const machine = deep({}, { on: { go: { ...transition, actions: note('go') } } });
        expect(notesOf(drive(machine, ['go', 'go']))).to.include('go go');
      });
    }

    const around: [string, object][] = [
      ['to itself', { target: '#a' }],
      ['to itself, reentered', { target: '#a', reenter: true }],
      ['to its first state', { target: '.b' }],
      ['to its first state, reentered', { target: '.b', reenter: true }],
      ['to another', { target: '.e' }],
      ['to one beside it', { target: 'f' }],
    ];
    for (const [name, transition] of around) {
      it(`of a parent state: ${name}`, () => {
        const machine = made({
          ...noted('m'),
          initial: 'a',
          states: {
            a: noted('a', {
              id: 'a',
              initial: { target: 'b', actions: note('into b') },
              on: { go: { ...transition, actions: note('go') } },
              states: { b: noted('b', { on: { other: 'e' } }), e: noted('e') },
            }),
            f: noted('f'),
          },
        });
        expect(notesOf(drive(machine, ['go', 'other', 'go']))).to.include('go go');
      });
    }

    it('transition of an inner state wins over outer ones, unless its guard says no', () => {
      const machine = made({
        initial: 'a',
        on: { go: { actions: note('outer') }, stop: { actions: note('outer') } },
        states: { a: { on: { go: [{ guard: 'isEven', actions: [note('inner'), 'count'] }], stop: {} } } },
      });
      expect(notesOf(drive(machine, ['go', 'go', 'stop']))).to.deep.equal(['inner go', 'outer go']);
    });

    it('first transition whose guard agrees is taken', () => {
      const machine = made({
        on: {
          go: [
            { guard: { type: 'isAtLeast', params: 2 }, actions: note('third') },
            { guard: ({ context }) => context.count === 1, actions: [note('second'), 'count'] },
            { actions: [note('first'), 'count'] },
          ],
        },
      });
      expect(notesOf(drive(machine, ['go', 'go', 'go']))).to.deep.equal(['first go', 'second go', 'third go']);
    });

    it('wildcards: exact first, then longest, then any; inner states before outer ones', () => {
      const to = (name: string) => ({
        guard: { type: 'isAtLeast' as const, params: name.length },
        actions: note(name),
      });
      const machine = made({
        initial: 'a',
        on: { '*': { actions: note('outer any') }, 'a.b.c.d': { actions: note('outer exact') } },
        states: {
          a: {
            on: {
              '*': to('5 any'),
              'a.*': to('a 4'),
              'a.b.*': { actions: note('a.b') },
              'a.*.c': { actions: note('never') },
              'a.*.*': { actions: note('never') },
              'a.b': { guard: 'isEven', actions: [note('exact'), 'count'] },
            },
          },
        },
      });
      const types = ['a.b', 'a.b', 'a.b.c', 'a.b.c.d', 'a', 'a.x.c', 'a.*.b', 'b', 'ab', ''];
      expect(notesOf(drive(machine, types)).slice(0, 4)).to.deep.equal([
        'exact a.b',
        'a.b a.b',
        'a.b a.b.c',
        'a.b a.b.c.d',
      ]);
      expect(notesOf(drive(machine, types, { input: { count: 10 } }))).to.include.members([
        'a 4 a',
        '5 any b',
        '5 any ab',
      ]);
    });

    it('ends of invokes and timers are ordinary events; an unhandled error is thrown', () => {
      const machine = made({
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'work',
              src: 'work',
              input: ({ context }) => ({ count: context.count }),
              onDone: 'b',
              onError: 'c',
            },
            after: { 100: { target: 'c', actions: 'count' }, long: 'b', byCount: { guard: 'isEven', target: 'c' } },
          },
          b: { entry: 'count', always: { guard: { type: 'isAtLeast', params: 2 }, target: 'c' }, on: { back: 'a' } },
          c: { on: { back: { target: 'a', actions: 'count' } } },
        },
      });
      const done = 'xstate.done.actor.work';
      const failed = 'xstate.error.actor.work';
      const events = [
        done,
        'back',
        failed,
        'back',
        'xstate.after.100.m.a',
        'back',
        'xstate.after.byCount.m.a',
        'xstate.after.long.m.a',
        { type: failed, error: new Error('lost') },
      ];
      drive(machine, events, { thrown: [8] });
    });
  });

  describe('always-transitions', () => {
    it('are taken until nothing changes, inner states before outer ones', () => {
      const machine = made({
        always: { guard: { type: 'isAtLeast', params: 5 }, target: '.b', actions: ['reset', note('outer')] },
        initial: 'a',
        states: {
          a: {
            on: { go: { actions: 'count' } },
            always: { guard: ({ context }) => context.count > 0 && context.count < 5, actions: 'count' },
          },
          b: {},
        },
      });
      expect(drive(machine, ['go', 'go']).value).to.equal('b');
    });

    it('are checked again only after a change, and after each raised event', () => {
      const machine = made({
        initial: 'a',
        states: {
          a: {
            on: { go: { actions: [raise({ type: 'one' }), raise({ type: 'two' })] }, one: { actions: 'count' } },
            always: [
              { guard: ({ event }) => event.type === 'two', actions: raise({ type: 'three' }) },
              { guard: ({ event }) => event.type === 'three', target: 'b' },
              { guard: 'isEven', actions: emit({ type: 'even' }) },
            ],
          },
          b: {},
        },
      });
      expect(drive(machine, ['go']).value).to.equal('b');
    });

    it('come before raised events, and see the event that led to them', () => {
      const machine = made({
        initial: 'a',
        states: {
          a: { on: { go: { target: 'b', actions: raise({ type: 'raised' }) } } },
          b: { always: { target: 'c', actions: note('always') }, on: { raised: { actions: note('too soon') } } },
          c: { on: { raised: { actions: note('raised') } } },
        },
      });
      expect(notesOf(drive(machine, ['go']))).to.deep.equal(['always go', 'raised raised']);
    });

    it('endless loop: thrown', () => {
      const machine = made({ initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: { actions: 'count' } } } });
      drive(machine, ['go'], { thrown: [0] });
      const raising = made({ on: { go: { actions: raise({ type: 'go' }) } } });
      drive(raising, ['go'], { thrown: [0] });
    });
  });
});
