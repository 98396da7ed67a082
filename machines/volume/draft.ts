/** A change of a volume in the making: its next record and its broadcasts. Pure. */
import { publicStateOf } from './publication.js';
import { slotReleases } from './slots.js';
import type { Claim, Publication, VolumeBroadcast, VolumeChange, VolumeContext } from './types.js';
import { nameWithPlugin } from './words.js';

/** A draft may be changed. Lists and publications are replaced, never changed. */
export type Draft = VolumeContext & { broadcasts: VolumeBroadcast[] };

export function drafted(before: VolumeContext, change: (draft: Draft) => void): VolumeChange {
  const draft = draftOf(before);
  change(draft);
  const { broadcasts } = draft;
  const context = changesOf(before, draft, 'broadcasts');
  if (!draft.slots) return { context, broadcasts };
  const { slots, messages } = slotReleases(before, draft);
  context.slots = slots;
  return { context, broadcasts, messages };
}

/** Writes all keys out: V8 makes such an object twenty times as fast as one of a spread and a further key. */
const draftOf = (before: VolumeContext): Draft =>
  ({
    key: before.key,
    uid: before.uid,
    name: before.name,
    spec: before.spec,
    csi: before.csi,
    origin: before.origin,
    lifecycle: before.lifecycle,
    publications: { ...before.publications },
    slots: before.slots,
    claims: before.claims,
    waiting: before.waiting,
    generation: before.generation,
    publicationNumber: before.publicationNumber,
    availability: before.availability,
    expansion: before.expansion,
    expandedTo: before.expandedTo,
    nodeExpansion: before.nodeExpansion,
    unexpanded: before.unexpanded,
    modification: before.modification,
    modifiedTo: before.modifiedTo,
    leftovers: before.leftovers,
    driver: before.driver,
    home: before.home,
    askedOn: before.askedOn,
    topology: before.topology,
    sighting: before.sighting,
    work: before.work,
    awaiting: before.awaiting,
    broadcasts: [],
  }) satisfies { [Key in keyof Required<Draft>]: Draft[Key] };

/** Puts a publication in its place, and broadcasts its public state if that has changed. */
export function put(draft: Draft, nodeId: string, publication: Publication): void {
  const before = draft.publications[nodeId];
  draft.publications[nodeId] = publication;
  const { number, failure } = publication;
  const state = publicStateOf(publication);
  if (before?.number === number && publicStateOf(before) === state) return;
  const broadcast: VolumeBroadcast = { type: 'publication', nodeId, number, state };
  if (failure) broadcast.failure = failure;
  draft.broadcasts.push(broadcast);
}

/** The plugin's name of the volume: its id, or else the name that it was to be made with. */
export const atPlugin = (context: VolumeContext): { csiId: string } | { name: string } =>
  context.csi ? { csiId: context.csi.id } : { name: nameWithPlugin(context) };

export const claimBroadcast = ({ allocId, nodeId, generation, state, fenced }: Claim): VolumeBroadcast => ({
  type: 'claim',
  allocId,
  nodeId,
  generation,
  state,
  ...(fenced !== undefined && { fenced }),
});

/** Returns the properties of `after` that differ from `before`, except one. */
function changesOf<T extends object>(before: T, after: T, except?: string): Partial<T>;
function changesOf(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  except?: string,
): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const key in after) if (after[key] !== before[key] && key !== except) changes[key] = after[key];
  return changes;
}
