/** Agents on one Redis, some of them processes of their own, and one driver on a real socket for all of them. */

import type { Logger } from '../../src/engine/logger.js';
import type { AllocVolumeRequest } from '../../src/mounts/mount-spec.js';
import type { NodeReport } from '../../src/nodes/node-manager.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { topologyOf } from '../../src/tools/driver/identity.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';

export interface VolumesChildOptions {
  url: string;
  nodeId: string;
  dataDir: string;
  socketPath: string;
  /** Where the driver listens that is this node's own; default: it has none. */
  nodeSocketPath?: string;
  /** Where volumes can be published. */
  nodes: string[];
}

export type ChildSaid =
  | { kind: 'open' }
  | { kind: 'elected'; nodeId: string }
  | { kind: 'asked'; what: string; id: string }
  | { kind: 'told'; what: string; id: string; how: string; atMs: number }
  | { kind: 'lost'; code: string };

export const volumeOf = (id: string): VolumeSpec => ({
  id,
  plugin: 'disk',
  capabilities: [{ accessMode: 'single-node-writer', attachmentMode: 'file-system' }],
});

/** A volume in the request of an alloc. */
export const allocVolume = (id: string): AllocVolumeRequest => ({
  ...{ name: id, volume: { id }, mode: 'write', taskPath: `/${id}` },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
});

/** What a node that sees the driver's storage reports. */
export const reportOf = (id: string): NodeReport => ({
  id,
  plugins: [{ name: 'disk', nodeId: id, topology: topologyOf('node-1').segments }],
});

/** A runtime with the driver registered and seen well. */
export async function openLeader({
  url,
  nodeId,
  dataDir,
  socketPath,
  nodeSocketPath,
  logger,
}: VolumesChildOptions & { logger: Logger }): Promise<Runtime> {
  const store = redisStore(url);
  const retry = { initialMs: 5, maxMs: 50 };
  const runtime = await createRuntime({ nodeId, dataDir, store, logger, retry, calls: { timeoutMs: 5_000 } });
  const connection = { socketPath };
  await runtime.plugins.register({ type: 'csi-controller', name: 'disk', allocId: 'disk-1', connection });
  await runtime.plugins.waitFor('csi-controller', 'disk');
  if (nodeSocketPath === undefined) return runtime;
  const node = { socketPath: nodeSocketPath };
  await runtime.plugins.register({ type: 'csi-node', name: 'disk', allocId: 'disk-node-1', connection: node });
  return runtime;
}
