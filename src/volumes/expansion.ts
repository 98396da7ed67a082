/** Shapes of the request to expand a volume and of its result. See `VolumeManager.expand` */
import { z } from 'zod';
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { isCovered } from '../../machines/volume/size.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { bytesSchema } from '../requests/fields.js';
import { bytesIn } from './volume-view.js';

export const expandSchema = z
  .strictObject({ requiredBytes: bytesSchema, limitBytes: bytesSchema.optional() })
  .refine(
    ({ requiredBytes, limitBytes }) => limitBytes === undefined || BigInt(requiredBytes) <= BigInt(limitBytes),
    'must have a limitBytes that is not below requiredBytes',
  );

/** Sizes in bytes; above 2⁵³−1 as bigint. */
export type ExpandRequest = z.input<typeof expandSchema>;

export interface Expanded {
  /** Size in bytes; above 2⁵³−1 a bigint. Absent if the plugin does not report it. */
  capacityBytes?: number | bigint;
  /** Whether the node has yet to expand the volume (NodeExpandVolume). */
  nodeExpansionRequired: boolean;
}

/** Whether the controller has expanded the volume to this size or more. */
export const isExpanded = (context: VolumeContext, capacity: CapacityRange): boolean =>
  isCovered(context, capacity) || BigInt(context.expandedTo?.requiredBytes ?? 0) >= BigInt(capacity.requiredBytes ?? 0);

export const expandedOf = ({ csi, nodeExpansion }: VolumeContext): Expanded => ({
  nodeExpansionRequired: nodeExpansion,
  ...(csi?.capacityBytes !== undefined && { capacityBytes: bytesIn(csi.capacityBytes) }),
});
