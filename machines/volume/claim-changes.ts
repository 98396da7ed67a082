/** Changes of the claims of a volume, and of its queue. Pure. Which claims exclude each other: claims.ts */
import { granted } from './claims.js';
import { claimBroadcast, type Draft, drafted } from './draft.js';
import { isLeaving } from './lifecycle.js';
import type { Claim, ClaimRequest, VolumeChange, VolumeContext } from './types.js';

/** Grants waiting claims, in order, as far as slots are free. */
export function grant(draft: Draft): void {
  if (isLeaving(draft.lifecycle) || draft.availability !== 'active' || draft.waiting.length === 0) return;
  const { claims, waiting, generation, taken } = granted(draft);
  draft.claims = claims;
  draft.waiting = waiting;
  draft.generation = generation;
  draft.broadcasts.push(...taken.map(claimBroadcast));
}

export const claim = (context: VolumeContext, asked: ClaimRequest): VolumeChange =>
  drafted(context, (draft) => {
    const isThere = [...draft.claims, ...draft.waiting].some(({ allocId }) => allocId === asked.allocId);
    if (isThere) return;
    draft.waiting = [...draft.waiting, asked];
    grant(draft);
    const waits = draft.waiting.find(({ allocId }) => allocId === asked.allocId);
    if (waits) draft.broadcasts.push({ type: 'claim', state: 'waiting', allocId: waits.allocId, nodeId: waits.nodeId });
  });

/** Ends the wait of an alloc. A claim that it has stays. */
export const unclaim = (context: VolumeContext, allocId: string): VolumeChange =>
  drafted(context, (draft) => {
    withdrawClaims(draft, (one) => one.allocId === allocId);
    grant(draft);
  });

/** Gives up waiting claims for a node that can't use the volume now, so that others need not wait behind them. */
export const withdrawWaiting = (context: VolumeContext, nodeId: string, reason: string): VolumeChange =>
  drafted(context, (draft) => {
    withdrawClaims(draft, (one) => one.nodeId === nodeId, reason);
    grant(draft);
  });

export function withdrawClaims(draft: Draft, isMeant: (request: ClaimRequest) => boolean, reason?: string): void {
  const withdrawn = draft.waiting.filter(isMeant);
  if (withdrawn.length === 0) return;
  draft.waiting = draft.waiting.filter((one) => !withdrawn.includes(one));
  const why = reason === undefined ? {} : { reason };
  for (const { allocId, nodeId } of withdrawn)
    draft.broadcasts.push({ type: 'claim', state: 'withdrawn', allocId, nodeId, ...why });
}

export function moveClaims(draft: Draft, claims: Claim[], state: Claim['state'], fenced?: string): void {
  const moved = (one: Claim): Claim => ({ ...one, state, ...(fenced !== undefined && { fenced }) });
  draft.claims = draft.claims.map((one) => (claims.includes(one) ? moved(one) : one));
  draft.broadcasts.push(...claims.map((one) => claimBroadcast(moved(one))));
}

/** Releases the claims of a node that nothing keeps there, though the volume stays. */
export function releaseDetached(draft: Draft, nodeId: string): void {
  const released = draft.claims.filter((one) => one.nodeId === nodeId && one.state === 'node-detached');
  draft.claims = draft.claims.filter((one) => !released.includes(one));
  draft.broadcasts.push(...released.map((one) => claimBroadcast({ ...one, state: 'released' })));
}

/** Releases the claims of a node that waited for the plugin to detach the volume. */
export function releaseWithNode(draft: Draft, nodeId: string): void {
  for (const one of draft.claims.filter((claim) => claim.nodeId === nodeId && claim.state === 'node-detached'))
    draft.broadcasts.push(
      claimBroadcast({ ...one, state: 'controller-detached' }),
      claimBroadcast({ ...one, state: 'released' }),
    );
  draft.claims = draft.claims.filter((one) => one.nodeId !== nodeId || one.state !== 'node-detached');
}

/** Whether claims for the node are waiting. */
export const hasWaiting = ({ waiting }: VolumeContext, nodeId: string): boolean =>
  waiting.some((one) => one.nodeId === nodeId);
