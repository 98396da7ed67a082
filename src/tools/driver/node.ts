/**
 * The Node service: volumes staged and published on this host. Staging and publishing: node-stage-publish.ts; how
 * that is done: node-access.ts; usage, condition, size: node-watch.ts
 */
import type { CsiHandlers } from '../../csi/server.js';
import { runner } from './commands.js';
import { topologyOf } from './identity.js';
import { hostLoopDevices } from './loop-devices.js';
import { hostMounts } from './mounts.js';
import { publish, stage, unpublish, unstage } from './node-stage-publish.js';
import { type NodePorts, NodeVolumes } from './node-volumes.js';
import { expand, stats } from './node-watch.js';
import type { DriverState } from './state.js';
import { patientMeter, usageMeter } from './usage.js';

export interface NodeOptions extends Partial<NodePorts> {
  /** Answer of NodeGetInfo; default 0: any number. */
  maxVolumesPerNode?: number | undefined;
  /** Whether the controller publishes volumes to nodes; only then its publications count. */
  attach?: boolean;
}

/** Limit of one tool that the driver runs. */
const toolTimeoutMs = 30_000;
/** Limit of a wait for usage: callers of stats have a deadline of their own. */
const usagePatienceMs = 5_000;

const capabilities = [
  'STAGE_UNSTAGE_VOLUME',
  'GET_VOLUME_STATS',
  'EXPAND_VOLUME',
  'VOLUME_CONDITION',
  'SINGLE_NODE_MULTI_WRITER',
] as const;

/** @param lockFile lock of the data directory: see RunOptions */
export function nodeHandlers(
  state: DriverState,
  lockFile: number,
  { maxVolumesPerNode = 0, attach = false, mounts, loopDevices }: NodeOptions = {},
): CsiHandlers {
  const run = runner({ timeoutMs: toolTimeoutMs, lockFile });
  // The tool changes nothing: a driver that starts need not wait for it.
  const measure = patientMeter(usageMeter(runner({ diesWithDriver: true })), usagePatienceMs);
  const volumes = new NodeVolumes(state, {
    attach,
    mounts: mounts ?? hostMounts(run),
    loopDevices: loopDevices ?? hostLoopDevices(run),
  });
  return {
    NodeGetInfo: () => ({
      nodeId: state.nodeId,
      maxVolumesPerNode,
      ...(!state.isShared && { accessibleTopology: topologyOf(state.nodeId) }),
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
