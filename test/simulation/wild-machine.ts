/**
 * Makes a wild kind a machine: anything goes, but it comes to rest. What it does by itself costs fuel, and what is
 * passed on counts down its hops. Its context tells everything that it was ever given, stamps included.
 */
import { type AnyStateMachine, assign, cancel, emit, raise, setup } from 'xstate';
import { hostActions, type Stamped, unbound, unboundLoop } from '../../machines/kit/host.js';
import { mixed } from './dice.js';
import type { Deed, Move, WildKind, WildState } from './system.js';

interface WildContext {
  fuel: number;
  hops: number;
  count: number;
  trace: number;
}

interface WildEvent extends Partial<Stamped> {
  type: string;
  n?: number;
  hops?: number;
  crashes?: boolean;
  output?: unknown;
  error?: unknown;
}

interface WildInput {
  fuel?: number;
  hops?: number;
}

const base = setup({
  types: {} as { context: WildContext; events: WildEvent; input: WildInput; tags: string },
  actors: { task: unbound<unknown, object>(), loop: unboundLoop<WildEvent, object>() },
  guards: {
    even: ({ context }) => context.count % 2 === 0,
    lucky: ({ event }) => (event.random ?? 0) < 0.5,
    always: () => true,
  },
  actions: {
    ...hostActions,
    note: assign(({ context, event }, { cost, by }: { cost: number; by: string }) => {
      if (event.crashes) throw new Error('told to crash');
      const { fuel, hops, count, trace } = context;
      const seen = JSON.stringify(event);
      return { fuel: fuel - cost, hops: event.hops ?? hops, count: count + 1, trace: mixed(trace, seen, by) };
    }),
    throw: assign(() => {
      throw new Error('can not take this');
    }),
  },
  delays: {
    byContext: ({ context }) => 10 * context.count,
    byRandom: ({ event }) => Math.floor((event.random ?? 0) * 100),
  },
});

type Config = Parameters<typeof base.createMachine>[0];
type StateConfig = NonNullable<Config['states']>[string];
type Transition = Exclude<NonNullable<NonNullable<StateConfig['on']>[string]>, string | readonly unknown[]>;
type Actions = NonNullable<StateConfig['entry']>;

/** Where a kind's messages go. */
export type Peers = (actor: number) => string;

export function wildMachine(id: string, kind: WildKind, peers: Peers): AnyStateMachine {
  const regions = kind.regions.map((states, at) => regionOf(states, { name: `r${at}`, peers }));
  const whole: Pick<Config, 'type' | 'initial' | 'states'> =
    regions.length > 1
      ? { type: 'parallel', states: Object.fromEntries(regions.map((region, at) => [`r${at}`, region])) }
      : (regions[0] ?? {});
  return base.createMachine({
    id,
    version: '1',
    context: ({ input }) => ({ fuel: input.fuel ?? 3, hops: input.hops ?? 0, count: 0, trace: 0 }),
    ...whole,
  });
}

interface Place {
  /** Of the region, or the state in it. */
  name: string;
  peers: Peers;
}

function regionOf(states: WildState[], place: Place): Pick<Config, 'initial' | 'states'> {
  const named = states.map((state, at): [string, StateConfig] => [`s${at}`, stateOf(state, { at, states, place })]);
  return { initial: 's0', states: Object.fromEntries(named) };
}

function stateOf(
  state: WildState,
  { at, states, place }: { at: number; states: WildState[]; place: Place },
): StateConfig {
  if (state.end === 'final') return { type: 'final' };
  const here = { ...place, name: `${place.name}s${at}` };
  const deeds = (list: Deed[]): Actions => list.map((deed) => actionOf(deed, here));
  const move = ({ target, reenter, guard, deeds: list }: Move, cost: number): Transition => ({
    ...(target === undefined ? {} : { target: `s${target % states.length}`, reenter }),
    guard:
      cost === 0
        ? (guard ?? 'always')
        : ({ context, event }) =>
            context.fuel > 0 &&
            (guard !== 'even' || context.count % 2 === 0) &&
            (guard !== 'lucky' || (event.random ?? 0) < 0.5),
    actions: [{ type: 'note', params: { cost, by: here.name } }, ...[deeds(list)].flat()],
  });
  const { invoke } = state;
  return {
    tags: state.end ? ['absent'] : [],
    entry: deeds(state.entry),
    exit: deeds(state.exit),
    on: Object.fromEntries(state.on.map((one) => [one.type, move(one.move, one.type === 'later' ? 1 : 0)])),
    ...(state.always && { always: move(state.always, 1) }),
    after: Object.fromEntries(state.timers.map(({ delay, move: one }) => [delay, move(one, 1)])),
    ...(invoke && {
      invoke: {
        id: here.name,
        src: invoke.src,
        input: ({ context: { fuel, count } }: { context: WildContext }) => ({ fuel, count }),
        onDone: move(invoke.done, 1),
        onError: move(invoke.error, 1),
      },
    }),
  };
}

function actionOf(deed: Deed, { name: by, peers }: Place): Exclude<Actions, readonly unknown[]> {
  switch (deed.do) {
    case 'emit':
      return emit(({ context }) => ({ type: 'told', n: context.count, by }));
    case 'answer':
      return { type: 'answer', params: ({ context }: { context: WildContext }) => ({ value: context.count }) };
    case 'refuse':
      return { type: 'answer', params: { error: { code: 'NODE_FULL', message: 'not now', final: false } } };
    case 'cancel':
      return cancel('later');
    case 'throw':
      return 'throw';
    case 'raise':
      return raise(({ context }) => ({ type: 'later', n: context.count }), {
        delay: deed.delayMs,
        ...(deed.named ? { id: 'later' } : {}),
      });
    case 'send':
      return {
        type: 'messages',
        params: ({ context: { hops, count } }: { context: WildContext }) =>
          hops > 0
            ? [{ to: peers(deed.to), event: { type: 'abc'.charAt(count % 3), n: count, by, hops: hops - 1 } }]
            : [],
      };
    case 'begin':
      return {
        type: 'messages',
        params: ({ context: { hops } }: { context: WildContext }) =>
          hops > 0 ? [{ to: peers(deed.to), input: { fuel: 2, hops: hops - 1 } }] : [],
      };
  }
}
