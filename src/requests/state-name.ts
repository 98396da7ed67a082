import type { StateValue } from 'xstate';

/** Returns the name of a top-level state, without its substates. */
export const stateName = <T extends string>(value: StateValue): T =>
  (typeof value === 'string' ? value : Object.keys(value)[0]) as T;
