/**
 * Machine with everything that is hard to store: parallel regions, shallow and deep history, always, after, invokes.
 */
import { assign, createMachine, emit, setup } from 'xstate';
import { hostActions, type Stamped, unbound } from '../../machines/kit/host.js';

interface MazeContext {
  /** Trail of actions, in order: shows which of two regions went first. */
  trail: string[];
  heat: number;
}

const moves = ['a', 'b', 'c', 'd', 'heat', 'cool', 'out', 'shallow', 'deep', 'reenter', 'swap', 'ask'] as const;

type MazeMove = (typeof moves)[number];

export const mazeMoves: readonly MazeMove[] = moves;

export const mazeMachine = setup({
  types: {} as { context: MazeContext; events: { type: MazeMove } & Stamped },
  actors: { dig: unbound<void, { depth: number }>() },
  guards: { isHot: ({ context }) => context.heat > 1, isCold: ({ context }) => context.heat < 1 },
  actions: {
    ...hostActions,
    mark: assign(({ context }, place: string) => ({ trail: [...context.trail.slice(-9), place] })),
    heat: assign(({ context }) => ({ heat: context.heat + 1 })),
    cool: assign({ heat: 0 }),
    tell: emit(({ context }) => ({ type: 'trail', trail: context.trail })),
  },
}).createMachine({
  id: 'maze',
  version: '1',
  context: { trail: [], heat: 0 },
  initial: 'inside',
  on: {
    heat: { actions: 'heat' },
    cool: { actions: 'cool' },
    ask: { actions: ['tell', { type: 'answer', params: ({ context }) => ({ value: context.trail }) }] },
  },
  states: {
    outside: { on: { shallow: 'inside.shallow', deep: 'inside.deep', a: 'inside' } },
    inside: {
      type: 'parallel',
      on: { out: 'outside', reenter: { target: 'inside', reenter: true } },
      states: {
        north: {
          initial: 'one',
          on: { swap: { target: 'north', reenter: true } },
          states: {
            one: { on: { a: 'two' }, invoke: { id: 'digNorth', src: 'dig', input: { depth: 1 } } },
            two: {
              initial: 'left',
              on: { b: 'one', d: 'two.back' },
              states: {
                left: { on: { c: 'right' }, after: { 100: 'right' } },
                right: {
                  always: { guard: 'isHot', target: 'left', actions: [{ type: 'mark', params: 'north' }, 'cool'] },
                },
                back: { type: 'history', target: 'right' },
              },
            },
          },
        },
        south: {
          initial: 'one',
          states: {
            one: {
              on: { b: 'two' },
              always: { guard: 'isHot', target: 'two', actions: { type: 'mark', params: 'south' } },
            },
            two: { on: { c: 'one' }, entry: { type: 'mark', params: 'south two' }, after: { 200: 'one' } },
          },
        },
        west: {
          initial: 'one',
          states: {
            one: { always: { guard: 'isHot', target: 'two', actions: { type: 'mark', params: 'west' } } },
            two: {
              always: { guard: 'isCold', target: 'one', actions: { type: 'mark', params: 'west' } },
              invoke: { id: 'digWest', src: 'dig', input: ({ context }) => ({ depth: context.heat }) },
              on: { d: { target: 'two', reenter: true } },
            },
          },
        },
        shallow: { type: 'history' },
        deep: { type: 'history', history: 'deep' },
      },
    },
  },
});

/** The same machine with one state renamed. */
export const rebuiltMaze = createMachine({
  id: 'maze',
  version: '1',
  initial: 'outside',
  states: { outside: {}, inside: { initial: 'hall', states: { hall: {}, last: { type: 'history' } } } },
});
