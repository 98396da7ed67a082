/** A change of a volume in the making: what it will be, and what is to be told of that. Pure. */
import { publicStateOf } from './publication.js';
import { slotReleases } from './slots.js';
import type { Change, Claim, Publication, VolumeBroadcast, VolumeContext } from './types.js';

/** Its own to change: lists and publications are replaced, never changed. */
export type Draft = VolumeContext & { broadcasts: VolumeBroadcast[] };

export function drafted(before: VolumeContext, change: (draft: Draft) => void): Change {
  // What comes after so large a spread costs far more than what comes before it.
  const draft: Draft = { broadcasts: [], ...before };
  draft.publications = { ...before.publications };
  change(draft);
  const { broadcasts, ...context } = draft;
  if (!context.slots) return { context, broadcasts };
  const { slots, messages } = slotReleases(before, context);
  return { context: { ...context, slots }, broadcasts, messages };
}

/** Puts a publication in its place, and broadcasts its public state where that has changed. */
export function put(draft: Draft, nodeId: string, publication: Publication): void {
  const before = draft.publications[nodeId];
  draft.publications[nodeId] = publication;
  const { number, failure } = publication;
  const state = publicStateOf(publication);
  if (before?.number === number && publicStateOf(before) === state) return;
  draft.broadcasts.push({ type: 'publication', nodeId, number, state, ...(failure && { failure }) });
}

/** What the plugin knows it by: without its id, by the name that it was to be made with. */
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
