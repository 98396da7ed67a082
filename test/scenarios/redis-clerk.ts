/**
 * The actor that the scenarios on Redis write with: it notes what it is asked to, tells everybody, passes it on to its
 * till, ticks and works. Each note answers with how many there are, so that one that counts twice is seen.
 */
import { type AnyEventObject, assign, emit, setup } from 'xstate';
import { hostActions, type Stamped, unbound } from '../../machines/kit/host.js';
import type { ActorKind, Effect } from '../../src/engine/effects/effects.js';

export interface ClerkContext {
  address: string;
  notes: string[];
  ticks: number;
  worked: number;
}

type ClerkEvent = (
  | { type: 'add'; note: string }
  | { type: 'tick' }
  | { type: 'work' }
  | { type: 'rest' }
  /** From its clerk, where it is a till. */
  | { type: 'passed'; note: string }
) &
  Stamped;

const tickMs = 40;

const tillOf = (address: string): string => address.replace(/^clerk\//, 'till/');

const noting = [
  { type: 'note', params: ({ event }: { event: { note: string } }) => event.note },
  { type: 'say', params: ({ event }: { event: { note: string } }) => event.note },
] as const;

const clerkMachine = setup({
  types: {} as {
    context: ClerkContext;
    events: ClerkEvent;
    input: { address: string };
    emitted: { type: 'noted'; note: string };
  },
  actors: { work: unbound<void, { worked: number }>() },
  actions: {
    ...hostActions,
    note: assign(({ context }, note: string) => ({ notes: [...context.notes, note] })),
    say: emit((_, note: string) => ({ type: 'noted' as const, note })),
    count: assign(({ context }) => ({ ticks: context.ticks + 1 })),
    countWork: assign(({ context }) => ({ worked: context.worked + 1 })),
  },
  delays: { tick: tickMs },
}).createMachine({
  id: 'clerk',
  version: '1',
  context: ({ input }) => ({ address: input.address, notes: [], ticks: 0, worked: 0 }),
  on: {
    add: {
      actions: [
        ...noting,
        {
          type: 'messages',
          params: ({ context, event }) => [
            { to: tillOf(context.address), event: { type: 'passed', note: event.note } },
          ],
        },
        { type: 'answer', params: ({ context }) => ({ value: context.notes.length }) },
      ],
    },
    tick: '.ticking',
    work: '.working',
    rest: '.resting',
  },
  initial: 'resting',
  states: {
    resting: {},
    ticking: { after: { tick: { target: 'ticking', reenter: true, actions: 'count' } } },
    working: {
      invoke: {
        id: 'work',
        src: 'work',
        input: ({ context }) => ({ worked: context.worked }),
        onDone: { target: 'resting', actions: 'countWork' },
      },
    },
  },
});

const tillMachine = setup({
  types: {} as { context: { notes: string[] }; events: ClerkEvent },
  actions: {
    ...hostActions,
    note: assign(({ context }, note: string) => ({ notes: [...context.notes, note] })),
  },
}).createMachine({
  id: 'till',
  version: '1',
  context: { notes: [] },
  on: { passed: { actions: { type: 'note', params: ({ event }) => event.note } } },
});

export const clerksTopic = 'clerks';

/** @param work what runs as the effect of `work` */
export const clerkKinds = (work: Effect['run'] = async () => undefined): ActorKind[] => [
  {
    machine: clerkMachine,
    effects: { work: { run: work } },
    begin: (address) => ({ address }),
    topic: () => clerksTopic,
  },
  { machine: tillMachine, effects: {}, begin: () => ({}) },
];

export const add = (note: string): AnyEventObject => ({ type: 'add', note });
