/** The machines that the engine is measured with. */
import { assign, setup } from 'xstate';
import { type Stamped, unboundLoop } from '../../dist/machines/kit/host.js';

/** Two states, a guard and an assignment: the least that a machine does. */
export const plain = setup({
  types: {} as { context: { count: number }; events: { type: 'next' } & Stamped },
  guards: { isBelow: ({ context }) => context.count < 1_000_000_000 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
}).createMachine({
  id: 'plain',
  version: '1',
  context: { count: 0 },
  initial: 'even',
  states: {
    even: { on: { next: { guard: 'isBelow', target: 'odd', actions: 'count' } } },
    odd: { on: { next: { guard: 'isBelow', target: 'even', actions: 'count' } } },
  },
});

/** The same with an effect and a timer in each state: every step starts one of each and ends the one before. */
export const busy = setup({
  types: {} as { context: { count: number }; events: { type: 'next' } & Stamped },
  actors: { work: unboundLoop<{ type: 'next' }, { count: number }>() },
  guards: { isBelow: ({ context }) => context.count < 1_000_000_000 },
  actions: { count: assign(({ context }) => ({ count: context.count + 1 })) },
}).createMachine({
  id: 'busy',
  version: '1',
  context: { count: 0 },
  initial: 'even',
  states: {
    even: {
      invoke: { id: 'evenWork', src: 'work', input: ({ context }) => ({ count: context.count }) },
      after: { 3600000: 'odd' },
      on: { next: { guard: 'isBelow', target: 'odd', actions: 'count' } },
    },
    odd: {
      invoke: { id: 'oddWork', src: 'work', input: ({ context }) => ({ count: context.count }) },
      after: { 3600000: 'even' },
      on: { next: { guard: 'isBelow', target: 'even', actions: 'count' } },
    },
  },
});
