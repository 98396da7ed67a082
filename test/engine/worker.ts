/** Actor with effects and timers: it works on a job, listens in a loop, naps, and can be called away from each. */
import { type AnyEventObject, assign, setup } from 'xstate';
import { type Failure, failureIn, hostActions, type Stamped, unbound, unboundLoop } from '../../machines/kit/host.js';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';

type Result = string | number | Failure | null;

export interface WorkerContext {
  results: Result[];
  naps: number;
}

type WorkerEvent = (
  | { type: 'work'; job: string; careless?: boolean }
  | { type: 'listen' }
  | { type: 'heard'; text: string }
  | { type: 'nap' }
  | { type: 'again' }
  | { type: 'leave' }
) &
  Stamped;

export const napMs = 60_000;

const workerMachine = setup({
  types: {} as { context: WorkerContext; events: WorkerEvent },
  actors: {
    work: unbound<string, { job: string }>(),
    listen: unboundLoop<AnyEventObject, object>(),
  },
  guards: { isCareless: ({ event }) => event.type === 'work' && event.careless === true },
  actions: {
    ...hostActions,
    keep: assign(({ context }, result: Result) => ({ results: [...context.results, result] })),
    wake: assign(({ context }) => ({ naps: context.naps + 1 })),
    refuseResult: assign((_, result: Result) => {
      throw new Error(`can't take ${JSON.stringify(result)}`);
    }),
  },
  delays: { nap: napMs },
}).createMachine({
  id: 'worker',
  version: '1',
  context: { results: [], naps: 0 },
  initial: 'idle',
  on: { leave: '.idle' },
  states: {
    idle: {
      on: {
        work: [{ guard: 'isCareless', target: 'careless' }, { target: 'working' }],
        listen: 'listening',
        nap: 'napping',
      },
    },
    working: {
      invoke: {
        id: 'work',
        src: 'work',
        input: ({ event }) => ({ job: event.type === 'work' ? event.job : 'again' }),
        onDone: { target: 'idle', actions: { type: 'keep', params: ({ event }) => event.output ?? null } },
        onError: { target: 'idle', actions: { type: 'keep', params: ({ event }) => failureIn(event) } },
      },
      on: { again: { target: 'working', reenter: true } },
    },
    careless: {
      invoke: {
        id: 'careless',
        src: 'work',
        input: { job: 'careless' },
        onDone: { target: 'idle', actions: { type: 'refuseResult', params: ({ event }) => event.output } },
      },
    },
    listening: {
      invoke: { id: 'listen', src: 'listen', input: {} },
      on: { heard: { actions: { type: 'keep', params: ({ event }) => event.text } } },
    },
    napping: {
      after: { nap: { target: 'idle', actions: 'wake' } },
      on: { again: { target: 'napping', reenter: true } },
    },
  },
});

export const workerKind = (effects: Record<string, Effect>): ActorKind => ({
  machine: workerMachine,
  effects,
  begin: () => ({}),
});
