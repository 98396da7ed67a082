/**
 * Scenario that crash tests cut everywhere: a planner orders houses, a builder builds them one after the other in the
 * outside world, a clerk files each and tells the planner. Uses messages, effects, retries, timers, broadcasts and
 * answers.
 */
import { assign, emit, setup } from 'xstate';
import { hostActions, type Stamped, unbound } from '../../machines/kit/host.js';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';

export const plannerAddress = 'planner/p';
export const builderAddress = 'builder/b';
export const clerkAddress = 'clerk/c';
export const siteTopic = 'site';

const plannerMachine = setup({
  types: {} as {
    context: { ordered: string[]; built: string[]; filed: string[] };
    events: { type: 'order' | 'built' | 'filed'; id: string } & Stamped;
    emitted: { type: 'ordered' | 'filed'; id: string };
  },
  actions: {
    ...hostActions,
    order: assign(({ context }, id: string) => ({ ordered: [...context.ordered, id] })),
    keepBuilt: assign(({ context }, id: string) => ({ built: [...context.built, id] })),
    keepFiled: assign(({ context }, id: string) => ({ filed: [...context.filed, id] })),
    tellOrdered: emit((_, id: string) => ({ type: 'ordered' as const, id })),
    tellFiled: emit((_, id: string) => ({ type: 'filed' as const, id })),
  },
}).createMachine({
  id: 'planner',
  context: { ordered: [], built: [], filed: [] },
  on: {
    order: {
      actions: [
        { type: 'order', params: ({ event }) => event.id },
        { type: 'tellOrdered', params: ({ event }) => event.id },
        {
          type: 'messages',
          params: ({ event }) => [
            { to: builderAddress, input: {} },
            { to: builderAddress, event: { type: 'build', id: event.id } },
          ],
        },
        { type: 'answer', params: ({ context }) => ({ value: context.ordered.length }) },
      ],
    },
    built: { actions: { type: 'keepBuilt', params: ({ event }) => event.id } },
    filed: {
      actions: [
        { type: 'keepFiled', params: ({ event }) => event.id },
        { type: 'tellFiled', params: ({ event }) => event.id },
      ],
    },
  },
});

const builderMachine = setup({
  types: {} as {
    context: { waiting: string[]; attempt: number };
    events: { type: 'build'; id: string } & Stamped;
    emitted: { type: 'built'; id: string };
  },
  actors: { construct: unbound<string, { id: string; attempt: number }>() },
  guards: { hasWork: ({ context }) => context.waiting.length > 0 },
  actions: {
    ...hostActions,
    queue: assign(({ context }, id: string) => ({ waiting: [...context.waiting, id] })),
    next: assign(({ context }) => ({ waiting: context.waiting.slice(1), attempt: 1 })),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    tellBuilt: emit((_, id: string) => ({ type: 'built' as const, id })),
  },
  delays: { backoff: ({ event }) => 50 + Math.floor(event.random * 100) },
}).createMachine({
  id: 'builder',
  context: { waiting: [], attempt: 1 },
  initial: 'idle',
  on: { build: { actions: { type: 'queue', params: ({ event }) => event.id } } },
  states: {
    idle: { always: { guard: 'hasWork', target: 'building' } },
    building: {
      invoke: {
        id: 'construct',
        src: 'construct',
        input: ({ context }) => ({ id: context.waiting[0] ?? '', attempt: context.attempt }),
        onDone: {
          target: 'resting',
          actions: [
            { type: 'tellBuilt', params: ({ event }) => event.output },
            {
              type: 'messages',
              params: ({ event }) => [
                { to: plannerAddress, event: { type: 'built', id: event.output } },
                { to: clerkAddress, event: { type: 'file', id: event.output } },
              ],
            },
            'next',
          ],
        },
        onError: { target: 'backingOff', actions: 'countAttempt' },
      },
    },
    backingOff: { after: { backoff: 'building' } },
    resting: { after: { 300: 'idle' } },
  },
});

const clerkMachine = setup({
  types: {} as {
    context: { files: string[] };
    events: { type: 'file'; id: string } & Stamped;
    emitted: { type: 'filing'; id: string };
  },
  actions: {
    ...hostActions,
    file: assign(({ context }, id: string) => ({ files: [...context.files, id] })),
    tellFiling: emit((_, id: string) => ({ type: 'filing' as const, id })),
  },
}).createMachine({
  id: 'clerk',
  context: { files: [] },
  on: {
    file: {
      actions: [
        { type: 'file', params: ({ event }) => event.id },
        { type: 'tellFiling', params: ({ event }) => event.id },
        { type: 'messages', params: ({ event }) => [{ to: plannerAddress, event: { type: 'filed', id: event.id } }] },
      ],
    },
  },
});

const topic = (): string => siteTopic;

/** @param construct returns the id of the house that was built */
export const siteKinds = (construct: Effect): ActorKind[] => [
  { machine: plannerMachine, effects: {}, begin: () => ({}), topic },
  { machine: builderMachine, effects: { construct }, topic },
  { machine: clerkMachine, effects: {}, begin: () => ({}), topic },
];
