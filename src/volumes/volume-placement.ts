/** Admits volumes to nodes: checks the node, its free slots and the volume's topology before a claim or a publish. */
import type { Segments } from '../../machines/kit/csi-types.js';
import { isLeaving } from '../../machines/volume/lifecycle.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeAdmission, NodeTarget } from '../nodes/node-admission.js';
import { addressOf } from './volume-checks.js';

export interface VolumePlacementPorts {
  admission: Pick<NodeAdmission, 'within'>;
  /** Returns the plugin's data of a node. @throws StagecraftError names the node or what it lacks */
  target(nodeId: string, plugin: string): NodeTarget;
}

export interface NodeRoom {
  /** CSI node id at the volume's plugin. */
  csiNodeId: string;
  /** Id of the reserved slot; absent if the volume needs none. */
  reservation?: string;
}

export class VolumePlacement {
  readonly #ports: VolumePlacementPorts;

  constructor(ports: VolumePlacementPorts) {
    this.#ports = ports;
  }

  /** Runs `work`, a claim or a publish, if the node can have the volume. */
  within(
    context: VolumeContext,
    { nodeId, takesRoom, limit }: { nodeId: string; takesRoom: boolean; limit?: AbortSignal | undefined },
    work: (to: NodeRoom) => Promise<void>,
  ): Promise<void> {
    const plugin = context.spec?.plugin ?? '';
    const admission = { address: addressOf(context.key), nodeId, plugin, takesRoom, limit };
    return this.#ports.admission.within(admission, async ({ target, reservation }) => {
      checkTopology(context, nodeId, target);
      await work({ csiNodeId: target.csiNodeId, ...(reservation !== undefined && { reservation }) });
    });
  }

  /** Explains why a queued claim is gone that its alloc did not withdraw; empty if no reason is visible. */
  whyWithdrawn({ lifecycle, spec }: VolumeContext, nodeId: string): string {
    if (isLeaving(lifecycle)) return ': the volume is being deleted';
    try {
      this.#ports.target(nodeId, spec?.plugin ?? '');
      return '';
    } catch (error) {
      return `: ${messageOf(error)}`;
    }
  }
}

/** @throws StagecraftError NODE_UNFIT: the volume is not accessible from the node's topology */
function checkTopology({ csi }: VolumeContext, nodeId: string, { topology }: NodeTarget): void {
  if (!csi || isAccessibleFrom(topology, csi.accessibleTopology)) return;
  const where = csi.accessibleTopology.map((segments) => JSON.stringify(segments)).join(' or ');
  const message = `node ${nodeId} is at ${JSON.stringify(topology ?? {})}, but the volume can be used at ${where} only`;
  throw new StagecraftError('NODE_UNFIT', message, { final: true });
}

/** Whether the node has all segments of one of the topologies. Keys are compared without case. */
export function isAccessibleFrom(node: Segments | undefined, accessible: Segments[]): boolean {
  if (accessible.length === 0) return true;
  const own = new Map(Object.entries(node ?? {}).map(([key, value]) => [key.toLowerCase(), value]));
  return accessible.some((segments) =>
    Object.entries(segments).every(([key, value]) => own.get(key.toLowerCase()) === value),
  );
}
