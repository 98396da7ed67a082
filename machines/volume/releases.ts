/** Releases of claims, reports of nodes, and fences. Pure. */
import { isIn } from '../kit/parts.js';
import { grant, moveClaims, withdrawClaims } from './claims.js';
import { type Draft, drafted } from './draft.js';
import { asUnstaged, clearLeft } from './leftovers.js';
import { holdsOf, isInUse } from './modes.js';
import { followClaims, step } from './publications.js';
import type { Claim, ClaimRequest, HoldReleased, Unstaged, VolumeChange, VolumeContext } from './types.js';
import type { QueuedWish } from './wishes.js';

/** Releases an alloc's claim, or ends its wait. A claim on another node, or a later one, stays. */
export const release = (
  context: VolumeContext,
  { allocId, nodeId, generation }: Pick<Claim, 'allocId'> & Partial<Pick<Claim, 'nodeId' | 'generation'>>,
): VolumeChange =>
  drafted(context, (draft) => {
    const isMeant = (one: ClaimRequest): boolean =>
      one.allocId === allocId && (nodeId === undefined || one.nodeId === nodeId);
    withdrawClaims(draft, isMeant);
    const held = draft.claims.find(
      (one) => isMeant(one) && (generation === undefined || one.generation === generation),
    );
    if (held?.state === 'taken') {
      const publication = draft.publications[held.nodeId];
      moveClaims(draft, [held], publication && isInUse(publication) ? 'unpublishing' : 'node-detached');
      followClaims(draft, held.nodeId);
      const isClaimed = draft.claims.some((one) => one.nodeId === held.nodeId && one.state === 'taken');
      if (!isClaimed) step(draft, held.nodeId, { type: 'wish.dropped' });
    }
    grant(draft);
  });

/** Applies the report of a node that it has unstaged the volume, as far as the reported claims have used it. */
export const unstaged = (context: VolumeContext, report: Unstaged): VolumeChange =>
  drafted(context, (draft) => {
    clearLeft(draft, report);
    const meant = draft.claims.filter((one) => one.state === 'unpublishing' && isReported(one, report));
    if (meant.length === 0) return;
    moveClaims(draft, meant, 'node-detached');
    followClaims(draft, report.nodeId);
    grant(draft);
  });

const isReported = (claim: Claim, { nodeId, claimGeneration, allocId }: Unstaged): boolean =>
  claim.nodeId === nodeId &&
  (allocId === undefined
    ? claim.generation <= claimGeneration
    : claim.allocId === allocId && claim.generation === claimGeneration);

/**
 * Applies the report of a node that it has let go of the volume for an alloc without a claim. After the last one the
 * volume is unpublished.
 */
export const holdReleased = (context: VolumeContext, { nodeId, allocId, generation }: HoldReleased): VolumeChange =>
  drafted(context, (draft) => {
    clearLeft(draft, asUnstaged({ nodeId, allocId, generation }));
    const publication = draft.publications[nodeId];
    if (!publication) return;
    const without = <T extends QueuedWish>({
      holds = [],
      ...wish
    }: T): Omit<T, 'holds'> & Pick<QueuedWish, 'holds'> => {
      const left = holds.filter((one) => one.allocId !== allocId || one.generation > generation);
      return { ...wish, ...(left.length > 0 && { holds: left }) };
    };
    const { next } = publication;
    draft.publications[nodeId] = { ...without(publication), ...(next && { next: without(next) }) };
    if (isIn(publication, 'pending-node-unpublish')) followClaims(draft, nodeId);
  });

/** Gives up the node: its reports are not waited for. */
export const fence = (context: VolumeContext, nodeId: string, reason: string): VolumeChange =>
  drafted(context, (draft) => {
    const isThere = draft.publications[nodeId] !== undefined;
    broadcastHoldsOver(draft, nodeId, reason);
    step(draft, nodeId, { type: 'node.fenced', reason });
    withdrawClaims(draft, (one) => one.nodeId === nodeId, reason);
    const here = draft.claims.filter((one) => one.nodeId === nodeId && one.state !== 'node-detached');
    moveClaims(draft, here, 'node-detached', reason);
    if (isThere || here.length > 0) followClaims(draft, nodeId);
    grant(draft);
  });

/** Whether a fence of the node still has to reach the volume. */
export const isToBeFenced = (context: VolumeContext, nodeId: string): boolean =>
  isKeptOn(context, nodeId) || context.waiting.some((one) => one.nodeId === nodeId);

/** Whether the volume is, or may be, used on the node: no fence has given it up there. */
export const isKeptOn = ({ publications, claims }: VolumeContext, nodeId: string): boolean => {
  const publication = publications[nodeId];
  // After an earlier fence the node may have come back, and be wanted again.
  const isKept = publication !== undefined && (publication.fenced === undefined || publication.next !== undefined);
  return isKept || claims.some((one) => one.nodeId === nodeId && one.state !== 'node-detached');
};

/** Tells the agent of the node to unmount what its holds stand for. */
export function broadcastHoldsOver(draft: Draft, nodeId: string, fenced: string): void {
  const publication = draft.publications[nodeId];
  for (const hold of publication ? holdsOf(publication) : [])
    draft.broadcasts.push({ type: 'hold', state: 'released', nodeId, ...hold, fenced });
}
