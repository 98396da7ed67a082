/** What may go wrong with a volume of an alloc: which errors mean what, and what they say of it. */
import type { AllocVolume } from '../../machines/alloc/types.js';
import { nameOf } from '../../machines/volume/requests.js';
import { StagecraftError } from '../errors.js';

/** Somebody else has the slot. */
export const isConflict = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === 'CLAIM_CONFLICT';

/** Errors that every further try would meet, unless somebody changes something. */
export const isFinal = (error: unknown): boolean => error instanceof StagecraftError && error.final === true;

/** The runtime ends: the next one goes on. */
export const isClosing = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === 'RUNTIME_CLOSED';

const claimLostCode = 'CLAIM_LOST';

/** The claim is somebody else's, or nobody's, by now. */
export const isClaimLost = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === claimLostCode;

/** @param volume of which the alloc has lost its claim */
export const claimLost = ({ volume }: AllocVolume, allocId: string): StagecraftError => {
  const why = 'its node was taken for lost, somebody released it by hand, or the volume was deleted with force';
  const message = `${nameOf(volume)}: the claim of alloc ${allocId} was given up: ${why}. The volume may be in use elsewhere: it is unmounted here`;
  return new StagecraftError(claimLostCode, message, { final: true });
};

/** The error, with the name of the volume that it is of. */
export function named({ name, volume }: AllocVolume, error: unknown): unknown {
  if (!(error instanceof StagecraftError)) return error;
  const { code, message, cause, ...details } = error;
  const text = message.includes(nameOf(volume)) ? `'${name}': ${message}` : `'${name}', ${nameOf(volume)}: ${message}`;
  return new StagecraftError(code, text, { ...details, cause });
}
