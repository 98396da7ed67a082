/** Admits volumes to nodes: checks the node, its free slots and the volume's topology before a claim or a publish. */
import { isLeaving } from '../../machines/volume/lifecycle.js';
import type { VolumeContext } from '../../machines/volume/types.js';
import { messageOf } from '../errors.js';
import type { NodeAdmission } from '../nodes/node-admission.js';
import type { NodeTarget } from '../nodes/node-port.js';
import { addressOf, checkTopology } from './volume-checks.js';

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
