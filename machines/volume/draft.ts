/** A change of a volume in the making: what it will be, and what is to be told of that. Pure. */
import { publicStateOf } from './publication.js';
import { slotReleases } from './slots.js';
import type { Change, Claim, Publication, Told, VolumeContext } from './types.js';

/** Its own to change: lists and publications are replaced, never changed. */
export type Draft = VolumeContext & { tells: Told[] };

export function drafted(before: VolumeContext, change: (draft: Draft) => void): Change {
  // What comes after so large a spread costs far more than what comes before it.
  const draft: Draft = { tells: [], ...before };
  draft.publications = { ...before.publications };
  change(draft);
  const { tells, ...context } = draft;
  if (!context.slots) return { context, tells };
  const { slots, messages } = slotReleases(before, context);
  return { context: { ...context, slots }, tells, messages };
}

/** Puts a publication in its place, and broadcasts its public state where that has changed. */
export function put(draft: Draft, nodeId: string, publication: Publication): void {
  const before = draft.publications[nodeId];
  draft.publications[nodeId] = publication;
  const { number, failure } = publication;
  const state = publicStateOf(publication);
  if (before?.number === number && publicStateOf(before) === state) return;
  draft.tells.push({ type: 'publication', nodeId, number, state, ...(failure && { failure }) });
}

/** What the plugin knows it by: without its id, by the name that it was to be made with. */
export const atPlugin = ({ csi, name }: VolumeContext): { csiId: string } | { name: string } =>
  csi ? { csiId: csi.id } : { name };

export const claimTold = ({ allocId, nodeId, generation, state, fenced }: Claim): Told => ({
  type: 'claim',
  allocId,
  nodeId,
  generation,
  state,
  ...(fenced !== undefined && { fenced }),
});
