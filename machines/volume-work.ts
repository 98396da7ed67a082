/** What a volume is to do next: the one place that puts its pieces of work in order. Pure. */
import type { AccessMode, Tries } from './csi-types.js';
import type { Publication, VolumeContext, Work, WorkKind } from './volume-types.js';

type Piece = Omit<Work, 'isCalling'>;

const isSingleNode = (mode: AccessMode): boolean => mode.startsWith('single-node');

/** Whether this piece can't be done before others on other nodes are gone. */
function isBlocked({ publications }: VolumeContext, nodeId: string, { capability }: Publication): boolean {
  if (!isSingleNode(capability.accessMode)) return false;
  return Object.entries(publications).some(([other, { state }]) => other !== nodeId && state !== 'failed');
}

const piece = (kind: WorkKind, tries: Tries | undefined, nodeId?: string): Piece => ({
  kind,
  dueAtMs: tries?.notBeforeMs ?? 0,
  ...(nodeId !== undefined && { nodeId }),
});

/** After so many attempts to find out what became of a publish that nobody wants any more, it is undone all the same. */
const attemptsToResolve = 3;

/** Publishing that is not wanted any more is decided first, then undone: what is still on its way must not come after. */
function publicationWork(publication: Publication): WorkKind | undefined {
  const { state, tries, undoneAfter } = publication;
  if (state === 'pending-unpublish') return 'unpublish';
  if (state !== 'pending-publish') return undefined;
  if (undoneAfter === undefined) return 'publish';
  return (tries?.count ?? 0) - undoneAfter < attemptsToResolve ? 'publish' : 'unpublish';
}

/** All that is to be done, each with the moment from which on: what comes first in the list goes before what comes later. */
function* pieces(context: VolumeContext): Generator<Piece> {
  const { spec, csi, creation, deletion, publications, expansion, modification } = context;
  if (!csi) {
    // What may have been made can be deleted only once its id is known.
    if (!creation.failure && !(deletion && !creation.inDoubt)) yield piece('create', creation.tries);
    return;
  }
  let isPublished = false;
  for (const [nodeId, publication] of Object.entries(publications)) {
    isPublished = true;
    const kind = publicationWork(publication);
    if (!kind || (kind === 'publish' && isBlocked(context, nodeId, publication))) continue;
    yield piece(kind, publication.tries, nodeId);
  }
  if (deletion) {
    if (!isPublished && !deletion.failure && !spec?.external) yield piece('delete', deletion.tries);
    return;
  }
  if (expansion && !expansion.failure) yield piece('expand', expansion.tries);
  if (modification && !modification.failure) yield piece('modify', modification.tries);
}

/** The first piece that is due, else the one that will be soonest; null where nothing is to be done. */
export function nextWork(context: VolumeContext, nowMs: number): Work | null {
  let soonest: Piece | undefined;
  for (const next of pieces(context)) {
    if (next.dueAtMs <= nowMs) return { ...next, isCalling: true };
    if (!soonest || next.dueAtMs < soonest.dueAtMs) soonest = next;
  }
  return soonest ? { ...soonest, isCalling: false } : null;
}

/** Whether all that a deletion asks for is done. What was not made here is let go of, never deleted. */
export function isGone({ spec, csi, creation, deletion, publications }: VolumeContext): boolean {
  if (deletion === null || Object.keys(publications).length > 0) return false;
  return spec?.external !== undefined || (!csi && !creation.inDoubt);
}

export const hasPublished = ({ publications }: VolumeContext): boolean =>
  Object.values(publications).some(({ state }) => state === 'published');
