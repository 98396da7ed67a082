/** Parts of a volume as they are shown: the state of each, and why. Pure. */
import { isIn, type PartView } from '../kit/parts.js';
import { expansionMachine, modificationMachine } from './change.js';
import { type Lifecycle, lifecycleMachine } from './lifecycle.js';
import { holdersOf } from './modes.js';
import { publicationMachine, publicStateOf } from './publication.js';
import type { Publication, VolumeContext } from './types.js';
import { describeLeaving, publicationId } from './words.js';
import { blockersOf } from './work.js';

/** All present parts of the volume. */
export const volumeParts = (context: VolumeContext): PartView[] => [
  workView(context, lifecycleMachine.id, context.lifecycle),
  ...Object.entries(context.publications).map(([nodeId, publication]) => publicationView(context, nodeId, publication)),
  ...(context.expansion ? [workView(context, expansionMachine.id, context.expansion)] : []),
  ...(context.modification ? [workView(context, modificationMachine.id, context.modification)] : []),
];

/** View of a part that there is one of: its id is the name of its chart. */
function workView({ awaiting }: VolumeContext, chart: string, { at, failure, tries }: WorkPart): PartView {
  const waits = at.endsWith('.waiting-for-plugin') ? awaiting?.reason : undefined;
  const why = failure?.message ?? waits ?? tries?.failure.message;
  return {
    ...{ id: chart, chart, at },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

type WorkPart = Pick<Lifecycle, 'failure' | 'tries'> & { at: string };

function publicationView(context: VolumeContext, nodeId: string, publication: Publication): PartView {
  const { at, tries } = publication;
  const why = reasonOf(context, nodeId, publication);
  const isTimed = at.endsWith('.backing-off') || at === 'pending-unpublish.waiting-for-node';
  return {
    ...{ id: publicationId(nodeId), chart: publicationMachine.id, at },
    ...(why !== undefined && { why }),
    ...(isTimed && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

function reasonOf(context: VolumeContext, nodeId: string, publication: Publication): string | undefined {
  const { at, failure, tries, fenced } = publication;
  if (failure) return failure.message;
  if (at.endsWith('.waiting-for-plugin') && context.awaiting) return context.awaiting.reason;
  if (tries) return tries.failure.message;
  const isToPublish = publicStateOf(publication) === 'pending-publish';
  const [blocker] = isToPublish ? blockersOf(context, nodeId, publication) : [];
  if (blocker) return describeBlocker(nodeId, blocker);
  if (isIn(publication, 'pending-node-unpublish')) return describeUsers(context, nodeId, publication);
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
