/** The node's part of an expansion: where it is due, and what its being done makes of a volume. Pure. */
import type { CapacityRange } from '../kit/csi-types.js';
import { isSameData } from '../kit/same-data.js';
import { drafted } from './draft.js';
import { mayBeThere } from './modes.js';
import { isBelow, sizeOf } from './requests.js';
import type { Change, NodeExpanded, VolumeContext } from './types.js';

/** Nodes that have it, for all that is known. */
export const nodesWithIt = ({ publications }: VolumeContext): string[] =>
  Object.entries(publications).flatMap(([nodeId, publication]) => (mayBeThere(publication) ? [nodeId] : []));

/** Those that had it as it grew, have it still, and have not done their part. */
const unexpandedOn = (context: VolumeContext): string[] => {
  const present = nodesWithIt(context);
  return (context.unexpanded ?? []).filter((nodeId) => present.includes(nodeId));
};

/**
 * To which size a node has to expand what it has of the volume; undefined where it need not. Where all that had it as it grew
 * have let go of it, that is for the next one, whichever it is.
 */
export function nodeExpansionOf(context: VolumeContext, nodeId: string): CapacityRange | undefined {
  if (!context.nodeExpansion || !context.expandedTo) return undefined;
  const due = unexpandedOn(context);
  return due.length === 0 || due.includes(nodeId) ? context.expandedTo : undefined;
}

/** Nothing where that is not due, or no more: it was made anew, or has grown since. */
export const nodeExpanded = (context: VolumeContext, { nodeId, uid, capacity, capacityBytes }: NodeExpanded): Change =>
  drafted(context, (draft) => {
    const due = nodeExpansionOf(context, nodeId);
    if (!due || uid !== context.uid || !isSameData(due, capacity)) return;
    draft.unexpanded = unexpandedOn(context).filter((other) => other !== nodeId);
    draft.nodeExpansion = draft.unexpanded.length > 0;
    // A file system tells less than what it is on has.
    if (draft.csi && capacityBytes !== undefined && !isBelow(capacityBytes, sizeOf(context)))
      draft.csi = { ...draft.csi, capacityBytes };
    draft.broadcasts.push({
      type: 'node-expanded',
      nodeId,
      nodeExpansionRequired: draft.nodeExpansion,
      ...(capacityBytes !== undefined && { capacityBytes }),
    });
  });
