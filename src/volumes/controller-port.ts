/** What the controller side asks of plugins, in the words of the house: the port behind which CSI stands. */
import type { Bytes, Capability, CapacityRange, Segments } from '../../machines/kit/csi-types.js';
import type { CreateAnswer, VolumeSpec } from '../../machines/volume/types.js';
import type { ExpandAnswer, PublishAnswer } from '../../machines/volume/wishes.js';
import type { CallBounds } from '../calls/call-bounds.js';

export interface PublishRequest {
  csiId: string;
  csiNodeId: string;
  capability: Capability;
  readOnly: boolean;
  volumeContext: Record<string, string>;
}

export interface ListedVolume {
  csiId: string;
  capacityBytes?: Bytes;
  /** CSI node ids. Absent: the plugin does not say. */
  publishedNodeIds?: string[];
  /** Absent: the plugin does not say. */
  condition?: { abnormal: boolean; message: string };
}

/**
 * Each method makes one call with a dispensed client. They reject with a StagecraftError: CSI_ERROR with `rpc`, `grpcCode`,
 * `answerClass` and `final`, or what gave the call up. Requests say all that is to be sent: gates are for the caller.
 */
export interface ControllerPort {
  createVolume(
    client: unknown,
    request: { name: string; spec: VolumeSpec; withTopology: boolean },
    bounds: CallBounds,
  ): Promise<CreateAnswer>;
  /** Resolves with what the plugin has against it; undefined where it confirms all. */
  validateVolume(
    client: unknown,
    request: { csiId: string; spec: VolumeSpec },
    bounds: CallBounds,
  ): Promise<string | undefined>;
  deleteVolume(client: unknown, request: { csiId: string }, bounds: CallBounds): Promise<void>;
  controllerPublish(client: unknown, request: PublishRequest, bounds: CallBounds): Promise<PublishAnswer>;
  controllerUnpublish(
    client: unknown,
    request: { csiId: string; csiNodeId: string },
    bounds: CallBounds,
  ): Promise<void>;
  controllerExpand(
    client: unknown,
    request: { csiId: string; capacity: CapacityRange; capability?: Capability },
    bounds: CallBounds,
  ): Promise<ExpandAnswer>;
  controllerModify(
    client: unknown,
    request: { csiId: string; mutableParameters: Record<string, string> },
    bounds: CallBounds,
  ): Promise<void>;
  listVolumes(client: unknown, bounds: { signal: AbortSignal }): AsyncIterable<ListedVolume>;
  getCapacity(
    client: unknown,
    request: { capability?: Capability; parameters?: Record<string, string>; segments?: Segments },
    bounds: { signal: AbortSignal },
  ): Promise<{ availableBytes: Bytes; maximumVolumeBytes?: Bytes; minimumVolumeBytes?: Bytes }>;
}
