/** Machine in three versions with their migrations: a note becomes a list; states come, go and change. */
import { type AnyStateMachine, assign, raise, setup } from 'xstate';
import { hostActions, unbound } from '../../machines/kit/host.js';
import type { ActorKind, Effect, Migration } from '../../src/engine/effects/effects.js';
import type { PersistedSnapshot } from '../../src/engine/machine/hosted-machine.js';

interface Context {
  list: string[];
  rings: number;
}

type Event =
  | { type: 'note'; text: string }
  | { type: 'nap' | 'work' | 'alarm' | 'ring' | 'break' | 'end'; random?: number }
  | { type: 'xstate.done.actor.work' | 'xstate.done.actor.paint'; output: string };

const kit = setup({
  types: {} as { context: Context; events: Event },
  actors: { work: unbound<string, object>(), paint: unbound<string, object>() },
  actions: {
    ...hostActions,
    note: assign(({ context }, text: string) => ({ list: [...context.list, text] })),
    count: assign(({ context }) => ({ rings: context.rings + 1 })),
    ringSoon: raise({ type: 'ring' }, { delay: 500_000 }),
    ringLater: raise({ type: 'ring' }, { id: 'bell', delay: 600_000 }),
    throwUp: assign(() => {
      throw new Error('it broke');
    }),
  },
  delays: {
    nap: 1_000,
    long: () => 3_000,
    ofContext: ({ context }) => 4_000 + context.rings,
    ofRandom: ({ event }) => Math.round(1_000 * (1 + ('random' in event ? (event.random ?? 0) : 0))),
    never: () => Number.NaN,
  },
});

const always = {
  note: { actions: { type: 'note' as const, params: ({ event }: { event: { text: string } }) => event.text } },
  alarm: { actions: ['ringSoon' as const, 'ringLater' as const] },
  ring: { actions: 'count' as const },
  break: { actions: 'throwUp' as const },
  end: '.ended',
  work: '.working',
  nap: '.napping',
};

const keep = { type: 'note' as const, params: ({ event }: { event: { output: string } }) => event.output };
const work = { id: 'work', src: 'work' as const, input: {} };
const paint = { id: 'paint', src: 'paint' as const, input: {} };

const v2 = kit.createMachine({
  id: 'house',
  version: '2',
  context: { list: [], rings: 0 },
  initial: 'idle',
  on: always,
  states: {
    idle: {},
    napping: { after: { nap: { target: 'idle', actions: 'count' } } },
    working: { invoke: { ...work, onDone: { target: 'idle', actions: keep } } },
    painting: { invoke: { ...paint, id: 'work', onDone: { target: 'idle', actions: keep } } },
    static: { after: { 2000: { target: 'idle', actions: 'count' } } },
    named: { after: { long: { target: 'idle', actions: 'count' } } },
    ofContext: { after: { ofContext: { target: 'idle', actions: 'count' } } },
    ofRandom: { after: { ofRandom: { target: 'idle', actions: 'count' } } },
    ended: { type: 'final' },
  },
});

/** Only version 1 keeps its notes in one text; all else is as in version 2. */
const v1 = setup({
  types: {} as { context: { notes: string; rings: number }; events: Event },
  actors: { work: unbound<string, object>() },
  actions: {
    ...hostActions,
    note: assign(({ context }, text: string) => ({ notes: context.notes === '' ? text : `${context.notes},${text}` })),
    ringSoon: raise({ type: 'ring' }, { delay: 500_000 }),
    ringLater: raise({ type: 'ring' }, { id: 'bell', delay: 600_000 }),
    throwUp: assign(() => {
      throw new Error('it broke');
    }),
  },
  delays: { nap: 1_000 },
}).createMachine({
  id: 'house',
  version: '1',
  context: { notes: '', rings: 0 },
  initial: 'idle',
  on: {
    note: { actions: { type: 'note', params: ({ event }) => event.text } },
    alarm: { actions: ['ringSoon', 'ringLater'] },
    break: { actions: 'throwUp' },
    end: '.ended',
    work: '.working',
    nap: '.napping',
  },
  states: {
    idle: {},
    napping: { after: { nap: 'idle' } },
    working: { invoke: { ...work, onDone: 'idle' } },
    ended: { type: 'final' },
  },
});

const v3 = kit.createMachine({
  id: 'house',
  version: '3',
  context: { list: [], rings: 0 },
  initial: 'free',
  on: always,
  states: {
    free: {},
    napping: { after: { nap: 'free' } },
    working: {
      invoke: [
        { ...work, onDone: { actions: keep } },
        { ...paint, onDone: { actions: keep } },
      ],
      initial: 'whole',
      states: { whole: {} },
    },
    lost: { after: { never: 'free' } },
    ended: { type: 'final' },
  },
});

const machines: Record<'1' | '2' | '3', AnyStateMachine> = { 1: v1, 2: v2, 3: v3 };

export const houseKind = (
  version: '1' | '2' | '3',
  effects: Record<string, Effect>,
  migrations: Migration[],
): ActorKind => ({ machine: machines[version], effects, begin: () => ({}), migrations });

const listed = ({ context, value }: PersistedSnapshot): PersistedSnapshot => {
  const { notes = '', rings = 0 }: { notes?: string; rings?: number } = context;
  return { value, context: { list: notes === '' ? [] : notes.split(','), rings } };
};

export const toV2: Migration = { name: 'notes are a list', from: '1', to: '2', migrate: listed };

const inV3: Record<string, PersistedSnapshot['value']> = { idle: 'free', working: { working: 'whole' } };

export const toV3: Migration = {
  name: 'idle is called free',
  from: '2',
  to: '3',
  migrate: ({ value, context }) => ({ value: inV3[String(value)] ?? value, context }),
};

/** Returns the migration with a fixed resulting state. */
export const renamed = (migration: Migration, value: string): Migration => ({
  ...migration,
  migrate: (snapshot) => ({ ...migration.migrate(snapshot), value }),
});
