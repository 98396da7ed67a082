/** Which events a caller may send an actor, by the state that it is in. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { catalogEntryOf } from './catalog.js';

/** Events that no caller sends: those of effects, of timers, of other actors, and of the machine itself. */
const internal =
  /^(xstate\.|settle$|wait\.|call\.|create\.|look\.|remove\.|fingerprint\.|health\.|plugin\.|plugins\.|\*$)|\.(progress|lost|recover|observed)$/;

/** Types of the events that an actor takes from callers in this state. A guard may still refuse one. */
export function acceptedBy(address: string, state: StateValue): string[] {
  const machine: AnyStateMachine | undefined = catalogEntryOf(address)?.machine;
  if (!machine) return [];
  const { _nodes: nodes } = machine.resolveState({ value: state, context: {} });
  const types = new Set(nodes.flatMap(({ transitions }) => [...transitions.keys()]));
  return [...types].filter((type) => !internal.test(type)).sort();
}
