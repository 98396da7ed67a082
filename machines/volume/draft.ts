/** A change of a volume in the making: its next record and its broadcasts. Pure. */
import { publicStateOf } from './publication.js';
import { slotReleases } from './slots.js';
import type { Change, Claim, Publication, VolumeBroadcast, VolumeContext } from './types.js';

/** A draft may be changed. Lists and publications are replaced, never changed. */
export type Draft = VolumeContext & { broadcasts: VolumeBroadcast[] };

export function drafted(before: VolumeContext, change: (draft: Draft) => void): Change {
  // Assignments after so large a spread cost far more than before it.
  const draft: Draft = { broadcasts: [], ...before };
  draft.publications = { ...before.publications };
  change(draft);
  const { broadcasts, ...context } = draft;
  if (!context.slots) return { context, broadcasts };
  const { slots, messages } = slotReleases(before, context);
  return { context: { ...context, slots }, broadcasts, messages };
}

/** Puts a publication in its place, and broadcasts its public state if that has changed. */
export function put(draft: Draft, nodeId: string, publication: Publication): void {
  const before = draft.publications[nodeId];
  draft.publications[nodeId] = publication;
  const { number, failure } = publication;
  const state = publicStateOf(publication);
  if (before?.number === number && publicStateOf(before) === state) return;
  draft.broadcasts.push({ type: 'publication', nodeId, number, state, ...(failure && { failure }) });
}

/** The plugin's name of the volume: its id, or else the name that it was to be made with. */
export const atPlugin = ({ csi, name }: VolumeContext): { csiId: string } | { name: string } =>
  csi ? { csiId: csi.id } : { name };

export const claimBroadcast = ({ allocId, nodeId, generation, state, fenced }: Claim): VolumeBroadcast => ({
  type: 'claim',
  allocId,
  nodeId,
  generation,
  state,
  ...(fenced !== undefined && { fenced }),
});
