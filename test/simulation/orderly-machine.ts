/**
 * Makes an orderly kind a machine: it takes jobs one after the other and leads each through the same steps. What comes
 * of a job is told by the job alone, so that only the order of jobs depends on when what happens.
 */
import { type AnyStateMachine, assign, emit, setup } from 'xstate';
import { hostActions, type MessageParams, type Stamped, unbound, unboundLoop } from '../../machines/kit/host.js';
import { chance } from './dice.js';
import type { OrderlyKind, OrderlyStep } from './system.js';
import type { Peers } from './wild-machine.js';

interface Job {
  id: string;
  hops: number;
}

interface OrderlyContext {
  queue: Job[];
  attempt: number;
  /** What was seen on the way; each once, since effects may repeat themselves. */
  seen: string[];
  /** By job what came of its steps. */
  done: Record<string, unknown[]>;
}

interface OrderlyEvent extends Partial<Stamped> {
  type: string;
  id?: string;
  hops?: number;
  crashes?: boolean;
  output?: unknown;
  /** Of a loop: how far it is. */
  tick?: number;
}

/** A result that no machine can take. */
export const unfit = 'unfit';

/** Ticks of a loop, after which its state is left. */
export const lastTick = 2;

const jobOf = (context: OrderlyContext): Job => context.queue[0] ?? { id: 'none', hops: 0 };

const base = setup({
  types: {} as { context: OrderlyContext; events: OrderlyEvent; input: object; tags: string },
  actors: { task: unbound<unknown, object>(), loop: unboundLoop<OrderlyEvent, object>() },
  guards: {
    hasJob: ({ context }) => context.queue.length > 0,
    isLastTick: ({ event }) => event.tick === lastTick,
  },
  actions: {
    ...hostActions,
    take: assign(({ context, event: { id = '', hops = 0, crashes } }) => {
      if (crashes) throw new Error('told to crash');
      return { queue: [...context.queue, { id, hops }] };
    }),
    keep: assign(({ context, event }) => {
      if (event.output === unfit) throw new Error('can not take this');
      const { id } = jobOf(context);
      return { done: { ...context.done, [id]: [...(context.done[id] ?? []), event.output ?? 'passed'] }, attempt: 1 };
    }),
    see: assign(({ context, event }) => {
      const observation = `${jobOf(context).id} ${event.tick}`;
      return { seen: [...new Set([...context.seen, observation])].sort() };
    }),
    countAttempt: assign(({ context }) => ({ attempt: context.attempt + 1 })),
    nextJob: assign(({ context }) => ({ queue: context.queue.slice(1) })),
  },
  delays: {
    backoff: ({ event }) => Math.floor((event.random ?? 0) * 50),
    byRandom: ({ event }) => Math.floor((event.random ?? 0) * 100),
    byJob: ({ context }) => Math.floor(chance(jobOf(context).id) * 100),
  },
});

type Config = Parameters<typeof base.createMachine>[0];
type StateConfig = NonNullable<Config['states']>[string];
type Actions = NonNullable<StateConfig['entry']>;

export function orderlyMachine(id: string, { steps, isBrief }: OrderlyKind, peers: Peers): AnyStateMachine {
  const states = steps.map((step, at): [string, StateConfig] => [`step${at}`, stateOf(step, { at, peers })]);
  return base.createMachine({
    id,
    version: '1',
    context: { queue: [], attempt: 1, seen: [], done: {} },
    initial: 'idle',
    on: {
      job: {
        actions: ['take', { type: 'answer', params: ({ event }) => ({ value: `taken ${event.id}` }) }],
      },
    },
    states: {
      idle: { always: { guard: 'hasJob', target: 'step0' }, tags: isBrief ? ['absent'] : [] },
      ...Object.fromEntries(states),
      [`step${steps.length}`]: { entry: 'nextJob', always: 'idle' },
    },
  });
}

interface Place {
  at: number;
  peers: Peers;
}

function stateOf(step: OrderlyStep, place: Place): StateConfig {
  const { at } = place;
  const passed = { target: `step${at + 1}`, actions: deedsOf(step, place) };
  const task = {
    id: `task${at}`,
    src: 'task' as const,
    input: ({ context }: { context: OrderlyContext }) => ({ job: jobOf(context).id, attempt: context.attempt }),
  };
  const wait = String(step.delay);
  switch (step.does) {
    case 'wait':
      return { after: { [wait]: passed } };
    case 'task':
      return {
        initial: 'trying',
        states: {
          trying: {
            invoke: {
              ...task,
              onDone: { target: `#step${at}done`, actions: deedsOf(step, place) },
              onError: { target: 'backingOff', actions: 'countAttempt' },
            },
          },
          backingOff: { after: { backoff: 'trying' } },
          done: { id: `step${at}done`, type: 'final' },
        },
        onDone: `step${at + 1}`,
      };
    case 'loop':
      return {
        invoke: { id: `loop${at}`, src: 'loop', input: ({ context }) => ({ job: jobOf(context).id }) },
        on: {
          tick: [{ guard: 'isLastTick', ...passed, actions: ['see', ...deedsOf(step, place)] }, { actions: 'see' }],
        },
      };
    case 'both':
      return {
        type: 'parallel',
        states: {
          task: {
            initial: 'trying',
            states: {
              trying: {
                invoke: {
                  ...task,
                  onDone: { target: 'done', actions: 'keep' },
                  onError: { target: 'done', actions: 'keep' },
                },
              },
              done: { type: 'final' },
            },
          },
          wait: { initial: 'waiting', states: { waiting: { after: { [wait]: 'done' } }, done: { type: 'final' } } },
        },
        onDone: passed,
      };
  }
}

function deedsOf({ sends, begins, emits }: OrderlyStep, { at, peers }: Place): Extract<Actions, readonly unknown[]> {
  const messages = ({ context }: { context: OrderlyContext }): MessageParams[] => {
    const { id, hops } = jobOf(context);
    if (hops === 0) return [];
    return [
      ...begins.map((to) => ({ to: peers(to), input: {} })),
      ...sends.map((to, index) => ({
        to: peers(to),
        event: { type: 'job', id: `${id}>${at}.${index}`, hops: hops - 1 },
      })),
    ];
  };
  const told = Array.from({ length: emits }, (_, index) =>
    emit(({ context }: { context: OrderlyContext }) => ({ type: 'told', id: jobOf(context).id, at, index })),
  );
  return ['keep', { type: 'messages', params: messages }, ...told];
}
