/** Size of a volume, as far as it is known, and the node's part of an expansion. Pure. */
import type { Bytes, CapacityRange } from '../kit/csi-types.js';
import { isSameData } from '../kit/same-data.js';
import { drafted } from './draft.js';
import { mayBeThere } from './modes.js';
import type { NodeExpanded, VolumeChange, VolumeContext, VolumeSpec } from './types.js';

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

/**
 * Whether a node has to expand a new volume: it is made with the content of its source, and a file system keeps the
 * size that it had there.
 */
export const isLargerCopy = (
  { source, capacity: { requiredBytes }, capabilities }: VolumeSpec,
  sourceBytes: Bytes | undefined,
): boolean =>
  source !== undefined &&
  requiredBytes !== undefined &&
  (sourceBytes === undefined || isBelow(sourceBytes, requiredBytes)) &&
  capabilities.some(({ attachmentMode }) => attachmentMode === 'file-system');

/** Nodes that have the volume, as far as known. */
export const nodesWithIt = ({ publications }: VolumeContext): string[] =>
  Object.entries(publications).flatMap(([nodeId, publication]) => (mayBeThere(publication) ? [nodeId] : []));

/** Nodes that had the volume when it grew, have it still, and have not done their part. */
const unexpandedOn = (context: VolumeContext): string[] => {
  const present = nodesWithIt(context);
  return (context.unexpanded ?? []).filter((nodeId) => present.includes(nodeId));
};

/**
 * Size that a node has to expand the volume to; undefined if nothing is due. If all nodes that had the volume when it
 * grew have let go of it, the next node does it.
 */
export function nodeExpansionOf(context: VolumeContext, nodeId: string): CapacityRange | undefined {
  if (!context.nodeExpansion || !context.expandedTo) return undefined;
  const due = unexpandedOn(context);
  return due.length === 0 || due.includes(nodeId) ? context.expandedTo : undefined;
}

/** Changes nothing if that is not due any more: the volume was created anew, or has grown since. */
export const nodeExpanded = (
  context: VolumeContext,
  { nodeId, uid, capacity, capacityBytes }: NodeExpanded,
): VolumeChange =>
  drafted(context, (draft) => {
    const due = nodeExpansionOf(context, nodeId);
    if (!due || uid !== context.uid || !isSameData(due, capacity)) return;
    draft.unexpanded = unexpandedOn(context).filter((other) => other !== nodeId);
    draft.nodeExpansion = draft.unexpanded.length > 0;
    // A file system reports less than the size of its device.
    if (draft.csi && capacityBytes !== undefined && !isBelow(capacityBytes, sizeOf(context)))
      draft.csi = { ...draft.csi, capacityBytes };
    draft.broadcasts.push({
      type: 'node-expanded',
      nodeId,
      nodeExpansionRequired: draft.nodeExpansion,
      ...(capacityBytes !== undefined && { capacityBytes }),
    });
  });
