/** Names of states, from the value that XState keeps. No machine here has parallel states. Pure. */
import type { StateValue } from 'xstate';

/** Path of a state: `pending-publish.calling`. */
export function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [[outer, inner] = ['', undefined]] = Object.entries(value);
  return inner === undefined ? outer : `${outer}.${pathOf(inner)}`;
}

/** Name of a top-level state, without its substates. */
export const stateName = <T extends string>(value: StateValue): T =>
  (typeof value === 'string' ? value : Object.keys(value)[0]) as T;
