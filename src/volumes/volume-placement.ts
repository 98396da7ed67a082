/** Brings a volume to a node only where the node can have it. */
import { isLeaving } from '../../machines/volume/lifecycle.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { messageOf } from '../errors.js';
import type { NodeAdmission } from '../nodes/node-admission.js';
import type { NodeTarget } from '../nodes/node-port.js';
import { addressOf, checkTopology } from './volume-checks.js';

export interface VolumePlacementPorts {
  /** Through it goes whatever brings a volume to a node. */
  admission: Pick<NodeAdmission, 'within'>;
  /** Where a volume of this plugin would go. @throws StagecraftError naming the node or what it lacks */
  target(nodeId: string, plugin: string): NodeTarget;
}

/** Where a volume may go. */
export interface NodeRoom {
  /** What the plugin calls the node. */
  csiNodeId: string;
  /** Of its slot there; absent: it needs none. */
  reservation?: string;
}

export class VolumePlacement {
  readonly #ports: VolumePlacementPorts;

  constructor(ports: VolumePlacementPorts) {
    this.#ports = ports;
  }

  /** Does what brings a volume to a node, where the node can have it; `work` gets what the plugin calls the node, and its slot. */
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

  /** Why a claim waits no more that its own alloc did not withdraw, as far as that can be seen. */
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
