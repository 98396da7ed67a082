/** Port to the node service of plugins. CSI stands behind it. */
import type { Bytes, Capability, CapacityRange } from '../../machines/kit/csi-types.js';
import type { CallBounds } from '../calls/call-bounds.js';

/** Paths are as the plugin sees them. Empty contexts are not sent. */
export interface StageRequest {
  csiId: string;
  stagingPath: string;
  capability: Capability;
  volumeContext: Record<string, string>;
  publishContext: Record<string, string>;
}

interface NodePublishRequest extends Omit<StageRequest, 'stagingPath'> {
  /** Absent: not staged. */
  stagingPath?: string;
  targetPath: string;
  readOnly: boolean;
}

/** A volume that is staged or published at `volumePath`. */
export interface VolumePlace {
  csiId: string;
  volumePath: string;
  stagingPath?: string;
}

export interface VolumeUsage {
  unit: 'bytes' | 'inodes';
  total: Bytes;
  used: Bytes;
  available: Bytes;
}

export interface NodeStats {
  usage: VolumeUsage[];
  /** Absent: the plugin does not say. */
  condition?: { abnormal: boolean; message: string };
}

/**
 * Each method makes one call with a dispensed client. They reject with a StagecraftError: CSI_ERROR with `rpc`, `grpcCode`,
 * `answerClass` and `final`, or what gave the call up. Requests say all that is to be sent: gates are for the caller.
 */
export interface NodePort {
  stage(client: unknown, request: StageRequest, bounds: CallBounds): Promise<void>;
  unstage(client: unknown, request: { csiId: string; stagingPath: string }, bounds: CallBounds): Promise<void>;
  publish(client: unknown, request: NodePublishRequest, bounds: CallBounds): Promise<void>;
  unpublish(client: unknown, request: { csiId: string; targetPath: string }, bounds: CallBounds): Promise<void>;
  expand(
    client: unknown,
    request: VolumePlace & { capacity: CapacityRange; capability: Capability },
    bounds: CallBounds,
  ): Promise<{ capacityBytes?: Bytes }>;
  stats(client: unknown, request: VolumePlace, bounds: { signal: AbortSignal }): Promise<NodeStats>;
}
