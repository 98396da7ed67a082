/**
 * From each older version of the volume machine to the next. Recorded histories prove them: test/volumes/migrations.test.ts.
 * The types of version 1 say what its records may hold; nothing else reads them.
 */
import type { CallFailure, Tries } from '../../machines/kit/csi-types.js';
import type { Publication, PublicationData } from '../../machines/volume/publication.js';
import type { PublicationState, QueuedWish, Work } from '../../machines/volume/types.js';
import type { Migration } from '../engine/effects.js';

/** Of version 1: a state, and flags that say more of it. */
interface OldPublication extends QueuedWish {
  number: number;
  state: PublicationState;
  publishContext?: Record<string, string>;
  tries?: Tries;
  inDoubt?: boolean;
  undoneAfter?: number;
  drifted?: true;
  fenced?: string;
  isUnlisted?: true;
  next?: QueuedWish;
  failure?: CallFailure & { in: 'publish' | 'unpublish' };
}

interface OldContext {
  publications: Record<string, OldPublication>;
  work: Work | null;
  awaiting: object | null;
}

/** What the volume's present call is to a publication: its own, one that publishes it while it leaves, or none of both. */
type Turn = 'calling' | 'waiting-for-plugin' | 'publish-under-way' | undefined;

function turnOf({ work, awaiting }: OldContext, nodeId: string, { state }: OldPublication): Turn {
  if (!work?.isCalling || work.nodeId !== nodeId) return undefined;
  if (work.kind === 'publish' && state !== 'pending-publish') return 'publish-under-way';
  return awaiting ? 'waiting-for-plugin' : 'calling';
}

/** The state of version 2, as a path. */
function placeOf(
  { state, inDoubt, drifted, undoneAfter, failure, tries }: OldPublication,
  turn: Turn,
): Publication['at'] {
  const isWorkTurn = turn === 'calling' || turn === 'waiting-for-plugin';
  // A cancelled publish is due at once, whatever its pause was.
  const within = isWorkTurn ? turn : tries && tries.notBeforeMs > 0 ? 'backing-off' : 'due';
  switch (state) {
    case 'published':
      return 'published';
    case 'pending-node-unpublish':
      return `pending-node-unpublish.${turn === 'publish-under-way' ? turn : 'waiting-for-node'}`;
    case 'pending-unpublish':
      if (turn === 'publish-under-way') return `pending-unpublish.${turn}`;
      return !isWorkTurn && tries?.count === 0 ? 'pending-unpublish.waiting-for-node' : `pending-unpublish.${within}`;
    case 'failed':
      if (failure?.in === 'unpublish') return 'failed.unpublish';
      if (drifted) return 'failed.was-published';
      return inDoubt ? 'failed.in-doubt' : 'failed.refused';
    case 'pending-publish':
      if (drifted) return `republishing.${within}`;
      if (undoneAfter === undefined) return `${inDoubt ? 'in-doubt' : 'pending-publish'}.${within}`;
      return inDoubt ? `cancelling.${within}` : 'cancelling.first-call';
  }
}

/** Exported for the comparison with recorded histories. */
export function publicationOf(old: OldPublication, turn: Turn): Publication {
  const { state, inDoubt, undoneAfter, drifted: _, failure: cause, isUnlisted, holds, ...kept } = old;
  const { in: __, ...failure } = cause ?? { in: '' };
  const at = placeOf(old, turn);
  const isDoubtInState = at.startsWith('in-doubt') || at.startsWith('cancelling');
  const data: PublicationData = {
    ...kept,
    ...(holds && state !== 'pending-unpublish' && { holds }),
    ...(isUnlisted && { detachConfirmedByList: true }),
    ...(inDoubt && !isDoubtInState && { mayStillArrive: true }),
    ...(undoneAfter !== undefined && { attemptsToResolve: (kept.tries?.count ?? 0) - undoneAfter }),
    ...(cause && { failure: failure as CallFailure }),
  };
  return { ...data, at };
}

/** Version 2 keeps publications as parts with named states, in place of a state with flags. */
const publicationsAsParts: Migration = {
  name: 'publications are parts',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => {
    const old = context as OldContext;
    const publications = Object.entries(old.publications).map(([nodeId, one]) => [
      nodeId,
      publicationOf(one, turnOf(old, nodeId, one)),
    ]);
    return { ...snapshot, context: { ...context, publications: Object.fromEntries(publications) } };
  },
};

export const volumeMigrations: Migration[] = [publicationsAsParts];
