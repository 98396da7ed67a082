/** Listings of a plugin, and what they change in a volume. Pure. */

import { isIn } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import { claimBroadcast, type Draft, drafted, put } from './draft.js';
import { isKeptByHolds } from './modes.js';
import { publicationChart, publicStateOf } from './publication.js';
import { begin } from './publications.js';
import type { Claim, KeptObservation, Stray, VolumeChange, VolumeContext, VolumeObservation } from './types.js';

/** Publications of the record, one entry each, to be compared with a later listing. */
export const beliefOf = ({ uid, publications }: VolumeContext): string[] => [
  uid,
  ...Object.entries(publications).map(([nodeId, one]) => `${nodeId} ${one.number} ${publicStateOf(one)}`),
];

/**
 * Applies a listing if the record has not changed since: a lost publication is published again; one that is to go
 * goes without its node's report; an attachment that nobody asked for is undone.
 */
export const observed = (
  context: VolumeContext,
  { believed, sighting }: { believed: string[]; sighting: VolumeObservation },
): VolumeChange =>
  drafted(context, (draft) => {
    if (isInCall(context, 'delete') || believed.join() !== beliefOf(context).join()) return;
    const seen = seenIn(context, sighting);
    if (!isSameData(seen, draft.sighting ?? { isMissing: false })) {
      draft.sighting = seen;
      draft.broadcasts.push({ type: 'seen', ...seen });
    }
    const { attached, strays = [] } = sighting;
    if (!attached) return;
    // The answer of a call under way decides about its publication.
    const lost = isInCall(context) ? [] : takeLost(draft, attached);
    const undone = strays.filter(
      (stray) => !draft.publications[stray.nodeId] && !isToStay(draft, stray) && !stray.isUnknown,
    );
    for (const stray of undone) addStray(draft, stray);
    if (lost.length + undone.length > 0)
      draft.broadcasts.push({ type: 'drifted', lost, strays: undone.map(({ nodeId }) => nodeId) });
  });

const isInCall = ({ work }: VolumeContext, kind = work?.kind): boolean =>
  work?.isCalling === true && work.kind === kind;

/** Returns the part of a listing that the volume keeps. */
export function seenIn(
  context: VolumeContext,
  { isMissing, condition, strays = [] }: VolumeObservation,
): KeptObservation {
  const held = strays.filter((stray) => isToStay(context, stray)).map(({ nodeId }) => nodeId);
  const others = strays.filter((stray) => stray.isUnknown && !isToStay(context, stray));
  return {
    isMissing,
    ...(condition && { condition }),
    ...(held.length > 0 && { heldOn: held }),
    ...(others.length > 0 && { attachedElsewhere: others.map(({ csiNodeId }) => csiNodeId) }),
  };
}

/**
 * Whether an attachment stays: the volume is claimed there, or no call has made it, so that others may use it. A node that
 * has not reported its name keeps its claims all the same.
 */
const isToStay = (
  { spec, origin, claims }: Pick<VolumeContext, 'spec' | 'origin' | 'claims'>,
  { nodeId, csiNodeId }: Stray,
): boolean =>
  spec?.external !== undefined ||
  origin === 'found' ||
  claims.some((claim) => claim.nodeId === nodeId || claim.csiNodeId === csiNodeId);

/**
 * Detaches the volume from a machine that is not among the nodes, as somebody has asked for that.
 * @returns whether it was listed there
 */
export function detachElsewhere(draft: Draft, csiNodeId: string): boolean {
  const { sighting, publications } = draft;
  if (publications[csiNodeId] || !sighting?.attachedElsewhere?.includes(csiNodeId)) return false;
  const { attachedElsewhere, ...seen } = sighting;
  const left = attachedElsewhere.filter((one) => one !== csiNodeId);
  draft.sighting = { ...seen, ...(left.length > 0 && { attachedElsewhere: left }) };
  addStray(draft, { nodeId: csiNodeId, csiNodeId });
  return true;
}

/**
 * Finds lost publications. A list may be old: so a publication that is to go is unpublished by a call all the same,
 * and a published one is published again.
 * @returns nodes where the volume should be and is not
 */
function takeLost(draft: Draft, attached: string[]): string[] {
  const lost: string[] = [];
  for (const [nodeId, publication] of Object.entries(draft.publications)) {
    // Allocs that have mounted the volume without a claim stay: nobody asked them to leave.
    if (attached.includes(publication.csiNodeId) || isKeptByHolds(publication)) continue;
    const next = publicationChart.step(publication, { type: 'listed-as-detached' });
    if (next === publication) continue;
    if (isIn(publication, 'pending-node-unpublish')) detachClaims(draft, nodeId);
    if (publication.at === 'published') lost.push(nodeId);
    put(draft, nodeId, next);
  }
  return lost;
}

/** Ends the wait for the node's report: nothing there can reach the volume any more. A later claim stays. */
function detachClaims(draft: Draft, nodeId: string): void {
  draft.claims = draft.claims.map((claim) => {
    if (claim.nodeId !== nodeId || claim.state !== 'unpublishing') return claim;
    const detached: Claim = { ...claim, state: 'node-detached', fenced: 'its plugin lists it as detached' };
    draft.broadcasts.push(claimBroadcast(detached));
    return detached;
  });
}

function addStray(draft: Draft, { nodeId, csiNodeId }: Stray): void {
  const [capability] = draft.spec?.capabilities ?? [];
  if (!capability) return;
  begin(draft, nodeId, { capability, readOnly: false, csiNodeId, attachedBy: 'call' }, 'found-attached');
}
