/**
 * Actor that throws on request: it notes, naps as long as asked, works, and listens. Also throws on an unbearable note
 * or result, and when its loop throws.
 */
import { type AnyEventObject, assign, setup } from 'xstate';
import { type Failure, failureIn, hostActions, type Stamped, unbound, unboundLoop } from '../../machines/kit/host.js';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';

export interface FragileContext {
  notes: string[];
  results: (string | Failure)[];
  naps: number;
}

type FragileEvent = (
  | { type: 'break' }
  | { type: 'note'; text: string }
  | { type: 'read' }
  | { type: 'nap'; ms: number }
  | { type: 'work' }
  | { type: 'listen' }
  | { type: 'rest' }
  | { type: 'end' }
) &
  Stamped;

/** Text that makes the actor throw, as a note or a result. */
export const unbearable = 'unbearable';

const borne = <T>(what: T): T => {
  if (what === unbearable) throw new Error('it broke');
  return what;
};

const fragileMachine = setup({
  types: {} as { context: FragileContext; events: FragileEvent },
  actors: { work: unbound<string, object>(), listen: unboundLoop<AnyEventObject, object>() },
  actions: {
    ...hostActions,
    note: assign(({ context }, text: string) => ({ notes: [...context.notes, borne(text)] })),
    keep: assign(({ context }, result: string | Failure) => ({ results: [...context.results, borne(result)] })),
    wake: assign(({ context }) => ({ naps: context.naps + 1 })),
    throwUp: assign(() => {
      throw new Error('it broke');
    }),
  },
  delays: { nap: ({ event }) => (event.type === 'nap' ? event.ms : 60_000) },
}).createMachine({
  id: 'fragile',
  version: '1',
  context: { notes: [], results: [], naps: 0 },
  initial: 'idle',
  on: {
    break: { actions: 'throwUp' },
    note: { actions: { type: 'note', params: ({ event }) => event.text } },
    read: { actions: { type: 'answer', params: ({ context }) => ({ value: context }) } },
    nap: '.napping',
    work: '.working',
    listen: '.listening',
    rest: '.idle',
    end: '.ended',
  },
  states: {
    idle: {},
    napping: { after: { nap: { target: 'idle', actions: 'wake' } } },
    working: {
      invoke: {
        id: 'work',
        src: 'work',
        input: {},
        onDone: { target: 'idle', actions: { type: 'keep', params: ({ event }) => event.output } },
        onError: { target: 'idle', actions: { type: 'keep', params: ({ event }) => failureIn(event) } },
      },
    },
    listening: { invoke: { id: 'listen', src: 'listen', input: {} } },
    ended: { type: 'final' },
  },
});

export const fragileKind = (effects: Record<string, Effect> = {}): ActorKind => ({
  machine: fragileMachine,
  effects,
  begin: () => ({}),
});

export const breakDown: AnyEventObject = { type: 'break' };
export const nap = (ms: number): AnyEventObject => ({ type: 'nap', ms });
