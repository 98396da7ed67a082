/**
 * The Node service: volumes staged and published on this host. Staging and publishing: node-stage.ts, node-publish.ts;
 * how that is done: node-access.ts; usage, condition, size: node-watch.ts
 */
import type { CsiHandlers } from '../csi/server.js';
import { topologyOf } from './identity.js';
import { publish, unpublish } from './node-publish.js';
import { stage, unstage } from './node-stage.js';
import { type NodePorts, NodeVolumes } from './node-volumes.js';
import { expand, stats } from './node-watch.js';
import type { DriverState } from './state.js';
import type { Measure } from './usage.js';

export interface NodeOptions extends NodePorts {
  measure: Measure;
  /** What NodeGetInfo answers; 0 is as many as anybody likes. */
  maxVolumesPerNode: number;
}

const capabilities = [
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
] as const;

export function nodeHandlers(state: DriverState, { measure, maxVolumesPerNode, ...ports }: NodeOptions): CsiHandlers {
  const volumes = new NodeVolumes(state, ports);
  return {
    NodeGetInfo: () => ({
      nodeId: state.nodeId,
      maxVolumesPerNode,
      accessibleTopology: topologyOf(state.nodeId),
    }),
    NodeGetCapabilities: () => ({ capabilities: capabilities.map((type) => ({ rpc: { type } })) }),
    NodeStageVolume: (request) => stage(volumes, request),
    NodeUnstageVolume: (request) => unstage(volumes, request),
    NodePublishVolume: (request) => publish(volumes, request),
    NodeUnpublishVolume: (request) => unpublish(volumes, request),
    NodeGetVolumeStats: (request) => stats(volumes, measure, request),
    NodeExpandVolume: (request) => expand(volumes, request),
  };
}
