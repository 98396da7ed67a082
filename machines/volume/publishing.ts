/** Requests to publish a volume on a node, and to unpublish it. Pure. Which are refused: requests.ts */
import { claim, grant, releaseDetached } from './claim-changes.js';
import { publishOf } from './claims.js';
import { type Draft, drafted } from './draft.js';
import { detachElsewhere } from './listing.js';
import { isKeptByHolds, usualCapability, wishOf } from './modes.js';
import { begin, step, withdraw } from './publications.js';
import { isSameWish } from './requests.js';
import { keepSlot } from './slots.js';
import type { ClaimAndPublish, Publication, PublishRequest, VolumeChange, VolumeContext } from './types.js';
import type { Hold, PublishWish, QueuedWish } from './wishes.js';
import { underWay } from './work.js';

export const publish = (
  context: VolumeContext,
  {
    nodeId,
    capability = usualCapability(context, nodeId),
    readOnly,
    csiNodeId,
    hold,
    claim,
    reservation,
  }: PublishRequest,
): VolumeChange =>
  drafted(context, (draft) => {
    if (reservation !== undefined) draft.slots = keepSlot(draft, nodeId, reservation);
    const wish = { capability, readOnly, csiNodeId };
    const present = draft.publications[nodeId];
    if (present && hold !== undefined && isSame(present, wish) && isKeptByHolds(present)) {
      draft.publications[nodeId] = withHold(draft, present, hold);
      return;
    }
    if (!present) begin(draft, nodeId, wish);
    else if (isReplaceable(present, wish)) replace(draft, nodeId, present, wish);
    else publishAgain(draft, nodeId, wish);
    if (hold !== undefined) addHold(draft, nodeId, hold);
    if (hold !== undefined || claim) markByAgent(draft, nodeId);
  });

/** Does both requests, one after the other. */
export function claimAndPublish(context: VolumeContext, request: ClaimAndPublish): VolumeChange {
  const claimed = claim(context, request.claim);
  const after = { ...context, ...claimed.context };
  const published = publish(after, publishOf(after, request));
  const broadcasts = [...(claimed.broadcasts ?? []), ...(published.broadcasts ?? [])];
  const messages = [...(claimed.messages ?? []), ...(published.messages ?? [])];
  return { context: { ...claimed.context, ...published.context }, broadcasts, messages };
}

const isSame = (present: Publication, wish: PublishWish): boolean =>
  isSameWish(present, wish) && present.csiNodeId === wish.csiNodeId;

/** Whether a failed publication left nothing on the node, and may be replaced. */
const isReplaceable = (present: Publication, wish: PublishWish): boolean =>
  (present.at === 'failed.refused' || (present.at === 'failed.was-published' && !present.mayStillArrive)) &&
  !isSame(present, wish);

function replace(draft: Draft, nodeId: string, present: Publication, wish: PublishWish): void {
  const { at, holds, isByAgent, attachedBy } = present;
  const kept = { ...wish, ...(holds && { holds }), ...(isByAgent && { isByAgent }), ...(attachedBy && { attachedBy }) };
  begin(draft, nodeId, kept, at === 'failed.was-published' ? 'wanted-again' : 'wanted');
}

function publishAgain(draft: Draft, nodeId: string, wish: PublishWish): void {
  step(draft, nodeId, { type: 'publish', wish, underWay: underWay(draft, nodeId) });
  const now = draft.publications[nodeId];
  if (!now || now.at === 'published' || now.next || !wishOf(now)) return;
  // The publication stays: claims that were to leave with it have nothing left to wait for.
  releaseDetached(draft, nodeId);
  grant(draft);
}

/**
 * Marks a request of an agent on the node, which is told when it has to unmount. A publication that comes next has
 * its own mark.
 */
function markByAgent(draft: Draft, nodeId: string): void {
  const publication = draft.publications[nodeId];
  if (!publication) return;
  const { next } = publication;
  draft.publications[nodeId] = next
    ? { ...publication, next: { ...next, isByAgent: true } }
    : { ...publication, isByAgent: true };
}

/** Adds a hold to the publication, or to the next one if the present one leaves. */
function addHold(draft: Draft, nodeId: string, allocId: string): void {
  const publication = draft.publications[nodeId];
  if (!publication) return;
  const { next } = publication;
  draft.publications[nodeId] = next
    ? { ...publication, next: withHold(draft, next, allocId) }
    : withHold(draft, publication, allocId);
}

function withHold<T extends QueuedWish>(draft: Draft, wish: T, allocId: string): T {
  draft.generation += 1;
  const hold: Hold = { allocId, generation: draft.generation };
  return { ...wish, holds: [...(wish.holds ?? []).filter((one) => one.allocId !== allocId), hold] };
}

export const unpublish = (context: VolumeContext, nodeId: string): VolumeChange =>
  drafted(context, (draft) => {
    if (detachElsewhere(draft, nodeId)) return;
    step(draft, nodeId, { type: 'wish.dropped' });
    withdraw(draft, nodeId);
  });
