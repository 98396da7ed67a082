/** Meaning of a mount's states for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { presentStepOf } from '../kit/call.js';
import { pathOf, stateName } from '../kit/state-path.js';
import type { MountContext, MountState, MountWorkKind } from './types.js';

/** State of a mount by the kind of its call. */
export const callStates = {
  stage: 'staging',
  publish: 'publishing',
  unpublish: 'unpublishing',
  unstage: 'unstaging',
  expand: 'expanding',
} as const satisfies Record<MountWorkKind, MountState>;

/** State of the mount for users. A mount that rests or waits is in the state of the call that comes next. */
export const mountStateOf = (value: StateValue, { work }: Pick<MountContext, 'work'>): MountState =>
  work ? callStates[work.kind] : stateName(value);

/** Path of that state, and how far its call is: `publishing.backing-off`. */
export const mountPathOf = (value: StateValue, context: Pick<MountContext, 'work' | 'awaiting'>): string =>
  context.work ? `${mountStateOf(value, context)}.${presentStepOf(context)}` : pathOf(value);
