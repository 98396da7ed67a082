/** What a plugin says of a volume by itself, as it lists all of its volumes, and what that makes of it. Pure. */

import { isIn } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import { claimBroadcast, type Draft, drafted, put } from './draft.js';
import { isKeptByHolds } from './modes.js';
import { publicationChart, publicStateOf } from './publication.js';
import { begin } from './publications.js';
import type { Change, Claim, Seen, VolumeContext, VolumeObservation } from './types.js';

/** What is believed of where it is attached: one entry for each publication. */
export const beliefOf = ({ uid, publications }: VolumeContext): string[] => [
  uid,
  ...Object.entries(publications).map(([nodeId, one]) => `${nodeId} ${one.number} ${publicStateOf(one)}`),
];

/**
 * Takes over what the plugin says, where what that was compared with is still believed: what is lost is published again,
 * what is to go anyway goes without its node's word, what is somewhere else, and nobody's there, is undone.
 */
export const observed = (
  context: VolumeContext,
  { believed, sighting }: { believed: string[]; sighting: VolumeObservation },
): Change =>
  drafted(context, (draft) => {
    if (isInCall(context, 'delete') || believed.join() !== beliefOf(context).join()) return;
    const seen = seenIn(context, sighting);
    if (!isSameData(seen, draft.sighting ?? { isMissing: false })) {
      draft.sighting = seen;
      draft.broadcasts.push({ type: 'seen', ...seen });
    }
    const { attached, strays = [] } = sighting;
    if (!attached) return;
    // What a call is under way for, its answer decides.
    const lost = isInCall(context) ? [] : takeLost(draft, attached);
    const undone = strays.filter((stray) => !draft.publications[stray.nodeId] && !isToStay(draft, stray));
    for (const { nodeId, csiNodeId } of undone) addStray(draft, nodeId, csiNodeId);
    if (lost.length + undone.length > 0)
      draft.broadcasts.push({ type: 'drifted', lost, strays: undone.map(({ nodeId }) => nodeId) });
  });

const isInCall = ({ work }: VolumeContext, kind = work?.kind): boolean =>
  work?.isCalling === true && work.kind === kind;

/** What is kept of a sighting of a volume. */
export function seenIn(context: VolumeContext, { isMissing, condition, strays = [] }: VolumeObservation): Seen {
  const held = strays.filter((stray) => isToStay(context, stray)).map(({ nodeId }) => nodeId);
  return { isMissing, ...(condition && { condition }), ...(held.length > 0 && { heldOn: held }) };
}

/**
 * Whether it is not undone by itself: it is claimed there, or the volume was taken over, and others may use it. A node that
 * has not reported that name, or no more, has it in its claims all the same.
 */
const isToStay = (
  { spec, claims }: Pick<VolumeContext, 'spec' | 'claims'>,
  { nodeId, csiNodeId }: { nodeId: string; csiNodeId: string },
): boolean =>
  spec?.external !== undefined || claims.some((claim) => claim.nodeId === nodeId || claim.csiNodeId === csiNodeId);

/**
 * Plugins may list what was so a while ago: what is to go is unpublished by a call all the same, what was published is
 * published again.
 * @returns the nodes where it should be, and is not
 */
function takeLost(draft: Draft, attached: string[]): string[] {
  const lost: string[] = [];
  for (const [nodeId, publication] of Object.entries(draft.publications)) {
    // Allocs that have the volume mounted without a claim stay: nobody asked them to leave.
    if (attached.includes(publication.csiNodeId) || isKeptByHolds(publication)) continue;
    const next = publicationChart.step(publication, { type: 'listed-as-detached' });
    if (next === publication) continue;
    if (isIn(publication, 'pending-node-unpublish')) detachClaims(draft, nodeId);
    if (publication.at === 'published') lost.push(nodeId);
    put(draft, nodeId, next);
  }
  return lost;
}

/** Nothing on that node can reach it any more: what the node would report is not waited for. Who claimed it since stays. */
function detachClaims(draft: Draft, nodeId: string): void {
  draft.claims = draft.claims.map((claim) => {
    if (claim.nodeId !== nodeId || claim.state !== 'unpublishing') return claim;
    const detached: Claim = { ...claim, state: 'node-detached', fenced: 'its plugin lists it as detached' };
    draft.broadcasts.push(claimBroadcast(detached));
    return detached;
  });
}

function addStray(draft: Draft, nodeId: string, csiNodeId: string): void {
  const [capability] = draft.spec?.capabilities ?? [];
  if (!capability) return;
  begin(draft, nodeId, { capability, readOnly: false, csiNodeId }, 'found-attached');
}
