/** The states of a machine, each with those around it, from the inside. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { PhaseMeta } from '../../machines/kit/parts.js';

/** Without the root as a state of its own. */
export function statesOf({ root }: AnyStateMachine): AnyStateNode[][] {
  const within = (node: AnyStateNode, around: AnyStateNode[]): AnyStateNode[][] =>
    Object.values(node.states).flatMap((one) => [[one, node, ...around], ...within(one, [node, ...around])]);
  return within(root, []);
}

/** The dotted path of a state. */
export const pathOf = ([node]: AnyStateNode[]): string => node?.path.join('.') ?? '';

/** Whether the state has none within it. */
export const isLeaf = ([node]: AnyStateNode[]): boolean => Object.keys(node?.states ?? {}).length === 0;

/** Meta of a state: its own, and that of the states around it. */
export const metaOf = (nodes: AnyStateNode[]): PhaseMeta<string, string> =>
  Object.assign({}, ...nodes.toReversed().map(({ meta }) => meta));
