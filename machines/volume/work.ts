/** Order of the work on a volume: the one place that decides what comes next. Pure. */
import { dueAtMs } from '../kit/backoff.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import { isIn, topState } from '../kit/parts.js';
import { isLeaving } from './lifecycle.js';
import { excludes, mayBeThere } from './modes.js';
import { publicStateOf } from './publication.js';
import { isCovered, type Sized } from './size.js';
import type { Publication, VolumeContext, Work, WorkKind } from './types.js';
import type { PublicationState } from './wishes.js';

type Piece = Omit<Work, 'isCalling'>;
/** Parts of a volume that have work, and its size, if the plugin has made it. */
type Workload = Pick<VolumeContext, 'lifecycle' | 'publications' | 'expansion' | 'modification'> & Sized;

/**
 * Publications that have to be gone from other nodes first: those that the mode excludes, and one that the plugin
 * would take for this very one, as the host had another name.
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

/** Whether the other publication goes first: one that may be there already, else the older one. */
const isAfter = (one: Publication, other: Publication): boolean =>
  (isIn(one, 'pending-publish') || one.at === 'cancelling.first-call') &&
  (mayHaveArrived(other) || other.number < one.number);

const mayHaveArrived = (one: Publication): boolean =>
  isIn(one, 'in-doubt') ||
  (isIn(one, 'cancelling') && one.at !== 'cancelling.first-call') ||
  one.mayStillArrive === true;

/** A cancelled publish is resolved first, then undone: a late call must not arrive after the call that undoes it. */
const publicationWork: Partial<Record<PublicationState, WorkKind>> = {
  'pending-publish': 'publish',
  'pending-unpublish': 'unpublish',
};

const lifecycleWork: Record<string, WorkKind | undefined> = {
  'pending-create': 'create',
  'create-in-doubt': 'create',
  'removing-unproven': 'create',
  'finding-out': 'create',
  'pending-delete': 'delete',
};

/** All pieces of work, each with the moment from which it is due, in the order of their importance. */
function pieces(workload: Workload, nowMs: number): Piece[] {
  const { csi, lifecycle, publications, expansion, modification } = workload;
  const found: Piece[] = [];
  const add = (kind: WorkKind, tries: Tries | undefined, nodeId?: string): void => {
    const from = dueAtMs(tries, nowMs);
    found.push(nodeId === undefined ? { kind, dueAtMs: from } : { kind, dueAtMs: from, nodeId });
  };
  const kind = lifecycleWork[topState(lifecycle)];
  if (kind === 'create') add(kind, lifecycle.tries);
  if (kind === 'create' || !csi) return found;
  for (const [nodeId, publication] of Object.entries(publications)) {
    const own = publicationWork[publicStateOf(publication)];
    if (!own || (own === 'publish' && blockersOf({ publications }, nodeId, publication).length > 0)) continue;
    add(own, publication.tries, nodeId);
  }
  if (kind === 'delete') add(kind, lifecycle.tries);
  if (lifecycle.at !== 'created') return found;
  if (expansion && expansion.at !== 'failed' && !isCovered(workload, expansion.wish)) add('expand', expansion.tries);
  if (modification && modification.at !== 'failed') add('modify', modification.tries);
  return found;
}

/**
 * The piece that is due first, so that one that fails again and again keeps no other waiting; null if there is none.
 */
export function nextWork(workload: Workload, nowMs: number): Work | null {
  let next: Piece | undefined;
  for (const one of pieces(workload, nowMs)) if (!next || one.dueAtMs < next.dueAtMs) next = one;
  if (!next) return null;
  const { kind, dueAtMs, nodeId } = next;
  const isCalling = dueAtMs <= nowMs;
  return nodeId === undefined ? { kind, dueAtMs, isCalling } : { kind, dueAtMs, nodeId, isCalling };
}

/** Whether the present work is still the next. */
export function isNext(context: VolumeContext, nowMs: number): boolean {
  const { work } = context;
  const next = nextWork(context, nowMs);
  return next?.kind === work?.kind && next?.nodeId === work?.nodeId;
}

/** Whether the volume does not exist any more. */
export const isGone = ({ lifecycle }: VolumeContext): boolean => lifecycle.at === 'absent';

/** Failure that stays until somebody asks. A failed publication only stands in the way of a deletion. */
export function failureOf({ lifecycle, publications }: VolumeContext): CallFailure | undefined {
  if (lifecycle.failure || !isLeaving(lifecycle)) return lifecycle.failure;
  for (const one of Object.values(publications)) if (one.failure) return one.failure;
  return undefined;
}

export const hasPublished = ({ publications }: VolumeContext): boolean =>
  Object.values(publications).some(({ at }) => at === 'published');
