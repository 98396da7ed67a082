import type { StateValue } from 'xstate';

/** The name of a state as it is told: without what is inside it. */
export const stateName = <T extends string>(value: StateValue): T =>
  (typeof value === 'string' ? value : Object.keys(value)[0]) as T;
