/** Meaning of a volume's states for all who look at it from outside: they ask here, never the value of the machine. Pure. */
import type { StateValue } from 'xstate';
import { callStepOf, presentStepOf } from '../kit/call.js';
import type { Tries } from '../kit/csi-types.js';
import { pathOf, stateName } from '../kit/state-path.js';
import { isFailedInDoubt, lifecycleChart } from './lifecycle.js';
import { publicationChart } from './publication.js';
import type { Publication, VolumeContext, VolumeState, WorkKind } from './types.js';
import { underWay } from './work.js';

/** State of the volume for users. A volume that rests or waits is in the state of the call that comes next. */
export function volumeStateOf(value: StateValue, { work }: VolumeContext): VolumeState {
  if (!work) return stateName(value);
  return work.kind === 'remove' ? 'pending-create' : `pending-${work.kind}`;
}

/** Path of that state, and how far its call is: `pending-publish.calling`. */
export function volumePathOf(value: StateValue, context: VolumeContext): string {
  const { work } = context;
  if (!work) return pathOf(value);
  const removing = work.kind === 'remove' ? ['removing'] : [];
  return [volumeStateOf(value, context), ...removing, presentStepOf(context)].join('.');
}

/** Phase of a part, and how far its call is: `in-doubt.backing-off`. @param wanted call that the phase wants */
export function partStepOf(
  context: VolumeContext,
  { at, tries }: { at: string; tries?: Tries | undefined },
  wanted: WorkKind | undefined,
  nodeId?: string,
): string {
  const { work } = context;
  const present = work?.isCalling && work.nodeId === nodeId ? work.kind : undefined;
  // The part leaves: a call that was begun before has to end first.
  if (present === 'publish' && at.endsWith('unpublish')) return `${at}.publish-under-way`;
  if (present === 'create' && (at === 'emptying' || at === 'letting-go')) return `${at}.create-under-way`;
  if (!wanted) return at;
  const isOwn = present === wanted || (present === 'remove' && wanted === 'delete');
  if (!isOwn && tries?.count === 0) return `${at}.waiting-for-node`;
  return `${at}.${callStepOf(context, isOwn, tries)}`;
}

/** Step of the publication on this node, and how far its call is: `in-doubt.backing-off`. */
export const publicationStepOf = (context: VolumeContext, nodeId: string, publication: Publication): string =>
  partStepOf(context, publication, publicationChart.metaOf(publication).call, nodeId);

/** Whether CreateVolume may be under way, or is sent again to learn its outcome. */
export const mayBeCreating = (context: VolumeContext): boolean =>
  context.lifecycle.at === 'create-in-doubt' ||
  context.lifecycle.at === 'finding-out' ||
  underWay(context) === 'create';

/** Whether the source of the volume has to stay: CreateVolume is still to be sent, or to be sent again. */
export const needsSource = (context: VolumeContext): boolean =>
  lifecycleChart.metaOf(context.lifecycle).shownAs === 'pending-create' ||
  underWay(context) === 'create' ||
  isFailedInDoubt(context.lifecycle);
