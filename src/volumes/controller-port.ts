/**
 * Port for the calls of a plugin's controller service. Requests and answers are Stagecraft's types, not CSI's messages.
 */
import type { Bytes, Capability, CapacityRange, Segments } from '../../machines/kit/csi-types.js';
import type { CreateAnswer, VolumeSpec } from '../../machines/volume/types.js';
import type { ExpandAnswer, PublishAnswer } from '../../machines/volume/wishes.js';
import type { CallBounds } from '../calls/call-bounds.js';

interface PublishRequest {
  csiId: string;
  csiNodeId: string;
  capability: Capability;
  readOnly: boolean;
  volumeContext: Record<string, string>;
}

export interface ListedVolume {
  csiId: string;
  publishedNodeIds?: string[];
  condition?: { abnormal: boolean; message: string };
}

/** Page of a list: the first one has an empty token. */
export interface ListRequest {
  startingToken: string;
  /** Default: as many as the plugin likes. */
  maxEntries?: number;
}

/** `nextToken` is empty after the last page. */
export interface ListedPage {
  volumes: ListedVolume[];
  nextToken: string;
  /** Entries that are not as CSI wants them, with the reason of the first one. */
  leftOut?: { count: number; why: string };
}

/**
 * Calls of a controller service. Each method makes one call with the given client, and sends all of its request: the caller
 * checks capabilities first.
 * @throws {StagecraftError} CSI_ERROR with `rpc`, `grpcCode`, `answerClass` and `final`; or the reason why the call was aborted
 */
export interface ControllerPort {
  createVolume(
    client: unknown,
    request: { name: string; spec: VolumeSpec; withTopology: boolean },
    bounds: CallBounds,
  ): Promise<CreateAnswer>;
  /** Resolves with the plugin's objection; undefined if the plugin confirms the volume. */
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
  /** Lists one page of volumes. @throws {StagecraftError} also of the class `start-over`: the plugin forgot the token */
  listVolumes(client: unknown, page: ListRequest, bounds: { signal: AbortSignal }): Promise<ListedPage>;
  getCapacity(
    client: unknown,
    request: { capability?: Capability; parameters?: Record<string, string>; segments?: Segments },
    bounds: { signal: AbortSignal },
  ): Promise<{ availableBytes: Bytes; maximumVolumeBytes?: Bytes; minimumVolumeBytes?: Bytes }>;
}
