/** Publications that can be there at the same time, by their access modes. Pure. */
import type { Capability } from '../kit/csi-types.js';
import { isIn, topState } from '../kit/parts.js';
import type { Publication, VolumeContext } from './types.js';
import type { Hold, PublishWish } from './wishes.js';

type Use = Pick<PublishWish, 'capability' | 'readOnly'>;

/** Whether two publications on different nodes exclude each other. */
export function excludes(one: Use, other: Use): boolean {
  const mode = one.capability.accessMode;
  const otherMode = other.capability.accessMode;
  if (mode !== otherMode || mode.startsWith('single-node')) return true;
  return mode === 'multi-node-single-writer' && !one.readOnly && !other.readOnly;
}

/** Whether the publication is there, or may come. A failed one only if its state says so. */
export const mayBeThere = ({ at }: Publication): boolean => at !== 'failed.refused';

/** Whether the node was given what it needs to stage the volume, and was not asked to let go of it. */
export const isInUse = (publication: Publication): boolean =>
  publication.at === 'published' || publication.at === 'failed.was-published' || isIn(publication, 'republishing');

/** Whether the node was given what it needs to stage the volume, and may have it staged. */
const isHandedOut = (publication: Publication): boolean =>
  isInUse(publication) || isIn(publication, 'pending-node-unpublish');

/**
 * Holds of the allocs that the node may have mounted the volume for without a claim. The volume is not detached
 * before they let go.
 */
export const holdsOf = (publication: Publication): Hold[] =>
  isHandedOut(publication) ? (publication.holds ?? []) : [];

/**
 * Whether the publication stays for allocs without a claim, and goes with the last of them. An alloc that mounts
 * meanwhile joins them: waiting for another publication would be waiting for itself, if it has a hold already.
 */
export const isKeptByHolds = (publication: Publication): boolean =>
  isIn(publication, 'pending-node-unpublish') && holdsOf(publication).length > 0;

export const holdersOf = (publication: Publication): string[] => holdsOf(publication).map(({ allocId }) => allocId);

const wantedStates = ['published', 'pending-publish', 'in-doubt', 'republishing'];

/** Wanted use on the node; undefined if the publication leaves, or has failed. */
export const wishOf = (publication: Publication): PublishWish | undefined =>
  publication.next ?? (wantedStates.includes(topState(publication)) ? publication : undefined);

/**
 * Capability to publish with if the request names none: as wanted already, else as claimed there, else the first of
 * the spec.
 */
export function usualCapability({ spec, claims, publications }: VolumeContext, nodeId: string): Capability {
  const present = publications[nodeId];
  const claim = claims.find((one) => one.state === 'taken' && one.nodeId === nodeId);
  const usual = (present && wishOf(present)?.capability) ?? defaultCapability(spec?.capabilities ?? [], claim);
  if (!usual) throw new Error('it was made for no use at all');
  return usual;
}

type Modes = Pick<Capability, 'accessMode' | 'attachmentMode'>;
type GivenModes = { [Mode in keyof Modes]?: Modes[Mode] | undefined };

export const isOfModes = (one: Modes, { accessMode, attachmentMode }: Modes): boolean =>
  one.accessMode === accessMode && one.attachmentMode === attachmentMode;

/** Default of every use that leaves out modes: the first of what the volume was made for that has the modes given. */
export const defaultCapability = <One extends Modes>(
  offered: readonly One[],
  given: GivenModes = {},
): One | undefined =>
  offered.find(
    (one) =>
      (given.accessMode ?? one.accessMode) === one.accessMode &&
      (given.attachmentMode ?? one.attachmentMode) === one.attachmentMode,
  );

const describeModes = ({ accessMode, attachmentMode }: Modes): string => `${attachmentMode}, ${accessMode}`;

/** Reason why a volume that was made for these uses can never be used so; undefined: it can. */
export function notMadeFor(offered: readonly Modes[], asked: Modes): string | undefined {
  if (offered.some((one) => isOfModes(one, asked))) return undefined;
  const has = offered.map(describeModes).join(' or ');
  return `it was not made for ${describeModes(asked)}, but for ${has}: ask for one of these`;
}
