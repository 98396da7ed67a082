/**
 * Meaning of the states of a volume and its parts, for all who look from outside: they ask here, never the value of the machine.
 * Pure.
 */
import type { AnyStateMachine, StateValue } from 'xstate';
import { callStepOf, presentStepOf } from '../kit/call.js';
import type { Tries } from '../kit/csi-types.js';
import type { PartView } from '../kit/parts.js';
import { pathOf, stateName } from '../kit/state-path.js';
import { seenAt } from '../kit/state-words.js';
import { expansionChart, expansionMachine, modificationChart, modificationMachine } from './change.js';
import { isFailedInDoubt, type Lifecycle, lifecycleChart, lifecycleMachine } from './lifecycle.js';
import { holdersOf } from './modes.js';
import { publicationChart, publicationMachine, publicStateOf } from './publication.js';
import type { Publication, VolumeContext, VolumeState, WorkKind } from './types.js';
import { describeLeaving, publicationId } from './words.js';
import { blockersOf, underWay } from './work.js';

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
function partStepOf(
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

/** Parts of the volume that are present. */
export function volumeParts(context: VolumeContext): PartView[] {
  const { lifecycle, publications, expansion, modification } = context;
  return [
    workView(context, lifecycleMachine, lifecycle, lifecycleChart.metaOf(lifecycle).call),
    ...Object.entries(publications).map(([nodeId, publication]) => publicationView(context, nodeId, publication)),
    ...(expansion ? [workView(context, expansionMachine, expansion, expansionChart.metaOf(expansion).call)] : []),
    ...(modification
      ? [workView(context, modificationMachine, modification, modificationChart.metaOf(modification).call)]
      : []),
  ];
}

type WorkPart = Pick<Lifecycle, 'failure' | 'tries'> & { at: string };

/** View of a part that there is one of: its id is the name of its chart. */
function workView(
  context: VolumeContext,
  chart: AnyStateMachine,
  part: WorkPart,
  wanted: WorkKind | undefined,
): PartView {
  const { failure, tries } = part;
  const at = partStepOf(context, part, wanted);
  const waits = at.endsWith('.waiting-for-plugin') ? context.awaiting?.reason : undefined;
  const why = failure?.message ?? waits ?? tries?.failure.message;
  return {
    ...{ id: chart.id, ...seenAt(chart, at) },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

function publicationView(context: VolumeContext, nodeId: string, publication: Publication): PartView {
  const { tries } = publication;
  const at = publicationStepOf(context, nodeId, publication);
  const why = reasonOf(context, nodeId, publication);
  const isTimed = at.endsWith('.backing-off') || at.endsWith('.waiting-for-node');
  return {
    ...{ id: publicationId(nodeId), ...seenAt(publicationMachine, at) },
    ...(why !== undefined && { why }),
    ...(isTimed && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

function reasonOf(context: VolumeContext, nodeId: string, publication: Publication): string | undefined {
  const { failure, tries, fenced } = publication;
  const { work, awaiting } = context;
  if (failure) return failure.message;
  if (awaiting && work?.nodeId === nodeId) return awaiting.reason;
  if (tries) return tries.failure.message;
  const isToPublish = publicStateOf(publication) === 'pending-publish';
  const [blocker] = isToPublish ? blockersOf(context, nodeId, publication) : [];
  if (blocker) return describeBlocker(nodeId, blocker);
  if (publication.at === 'pending-node-unpublish') return describeUsers(context, nodeId, publication);
  return fenced === undefined ? undefined : `node ${nodeId} is fenced: ${fenced}`;
}

/** Describes the publication that has to end before the volume can be published on the node. */
export function describeBlocker(nodeId: string, [other, publication]: [nodeId: string, Publication]): string {
  const { failure } = publication;
  const why = failure ? `: ${failure.message}` : '';
  return `to be published on node ${nodeId}, it has to be gone from node ${other}, where it is ${publicStateOf(publication)}${why}`;
}

function describeUsers({ claims }: VolumeContext, nodeId: string, publication: Publication): string | undefined {
  const leaving = claims.filter((claim) => claim.nodeId === nodeId && claim.state === 'unpublishing');
  const mounted = holdersOf(publication).map((allocId) => `alloc ${allocId} has it mounted without a claim`);
  return [...leaving.map(describeLeaving), ...mounted].join('; ') || undefined;
}
