/** Which publications of a volume may be there at the same time, by their access modes. Pure. */
import type { Capability } from '../kit/csi-types.js';
import { isIn, topState } from '../kit/parts.js';
import type { Publication, VolumeContext } from './types.js';
import type { Hold, PublishWish } from './wishes.js';

type Use = Pick<PublishWish, 'capability' | 'readOnly'>;

/** Whether the one on its node and the other on another can't be. */
export function excludes(one: Use, other: Use): boolean {
  const mode = one.capability.accessMode;
  const otherMode = other.capability.accessMode;
  if (mode !== otherMode || mode.startsWith('single-node')) return true;
  return mode === 'multi-node-single-writer' && !one.readOnly && !other.readOnly;
}

/** Whether it is there for all that is known, or may come: of one that failed, only where its state says so. */
export const mayBeThere = ({ at }: Publication): boolean => at !== 'failed.refused';

/** Whether its node was given what it takes to stage it, and nobody has asked the node to let go of it yet. */
export const isInUse = (publication: Publication): boolean =>
  publication.at === 'published' || publication.at === 'failed.was-published' || isIn(publication, 'republishing');

/** Whether its node was given what it takes to stage it, and may have it staged. */
export const isHandedOut = (publication: Publication): boolean =>
  isInUse(publication) || isIn(publication, 'pending-node-unpublish');

/** Of allocs that its node may have it mounted for without a claim. It is not detached from there before they let go. */
export const holdsOf = (publication: Publication): Hold[] =>
  isHandedOut(publication) ? (publication.holds ?? []) : [];

/**
 * Whether it stays there for allocs without a claim, and goes with the last of those. An alloc that mounts it meanwhile joins
 * them: to wait for another publication would be to wait for itself, where it has a hold already.
 */
export const isKeptByHolds = (publication: Publication): boolean =>
  isIn(publication, 'pending-node-unpublish') && holdsOf(publication).length > 0;

export const holdersOf = (publication: Publication): string[] => holdsOf(publication).map(({ allocId }) => allocId);

const wantedStates = ['published', 'pending-publish', 'in-doubt', 'republishing'];

/** The use that is wanted on its node; undefined where it is on its way out, or has failed. */
export const wishOf = (publication: Publication): PublishWish | undefined =>
  publication.next ?? (wantedStates.includes(topState(publication)) ? publication : undefined);

/** How it is published where nobody says: as it is wanted there already, else as it is claimed there, else in the first way. */
export function usualCapability({ spec, claims, publications }: VolumeContext, nodeId: string): Capability {
  const present = publications[nodeId];
  const claim = claims.find((one) => one.state === 'taken' && one.nodeId === nodeId);
  const offered = spec?.capabilities ?? [];
  const usual = (present && wishOf(present)?.capability) ?? offered.find((one) => !claim || isOfModes(one, claim));
  if (!usual) throw new Error('it was made for no use at all');
  return usual;
}

type Modes = Pick<Capability, 'accessMode' | 'attachmentMode'>;

export const isOfModes = (one: Modes, { accessMode, attachmentMode }: Modes): boolean =>
  one.accessMode === accessMode && one.attachmentMode === attachmentMode;
