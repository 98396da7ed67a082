/** Reads a machine: its states, its transitions, and their names as a person reads them. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** One way that one event can take from one state. */
export interface Arrow {
  from: AnyStateNode;
  /** Absent: the machine stays where it is. */
  to?: AnyStateNode;
  event: string;
  /** Empty: without condition. */
  guard: string;
  actions: string[];
}

export const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

export const topStatesOf = ({ root }: AnyStateMachine): AnyStateNode[] => Object.values(root.states);

export const pathOf = (node: AnyStateNode): string => node.path.join('.') || 'any state';

/** The transitions of this state alone, in the order in which the machine tries them. */
export const arrowsFrom = (node: AnyStateNode): Arrow[] =>
  [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(({ eventType, target, guard, actions }) => ({
    from: node,
    ...(target?.[0] && { to: target[0] }),
    event: eventName(node, eventType ?? ''),
    guard: guard ? nameOf(guard) : '',
    actions: actions.map(nameOf),
  }));

/** Actions on entry. The timers of `after` are left out: they have arrows of their own. */
export const entryActionsOf = (node: AnyStateNode): string[] =>
  node.entry.map(nameOf).filter((name) => name !== 'xstate.raise' && name !== 'raise');

/** What runs while the machine is in this very state: the calls of a part, which its owner makes, and the effects of a machine. */
export const activitiesOf = ({ meta, invoke }: AnyStateNode): string[] => [
  ...(typeof meta?.call === 'string' ? [meta.call] : []),
  ...invoke.map(({ src }) => String(src)),
];

/** The name of a guard or an action, with its parameter where that is a plain word. */
function nameOf(item: unknown): string {
  if (typeof item === 'string') return item;
  const { type, name, params } = item as { type?: string; name?: string; params?: unknown };
  return typeof params === 'string' && !params.includes(' ') ? `${type} ${params}` : String(type ?? name);
}

/** XState's own event names, as a person reads them. */
function eventName(node: AnyStateNode, type: string): string {
  if (type === '') return 'always';
  const after = type.match(/^xstate\.after\.([^.]+)\./);
  if (after) return `after ${after[1]}`;
  const [, outcome, id] = type.match(/^xstate\.(done|error)\.actor\.(.+)$/) ?? [];
  if (outcome) return `${id} ${outcome === 'done' ? 'ended' : 'failed'}`;
  return type.replace(`.${node.id}`, '');
}

/** Never rests: one of its `always` transitions is taken as soon as it is entered. */
export const isTransient = ({ always }: AnyStateNode): boolean => always?.at(-1) !== undefined && !always.at(-1)?.guard;

/** Decides what is next, and comes back from everywhere: a star by nature. */
export const isScheduler = (node: AnyStateNode): boolean =>
  isTransient(node) && !isInitial(node) && new Set(arrowsFrom(node).map(({ to }) => to?.path[0])).size > 3;

/** A start that is left at once, by itself or, where it is called `new`, by the first event: pictures show only where it leads. */
export const isHidden = (node: AnyStateNode): boolean => isInitial(node) && (isTransient(node) || node.key === 'new');

const isInitial = (node: AnyStateNode): boolean => node.parent?.initial.target?.[0] === node;
