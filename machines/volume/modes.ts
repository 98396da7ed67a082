/** Which publications of a volume may be there at the same time, by their access modes. Pure. */
import type { Capability } from '../kit/csi-types.js';
import type { Hold, Publication, PublishWish, VolumeContext } from './types.js';

type Use = Pick<PublishWish, 'capability' | 'readOnly'>;

/** Whether the one on its node and the other on another can't be. */
export function excludes(one: Use, other: Use): boolean {
  const mode = one.capability.accessMode;
  const otherMode = other.capability.accessMode;
  if (mode !== otherMode || mode.startsWith('single-node')) return true;
  return mode === 'multi-node-single-writer' && !one.readOnly && !other.readOnly;
}

/** Whether the call that failed, or one before it, may have left it there. */
export const isUndecided = ({ failure, inDoubt }: Publication): boolean =>
  failure?.in === 'unpublish' || inDoubt === true;

/**
 * Whether it is there for all that is known, or may come: of one that failed, only where that says so. One that was
 * published, and could not be once more, was not listed there; that alone is no proof.
 */
export const mayBeThere = (publication: Publication): boolean =>
  publication.state !== 'failed' || isUndecided(publication) || publication.drifted === true;

/** Whether its node was given what it takes to stage it, and may have it staged. */
export const isHandedOut = ({ state, drifted }: Publication): boolean =>
  state === 'published' || state === 'pending-node-unpublish' || drifted === true;

/** Of allocs that its node may have it mounted for without a claim. It is not detached from there before they let go. */
export const holdsOf = (publication: Publication): Hold[] =>
  isHandedOut(publication) ? (publication.holds ?? []) : [];

/**
 * Whether it stays there for allocs without a claim, and goes with the last of those. An alloc that mounts it meanwhile joins
 * them: to wait for another publication would be to wait for itself, where it has a hold already.
 */
export const isKeptByHolds = (publication: Publication): boolean =>
  publication.state === 'pending-node-unpublish' && holdsOf(publication).length > 0;

export const holdersOf = (publication: Publication): string[] => holdsOf(publication).map(({ allocId }) => allocId);

/** What is wanted on its node; undefined where it is on its way out, or has failed. */
export function wishOf(publication: Publication): PublishWish | undefined {
  const { state, undoneAfter, next } = publication;
  if (next) return next;
  const isWanted = state === 'published' || (state === 'pending-publish' && undoneAfter === undefined);
  return isWanted ? publication : undefined;
}

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
