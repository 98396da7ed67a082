/** Meaning of a mount's states for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { pathOf, stateName } from '../kit/state-path.js';
import type { MountContext, MountState } from './types.js';

/** State of the mount for users. */
export const mountStateOf = (value: StateValue, _: MountContext): MountState => stateName(value);

/** Path of that state, and how far its call is: `staging.calling`. */
export const mountPathOf = (value: StateValue, _: MountContext): string => pathOf(value);
