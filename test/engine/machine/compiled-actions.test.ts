/** Compiled actions and guards give the same steps as XState; unsupported ones are left to XState. */
import { expect } from 'chai';
import {
  type AnyEventObject,
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  log,
  not,
  or,
  raise,
  sendTo,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { base, type Config, drive, made, type Noted, note, notesOf } from '../noting.js';
import { Rivals } from '../rivals.js';

describe('compiled actions and guards', () => {
  describe('actions', () => {
    it('run in order: exit, transition, entry; each sees the context that the one before has left', () => {
      const machine = made({
        initial: 'a',
        states: {
          a: {
            exit: ['count', { type: 'tell', params: 'leaving' }],
            on: { go: { target: 'b', actions: ['count', { type: 'tell', params: 'going' }] } },
          },
          b: { entry: ['count', { type: 'tell', params: 'entering' }], exit: 'reset', on: { go: 'a' } },
        },
      });
      expect(drive(machine, ['go', 'go']).context.count).to.equal(0);
    });

    it('assignments: of properties, by a function, with static or dynamic parameters; of new properties', () => {
      const machine = made({
        on: {
          one: {
            actions: [
              'count',
              'reset',
              { type: 'note', params: ({ context, event }) => `${context.count} ${event.type}` },
            ],
          },
          two: { actions: assign(({ context, event }) => ({ count: context.count + Number(event.by) })) },
          three: { actions: assign(({ event }) => ({ count: 7, extra: event.by })) },
          four: { actions: assign({}) },
        },
      });
      const { context } = drive(machine, ['one', { type: 'two', by: 4 }, { type: 'three', by: 'x' }, 'four', 'none']);
      expect(context).to.include({ count: 7, extra: 'x' });
    });

    it('raised events are handled in order, with the content at the time of the raise', () => {
      const machine = made({
        on: {
          go: {
            actions: [
              raise(({ context }) => ({ type: 'one', count: context.count })),
              'count',
              raise(({ context }) => ({ type: 'two', count: context.count })),
            ],
          },
          one: { actions: [raise({ type: 'three' }), { type: 'note', params: ({ event }) => String(event.count) }] },
          two: { actions: { type: 'note', params: ({ event }) => String(event.count) } },
          three: { actions: note('last') },
        },
      });
      expect(notesOf(drive(machine, ['go']))).to.deep.equal(['0 one', '1 two', 'last three']);
    });

    it('delayed events: by number, name or function, with or without id; cancelled by id or function', () => {
      const machine = made({
        on: {
          go: {
            actions: [
              raise({ type: 'later' }, { delay: 100, id: 'one' }),
              raise({ type: 'later' }, { delay: 0 }),
              raise(({ context }) => ({ type: 'later', count: context.count }), { delay: 'byCount' }),
              raise({ type: 'later' }, { delay: 'long' }),
              raise({ type: 'later' }, { delay: ({ context }) => context.count + 1, id: 'two' }),
              raise({ type: 'now' }, { delay: 'unset' }),
              cancel('one'),
              cancel(({ context }) => `two${context.count}`),
            ],
          },
          now: { actions: 'count' },
        },
      }).provide({}); // has delays of its own
      Reflect.deleteProperty(machine.implementations.delays, 'unset');
      expect(drive(machine, ['go', 'go']).context.count).to.equal(2);
    });

    it('actions for the host: by name, with or without parameters, known to the machine or not', () => {
      const machine = made({
        on: {
          go: {
            actions: [
              { type: 'answer', params: ({ context }) => ({ value: context.count }) },
              'count',
              {
                type: 'messages',
                params: ({ context, event }) => [
                  { to: 'x', event: { type: 'y', was: event.type, count: context.count } },
                ],
              },
              emit({ type: 'static' }),
            ],
          },
        },
      });
      drive(machine, ['go']);
    });

    it('actions that no host knows are requested by name too: functions, and missing actions', () => {
      const actions = ['unheardOf', { type: 'unheardOf', params: 1 }, function inline() {}, () => {}];
      drive(createMachine({ on: { go: { actions } } }), ['go']);
    });

    it('enqueued actions run in order if all are known; guards are checked at once', () => {
      const machine = base.createMachine({
        id: 'm',
        context: { notes: [], count: 1 },
        initial: 'a',
        states: {
          a: {
            on: {
              go: {
                target: 'b',
                actions: enqueueActions(({ context, enqueue, check }) => {
                  enqueue.assign({ count: context.count + 1, notes: ({ context: { notes } }) => [...notes, 'first'] });
                  enqueue('count');
                  enqueue({ type: 'note', params: ({ context: { count } }) => `${count}` });
                  enqueue.assign(({ context: { count } }) => ({ count: count * 10 }));
                  enqueue.raise({ type: 'raised' });
                  enqueue.raise({ type: 'later' }, { delay: 10, id: 'later' });
                  enqueue.cancel('other');
                  enqueue.emit({ type: 'told' });
                  if (check('isEven')) enqueue('fail');
                  if (check({ type: 'isAtLeast', params: 2 })) enqueue('fail');
                  if (check(and(['isEven', not('isEven')]))) enqueue('fail');
                  if (check(stateIn('a'))) enqueue({ type: 'note', params: 'still in a' });
                  enqueue(
                    enqueueActions(({ enqueue: again, context: { count } }) => {
                      again.emit({ type: `nested ${count}` });
                    }),
                  );
                }),
              },
            },
          },
          b: { on: { raised: { actions: { type: 'note', params: 'raised' } }, again: 'a' } },
        },
      });
      expect(drive(machine, ['go', 'again']).context.notes.slice(0, 4)).to.deep.equal([
        'first',
        '3 go',
        'still in a go',
        'raised raised',
      ]);
    });
  });

  describe('guards', () => {
    it('by name, with dynamic or static parameters, negated, combined, and by state', () => {
      const isGiven = {
        type: 'isGiven' as const,
        params: ({ event }: { event: AnyEventObject }) => event.yes === true,
      };
      const atLeastTwo = { type: 'isAtLeast' as const, params: 2 };
      const machine = made({
        initial: 'a',
        on: {
          one: [
            { guard: isGiven, actions: note('given') },
            { guard: 'isEven', actions: note('even') },
          ],
          two: [
            { guard: not('isEven'), actions: note('odd') },
            { guard: and(['isEven', atLeastTwo]), actions: note('even') },
            { guard: or(['isEven', stateIn('b')]), actions: note('either') },
          ],
          three: [
            { guard: 'isEvenAndSettled', actions: note('both') },
            { guard: 'isSettled', actions: note('settled') },
            { guard: stateIn('#m.a'), actions: note('by id') },
          ],
          count: { actions: 'count' },
        },
        states: { a: { on: { settle: 'settled' } }, settled: {} },
      });
      const types = [
        'one',
        { type: 'one', yes: true },
        'two',
        'three',
        'count',
        'two',
        'count',
        'two',
        'three',
        'settle',
        'three',
        'count',
        'three',
      ];
      expect(notesOf(drive(machine, types))).to.deep.equal([
        ...[
          'even one',
          'given one',
          'either two',
          'by id three',
          'odd two',
          'even two',
          'by id three',
          'both three',
          'settled three',
        ],
      ]);
    });

    it('by state, as an actor begins: XState shows the first states to the guard', () => {
      const machine = createMachine({
        id: 'm',
        context: { byName: false, byId: false },
        initial: 'a',
        states: {
          a: {
            entry: enqueueActions(({ enqueue, check }) => {
              enqueue.assign({ byName: check(stateIn('a')), byId: check(stateIn('#m.a')) });
            }),
          },
        },
      });
      expect(drive(machine, []).context).to.deep.equal({ byName: true, byId: false });
    });
  });

  describe('left to XState', () => {
    const on = (actions: NonNullable<Config['entry']>): AnyStateMachine =>
      made({ on: { go: { actions }, other: { actions: note('other') } } });
    /** Types the actions as if nothing were known of their machine. */
    const loosely = (actions: NonNullable<Parameters<typeof createMachine>[0]['entry']>): AnyStateMachine =>
      createMachine({ on: { go: { actions }, other: { actions: assign({ seen: true }) } } });

    it('errors of guards, assignments and parameters, so that XState words them', () => {
      drive(on('fail'), ['go', 'other'], { thrown: [0] });
      drive(made({ on: { go: { guard: 'isBroken', actions: 'count' } } }), ['go'], { thrown: [0] });
      drive(made({ initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: { guard: 'isBroken' } } } }), ['go'], {
        thrown: [0],
      });
      const params = (): string => {
        throw new Error('can not say');
      };
      drive(on({ type: 'note', params }), ['go'], { thrown: [0] });
      drive(loosely(raise(({ event }) => event.none)), ['go'], { thrown: [0] });
      expect(new Rivals(made({ entry: 'fail' })).begin({})).to.deep.include({ isPlanned: false });
    });

    it('missing guards', () => {
      drive(createMachine({ on: { go: { guard: 'unheardOf', actions: 'any' } } }), ['go'], { thrown: [0] });
    });

    it('unsupported actions, enqueued or not', () => {
      drive(loosely(log('hello')), ['go', 'other'], { unplanned: [0] });
      drive(loosely(sendTo(({ self }) => self, { type: 'other' })), ['go', 'other'], { unplanned: [0] });
      drive(loosely(spawnChild('work', { id: 'one' })), ['go', 'other'], { unplanned: [0] });
      drive(loosely(stopChild('one')), ['go', 'other'], { unplanned: [0] });
      const enqueued = loosely(
        enqueueActions(({ enqueue, event, self }) => {
          if (event.what === 'sendTo') enqueue.sendTo(self, { type: 'other' });
          if (event.what === 'stop') enqueue.stopChild('one');
        }),
      );
      const go = (what: string): AnyEventObject => ({ type: 'go', what });
      drive(enqueued, [go('sendTo'), 'other', go('stop'), go('nothing')], { unplanned: [0, 2] });
    });

    it('action that exists by name, but is no function', () => {
      const machine = createMachine({ on: { go: { actions: 'alias' } } });
      drive(machine.provide({ actions: JSON.parse('{ "alias": "answer" }') }), ['go'], { thrown: [0] });
    });

    it('children spawned by an assignment', () => {
      const spawning = assign(({ spawn }) => {
        spawn(createMachine({}));
        return {};
      });
      drive(loosely(spawning), ['go', 'other'], { unplanned: [0] });
    });

    it('final states, of the machine or of a parent state that reports it', () => {
      const machine = made({
        initial: 'a',
        output: ({ context }: { context: Noted }) => context.count,
        states: {
          a: {
            initial: 'b',
            onDone: { target: 'c', actions: note('done') },
            states: { b: { on: { go: 'end' } }, end: { type: 'final' } },
          },
          c: { exit: note('out'), on: { go: 'end' } },
          end: { type: 'final', entry: 'count' },
        },
      });
      const { status, output } = drive(machine, ['other', 'go', 'other', 'go', 'other'], { unplanned: [1, 3, 4] });
      expect({ status, output }).to.deep.equal({ status: 'done', output: 1 });
      drive(made({ initial: 'end', states: { end: { type: 'final' } } }), [], { unplanned: [-1] });
    });

    it('parallel states; the states beside them are compiled', () => {
      const region = { initial: 'x', states: { x: { on: { step: 'y' } }, y: {} } };
      const machine = made({
        initial: 'a',
        states: {
          a: { on: { go: 'both', one: 'single', 'go on': '#deep' } },
          both: {
            type: 'parallel',
            on: { back: 'a' },
            states: { one: region, two: { ...region, states: { ...region.states, z: { id: 'deep' } } } },
          },
          single: { type: 'parallel', on: { back: 'a' }, states: { one: region } },
        },
      });
      drive(machine, ['none', 'go', 'step', 'back', 'none', 'one', 'step', 'back', 'go on', 'step', 'back', 'none'], {
        unplanned: [1, 2, 3, 5, 6, 7, 8, 9, 10],
      });
    });

    it('several targets at once, where XState allows states that exclude each other', () => {
      const machine = made({
        initial: 'a',
        states: { a: { on: { go: { target: ['b', 'c'] } } }, b: { on: { back: 'a' } }, c: { on: { back: 'a' } } },
      });
      drive(machine, ['go', 'back', 'none'], { unplanned: [0, 1] });
    });

    it('machines with history, which each of their snapshots keeps', () => {
      const machine = made({
        initial: 'a',
        on: { count: { actions: 'count' } },
        states: {
          a: { initial: 'b', on: { out: 'd' }, states: { b: { on: { go: 'c' } }, c: {}, last: { type: 'history' } } },
          d: { on: { back: 'a.last' } },
        },
      });
      const all = { unplanned: [-1, 0, 1, 2, 3] };
      expect(drive(machine, ['go', 'out', 'count', 'back'], all).value).to.deep.equal({ a: 'c' });
    });

    it("XState's own events, and an event without type", () => {
      const machine = made({ initial: 'a', states: { a: { on: { '*': 'b' } }, b: {} } });
      drive(machine, ['xstate.init'], { unplanned: [0] });
      drive(machine, [{ type: 'xstate.error.actor.work', error: new Error('lost') }]);
      drive(machine, ['b', { type: 'xstate.error.actor.work', error: new Error('lost') }], { thrown: [1] });
      const raising = made({
        initial: 'a',
        states: { a: { on: { go: { actions: raise(({ event }) => event.raised) }, '*': 'b' } }, b: {} },
      });
      drive(raising, [{ type: 'go', raised: {} }], { unplanned: [0] });
    });
  });
});
