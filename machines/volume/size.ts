/** Size of a volume, as far as it is known. Pure. */
import type { Bytes, CapacityRange } from '../kit/csi-types.js';
import type { VolumeContext } from './types.js';

/** Data that the size follows from. */
type Sized = Pick<VolumeContext, 'csi' | 'expandedTo' | 'spec'>;

export const isBelow = (bytes: Bytes | undefined, other: Bytes | undefined): boolean =>
  bytes !== undefined && other !== undefined && BigInt(bytes) < BigInt(other);

/**
 * Size by the plugin's last answer. If it did not say: the size that was asked for last and granted. Undefined: unknown,
 * as of a volume that was taken over.
 */
export const sizeOf = ({ csi, expandedTo, spec }: Sized): Bytes | undefined =>
  csi?.capacityBytes ?? expandedTo?.requiredBytes ?? (spec?.external ? undefined : spec?.capacity.requiredBytes);

/** Whether the volume is as large as asked already. */
export const isCovered = (context: Sized, { requiredBytes }: CapacityRange): boolean => {
  const has = sizeOf(context);
  return has !== undefined && !isBelow(has, requiredBytes);
};
