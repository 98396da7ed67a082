/** Claims of a volume: the slots that its access modes give, the queue for them, and how both change. Pure. */
import type { AccessMode } from '../kit/csi-types.js';
import { claimBroadcast, type Draft, drafted } from './draft.js';
import { isLeaving } from './lifecycle.js';
import { notMadeFor } from './modes.js';
import type { Claim, ClaimAndPublish, ClaimRequest, PublishRequest, VolumeChange, VolumeContext } from './types.js';

/** Limits of each access mode. A claim that only reads has the mode `read`. */
interface Slots {
  /** All claims together. */
  claims: number;
  writers: number;
  nodes: number;
}

const any = Number.POSITIVE_INFINITY;

const slots: Record<AccessMode, Slots> = {
  'single-node-writer': { claims: 1, writers: 1, nodes: 1 },
  'single-node-reader-only': { claims: 1, writers: 0, nodes: 1 },
  'single-node-single-writer': { claims: 1, writers: 1, nodes: 1 },
  'single-node-multi-writer': { claims: any, writers: any, nodes: 1 },
  'multi-node-reader-only': { claims: any, writers: 0, nodes: any },
  'multi-node-single-writer': { claims: any, writers: 1, nodes: any },
  'multi-node-multi-writer': { claims: any, writers: any, nodes: any },
};

/** Whether the access mode allows no writer. */
export const isReadOnly = (mode: AccessMode): boolean => slots[mode].writers === 0;

export const describeClaim = ({ allocId, nodeId, mode, accessMode, state }: Claim): string =>
  `alloc ${allocId} on node ${nodeId} (${mode}, ${accessMode}, ${state})`;

/** Whether a claim asks for the same as another one. */
export const isSameClaim = (one: ClaimRequest, other: Omit<ClaimRequest, 'csiNodeId'>): boolean =>
  one.allocId === other.allocId &&
  one.nodeId === other.nodeId &&
  one.mode === other.mode &&
  one.accessMode === other.accessMode &&
  one.attachmentMode === other.attachmentMode;

/** Reason why such a claim can never be granted; undefined: it can. */
export const neverGranted = (
  { spec }: Pick<VolumeContext, 'spec'>,
  { mode, ...modes }: Pick<ClaimRequest, 'mode' | 'accessMode' | 'attachmentMode'>,
): string | undefined =>
  mode === 'write' && isReadOnly(modes.accessMode)
    ? `${modes.accessMode} has no writers: claim it for reading`
    : notMadeFor(spec?.capabilities ?? [], modes);

/** Reason why a claim can't be granted now, naming the claims in its way; undefined if it can. */
export function conflictOf(claims: Claim[], asked: ClaimRequest): string | undefined {
  const [first] = claims;
  if (!first) return undefined;
  const holders = (those: Claim[]): string => those.map(describeClaim).join(', ');
  // Set by the first claim, free again after the last.
  if (first.accessMode !== asked.accessMode || first.attachmentMode !== asked.attachmentMode)
    return `it is claimed as ${first.attachmentMode}, ${first.accessMode}, by ${holders(claims)}`;
  const { claims: most, writers, nodes } = slots[asked.accessMode];
  if (claims.length >= most) return `it is claimed by ${holders(claims)}`;
  const elsewhere = claims.filter(({ nodeId }) => nodeId !== asked.nodeId);
  if (nodes === 1 && elsewhere.length > 0) return `it is claimed on another node, by ${holders(elsewhere)}`;
  const writing = claims.filter(({ mode }) => mode === 'write');
  if (asked.mode === 'write' && writing.length >= writers) return `it is claimed for writing, by ${holders(writing)}`;
  return undefined;
}

/** Claims after those that wait and can be granted were added, in the order of the queue: none overtakes. */
function granted(context: Pick<VolumeContext, 'claims' | 'waiting' | 'generation'>): {
  claims: Claim[];
  waiting: ClaimRequest[];
  generation: number;
  taken: Claim[];
} {
  let { claims, generation } = context;
  const waiting = [...context.waiting];
  const taken: Claim[] = [];
  for (let next = waiting[0]; next && !conflictOf(claims, next); next = waiting[0]) {
    waiting.shift();
    generation += 1;
    const claim: Claim = { ...next, generation, state: 'taken' };
    taken.push(claim);
    claims = [...claims, claim];
  }
  return { claims, waiting, generation, taken };
}

/** Request to publish a volume for a granted claim. */
export function publishOf(
  { claims }: Pick<VolumeContext, 'claims'>,
  { claim, capability, readOnly, reservation }: ClaimAndPublish,
): PublishRequest {
  const { allocId, nodeId, csiNodeId } = claim;
  const { generation } = claims.find((one) => isSameClaim(one, claim)) ?? { generation: 0 };
  const slot = reservation === undefined ? {} : { reservation };
  return { nodeId, csiNodeId, capability, readOnly, claim: { allocId, generation }, ...slot };
}

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
