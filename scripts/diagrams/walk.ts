/** Reads the states and transitions of a machine, with names for people. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { catalog } from '../../machines/catalog.js';
import { rpcOf } from '../../src/journal/history-words.js';

/** Transition of one state by one event. */
export interface Arrow {
  from: AnyStateNode;
  /** Absent if the machine stays in its state. */
  to?: AnyStateNode;
  event: string;
  /** Empty without a condition. */
  guard: string;
  actions: string[];
}

export const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

export const topStatesOf = ({ root }: AnyStateMachine): AnyStateNode[] => Object.values(root.states);

export const pathOf = (node: AnyStateNode): string => node.path.join('.') || 'any state';

/** Transitions of this state, without those of states around it, in the order in which the machine tries them. */
export const arrowsFrom = (node: AnyStateNode): Arrow[] =>
  [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(({ eventType, target, guard, actions }) => ({
    from: node,
    ...(target?.[0] && { to: target[0] }),
    event: eventName(node, eventType ?? ''),
    guard: guard ? nameOf(guard) : '',
    actions: actions.map(nameOf),
  }));

/** Actions on entry, without the timers of `after`, which have their own arrows. */
export const entryActionsOf = (node: AnyStateNode): string[] =>
  node.entry.map(nameOf).filter((name) => name !== 'xstate.raise' && name !== 'raise');

/** Name of a guard or an action, with its parameter if that is one word. */
function nameOf(item: unknown): string {
  if (typeof item === 'string') return item;
  const { type, name, params } = item as { type?: string; name?: string; params?: unknown };
  return typeof params === 'string' && !params.includes(' ') ? `${type} ${params}` : String(type ?? name);
}

/** Translates XState's own names of events for people. */
function eventName(node: AnyStateNode, type: string): string {
  if (type === '') return 'always';
  const after = type.match(/^xstate\.after\.([^.]+)\./);
  if (after) return `after ${after[1]}`;
  const [, outcome, id] = type.match(/^xstate\.(done|error)\.actor\.(.+)$/) ?? [];
  if (outcome) return `${id} ${outcome === 'done' ? 'ended' : 'failed'}`;
  return type.replace(`.${node.id}`, '');
}

/** The state never rests: one of its `always` transitions is taken at once. */
export const isTransient = ({ always }: AnyStateNode): boolean => always?.at(-1) !== undefined && !always.at(-1)?.guard;

/** The state decides what comes next: it has `always` transitions to more than three top-level states. */
export const isScheduler = (node: AnyStateNode): boolean =>
  isTransient(node) && !isInitial(node) && new Set(arrowsFrom(node).map(({ to }) => to?.path[0])).size > 3;

/** The state is an initial state that is left at once, or `new`, which the first event leaves. Pictures leave it out. */
export const isHidden = (node: AnyStateNode): boolean => isInitial(node) && (isTransient(node) || node.key === 'new');

const isInitial = (node: AnyStateNode): boolean => node.parent?.initial.target?.[0] === node;

/** Activities in this state: the call of a part, which its owner makes, and effects of the machine. Calls have their names in CSI. */
export const activitiesOf = (node: AnyStateNode): string[] => {
  const { meta, machine, invoke } = node;
  const call: string[] =
    typeof meta?.call === 'string' ? [callsOfParts.get(machine.id)?.get(meta.call) ?? meta.call] : [];
  return [...call, ...invoke.map(({ src }) => rpcOf(String(src), machine.id) ?? String(src))];
};

/** Name in CSI of the call that the machine makes in this state. */
export const callOf = ({ invoke, machine }: AnyStateNode): string | undefined =>
  invoke.map(({ src }) => rpcOf(String(src), machine.id)).find((rpc) => rpc !== undefined);

/** Names in CSI by the kind of call, by the charts of parts: their owner makes the calls. */
const callsOfParts = new Map(
  // Of two machines with the same part, the first one counts.
  [...catalog.values()].toReversed().flatMap(({ machine, charts }) => {
    const ways = nodesOf(machine.root).flatMap(arrowsFrom);
    const calls = ways.flatMap(({ guard, to }): [string, string][] => {
      const [, kind] = /^isDueNow (.+)$/.exec(guard) ?? [];
      const rpc = to && callOf(to);
      return kind && rpc ? [[kind, rpc]] : [];
    });
    return charts.map(({ id }): [string, Map<string, string>] => [id, new Map(calls)]);
  }),
);

/** Turns `isLastToResolve` into `last to resolve`, and `isDueNow create` into `due now: create`. */
export const inWords = (guard: string): string =>
  guard
    .replace(/^is(?=[A-Z])/, '')
    .replace(' ', ': ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
