/**
 * What the states of a hosted machine invoke. XState is left nothing of it to run: no logic, no child actors; the engine
 * runs it, after the commit. Why: docs/decisions/0002-effects-without-child-actors.md
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

export interface InvokeDefinition {
  id: string;
  src: string;
  input?: unknown;
}

/** Without logic XState makes no child actor for an invoke. */
export function withoutLogic(machine: AnyStateMachine): AnyStateMachine {
  const { actors } = machine.implementations;
  return machine.provide({ actors: Object.fromEntries(Object.keys(actors).map((src) => [src, undefined])) });
}

const invokes = new WeakMap<AnyStateNode, InvokeDefinition[]>();

/**
 * What a state of a hosted machine invokes. It is taken from XState, which would make two more snapshots in each step
 * for children that it then has not; instead an action, the last of the state's own, asks for it.
 */
export function invokesOf(node: AnyStateNode): InvokeDefinition[] {
  const known = invokes.get(node);
  if (known) return known;
  const taken = node.invoke.splice(0).map(({ id, src, input }) => ({ id, src: String(src), input }));
  for (const params of taken) node.entry.push({ type: 'xstate.spawnChild', params });
  invokes.set(node, taken);
  return taken;
}
