/** Growing a volume, as its callers ask for it and get to know of it. The request: `VolumeManager.expand` */
import { z } from 'zod';
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { isCovered } from '../../machines/volume/requests.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { bytesSchema } from '../requests/fields.js';
import { bytesIn } from './volume-view.js';

export const expandSchema = z
  .strictObject({ requiredBytes: bytesSchema, limitBytes: bytesSchema.optional() })
  .refine(
    ({ requiredBytes, limitBytes }) => limitBytes === undefined || BigInt(requiredBytes) <= BigInt(limitBytes),
    'must have a limitBytes that is not below requiredBytes',
  );

/** In bytes; above 2⁵³−1 as bigint. */
export type ExpandRequest = z.input<typeof expandSchema>;

export interface Expanded {
  /** Above 2⁵³−1 a bigint. Absent: the plugin does not say. */
  capacityBytes?: number | bigint;
  /** The node's part of it is still to be done. */
  nodeExpansionRequired: boolean;
}

/** Whether the controller side has done its part of this, or of more. */
export const isExpanded = (context: VolumeContext, capacity: CapacityRange): boolean =>
  isCovered(context, capacity) || BigInt(context.expandedTo?.requiredBytes ?? 0) >= BigInt(capacity.requiredBytes ?? 0);

export const expandedOf = ({ csi, nodeExpansion }: VolumeContext): Expanded => ({
  nodeExpansionRequired: nodeExpansion,
  ...(csi?.capacityBytes !== undefined && { capacityBytes: bytesIn(csi.capacityBytes) }),
});
