/** What a volume is to do next: the one place that puts its pieces of work in order. Pure. */
import { dueAtMs } from '../kit/backoff.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import { isIn } from '../kit/parts.js';
import { excludes, mayBeThere } from './modes.js';
import { publicStateOf } from './publication.js';
import type { Publication, PublicationState, VolumeContext, Work, WorkKind } from './types.js';

type Piece = Omit<Work, 'isCalling'>;

/**
 * What has to be gone from other nodes before it can be published on this one: what its mode excludes, and what the plugin
 * would take for this very one, as the host had another name before.
 */
export const blockersOf = (
  { publications }: Pick<VolumeContext, 'publications'>,
  nodeId: string,
  publication: Publication,
): [nodeId: string, Publication][] =>
  Object.entries(publications).filter(
    ([other, present]) =>
      other !== nodeId &&
      mayBeThere(present) &&
      (present.csiNodeId === publication.csiNodeId || excludes(present, publication)) &&
      !isAfter(present, publication),
  );

/** Whether it only waits for its turn, and the other goes first: one that may be there already, else the older one. */
const isAfter = (one: Publication, other: Publication): boolean =>
  (isIn(one, 'pending-publish') || one.at === 'cancelling.first-call') &&
  (mayHaveArrived(other) || other.number < one.number);

const mayHaveArrived = (one: Publication): boolean =>
  isIn(one, 'in-doubt') ||
  (isIn(one, 'cancelling') && one.at !== 'cancelling.first-call') ||
  one.mayStillArrive === true;

/** A publish that is cancelled is resolved first, then undone: a call on its way must not arrive after its undoing. */
const publicationWork: Partial<Record<PublicationState, WorkKind>> = {
  'pending-publish': 'publish',
  'pending-unpublish': 'unpublish',
};

/** All that is to be done, each with the moment from which on: what comes first in the list goes before what comes later. */
function* pieces(context: VolumeContext, nowMs: number): Generator<Piece> {
  const piece = (kind: WorkKind, tries: Tries | undefined, nodeId?: string): Piece => ({
    kind,
    dueAtMs: dueAtMs(tries, nowMs),
    ...(nodeId !== undefined && { nodeId }),
  });
  const { spec, csi, creation, deletion, publications, expansion, modification } = context;
  if (!csi) {
    // What may have been made can be deleted only once its id is known.
    const isWanted = !deletion || creation.inDoubt;
    if (!creation.failure && isWanted) yield piece('create', creation.tries);
    return;
  }
  let isPublished = false;
  for (const [nodeId, publication] of Object.entries(publications)) {
    isPublished = true;
    const kind = publicationWork[publicStateOf(publication)];
    if (!kind || (kind === 'publish' && blockersOf(context, nodeId, publication).length > 0)) continue;
    yield piece(kind, publication.tries, nodeId);
  }
  if (deletion) {
    if (!isPublished && !deletion.failure && !deletion.isConfirmed && !spec?.external)
      yield piece('delete', deletion.tries);
    return;
  }
  if (expansion && !expansion.failure) yield piece('expand', expansion.tries);
  if (modification && !modification.failure) yield piece('modify', modification.tries);
}

/** The piece that is due first, so that one that fails again and again keeps no other waiting; null where there is none. */
export function nextWork(context: VolumeContext, nowMs: number): Work | null {
  let next: Piece | undefined;
  for (const one of pieces(context, nowMs)) if (!next || one.dueAtMs < next.dueAtMs) next = one;
  return next ? { ...next, isCalling: next.dueAtMs <= nowMs } : null;
}

/** Whether all that a deletion asks for is done. What was not made here is let go of, never deleted. */
export function isGone({ spec, csi, creation, deletion, publications }: VolumeContext): boolean {
  if (deletion === null || Object.keys(publications).length > 0) return false;
  return spec?.external !== undefined || deletion.isConfirmed === true || (!csi && !creation.inDoubt);
}

/** What holds it up until something else is asked for: one node that failed is in the way of its deletion only. */
export function failureOf({ creation, deletion, publications }: VolumeContext): CallFailure | undefined {
  const failure = creation.failure ?? deletion?.failure;
  if (failure || !deletion) return failure;
  for (const one of Object.values(publications)) if (one.failure) return one.failure;
  return undefined;
}

export const hasPublished = ({ publications }: VolumeContext): boolean =>
  Object.values(publications).some(({ at }) => at === 'published');
