/** Meaning of a volume's states for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { isIn } from '../kit/parts.js';
import { pathOf, stateName } from '../kit/state-path.js';
import { isFailedInDoubt } from './lifecycle.js';
import type { Publication, VolumeContext, VolumeState } from './types.js';

/** State of the volume for users. */
export const volumeStateOf = (value: StateValue, _: VolumeContext): VolumeState => stateName(value);

/** Path of that state, and how far its call is: `pending-publish.calling`. */
export const volumePathOf = (value: StateValue, _: VolumeContext): string => pathOf(value);

/** Step of the publication on this node, and how far its call is: `in-doubt.backing-off`. */
export const publicationStepOf = (_: VolumeContext, __: string, { at }: Publication): string => at;

/** Whether CreateVolume may be under way, or is sent again to learn its outcome. */
export const mayBeCreating = ({ lifecycle }: VolumeContext): boolean =>
  isIn(lifecycle, 'create-in-doubt') ||
  isIn(lifecycle, 'finding-out') ||
  lifecycle.at === 'pending-create.calling' ||
  lifecycle.at === 'emptying.create-under-way';

/** Whether the source of the volume has to stay: CreateVolume is still to be sent, or to be sent again. */
export const needsSource = (context: VolumeContext): boolean =>
  mayBeCreating(context) ||
  isIn(context.lifecycle, 'pending-create') ||
  isIn(context.lifecycle, 'removing-unproven') ||
  isFailedInDoubt(context.lifecycle);
