/** Parts of a volume as they are shown: the state of each, and why. Pure. */
import type { AnyStateMachine } from 'xstate';
import type { PartView } from '../kit/parts.js';
import { seenAt } from '../kit/state-words.js';
import { expansionChart, expansionMachine, modificationChart, modificationMachine } from './change.js';
import { type Lifecycle, lifecycleChart, lifecycleMachine } from './lifecycle.js';
import { holdersOf } from './modes.js';
import { publicationMachine, publicStateOf } from './publication.js';
import { partStepOf, publicationStepOf } from './states.js';
import type { Publication, VolumeContext, WorkKind } from './types.js';
import { describeLeaving, publicationId } from './words.js';
import { blockersOf } from './work.js';

/** All present parts of the volume. */
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
