/**
 * Calls a CSI plugin: every RPC, plain data in and out. Knows neither policy (retries, gates, health) nor state.
 * How a call is made: calls.ts. What its answer means: answers.ts. Shapes: generated/plain.ts, with sizes in bytes.
 */

import { PluginConnection } from './channel.js';
import type { Given } from './codec.js';
import { type CallOptions, CsiCalls, type EndedCall } from './csi-calls.js';
import type * as plain from './generated/plain.js';

export interface CsiClientOptions {
  /** Absolute, at most 107 bytes. */
  socketPath: string;
  /** Deadline of a call; default 30 s. */
  timeoutMs?: number;
  /** Deadline of a call to the Node service; default 60 s, or `timeoutMs` if that is longer. */
  nodeTimeoutMs?: number;
  /** Called when a call has ended, however that was. */
  onEnd?: (call: EndedCall) => void;
}

/** Answer to NodeGetInfo. */
export interface NodeInfo {
  nodeId: string;
  /** 0: no limit. Larger values become 2⁵³−1. */
  maxVolumesPerNode: number;
  topology?: Record<string, string>;
}

const defaultTimeoutMs = 30_000;
/** Some drivers take 30 s to answer for a busy mount. */
const defaultNodeTimeoutMs = 60_000;

/**
 * One user of one plugin's socket. Connects with the first call, and again whenever the socket was replaced.
 * Requests and answers have the fields of the specification; of a request, whatever is empty may be left out.
 * Every method rejects with a {@link StagecraftError}: CSI_ERROR (`rpc`, `grpcCode`, `answerClass`, `final`) for what
 * the plugin or its socket answered, its text without the secrets of the request; the code of `signal.reason`, or
 * ABORTED, when given up; ABORTED once the client is closed. After any but a final error the call may have taken
 * effect, or may still. A request that is none is a TypeError that names the field; one above 64 MiB is not sent, and
 * that error is final.
 * @see CSI specification, RPC by RPC
 */
export class CsiClient {
  readonly #connection: PluginConnection;
  readonly #calls: CsiCalls;

  /** @throws {StagecraftError} INVALID_ARGUMENT: no possible path of a socket */
  constructor({ socketPath, timeoutMs = defaultTimeoutMs, nodeTimeoutMs, onEnd }: CsiClientOptions) {
    this.#connection = new PluginConnection(socketPath);
    const nodeLimitMs = nodeTimeoutMs ?? Math.max(timeoutMs, defaultNodeTimeoutMs);
    this.#calls = new CsiCalls(this.#connection, { timeoutMs, nodeTimeoutMs: nodeLimitMs }, { onEnd });
  }

  getPluginInfo(options?: CallOptions): Promise<plain.GetPluginInfoResponse> {
    return this.#calls.unary('GetPluginInfo', {}, options);
  }

  /** e.g. `CONTROLLER_SERVICE`, `VOLUME_EXPANSION_ONLINE`; sorted, without those that this version doesn't know. */
  async getPluginCapabilities(options?: CallOptions): Promise<string[]> {
    const { capabilities } = await this.#calls.unary('GetPluginCapabilities', {}, options);
    const expansions = known(capabilities.map(({ volumeExpansion }) => volumeExpansion?.type));
    return [
      ...known(capabilities.map(({ service }) => service?.type)),
      ...expansions.map((name) => `VOLUME_EXPANSION_${name}`),
    ];
  }

  /** `ready` is false while the plugin initialises. A plugin that does not say is ready. */
  async probe(options?: CallOptions): Promise<{ ready: boolean }> {
    const { ready = true } = await this.#calls.unary('Probe', {}, options);
    return { ready };
  }

  createVolume(request: Given<plain.CreateVolumeRequest>, options?: CallOptions): Promise<plain.CreateVolumeResponse> {
    return this.#calls.unary('CreateVolume', request, options);
  }

  async deleteVolume(request: Given<plain.DeleteVolumeRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('DeleteVolume', request, options);
  }

  controllerPublishVolume(
    request: Given<plain.ControllerPublishVolumeRequest>,
    options?: CallOptions,
  ): Promise<plain.ControllerPublishVolumeResponse> {
    return this.#calls.unary('ControllerPublishVolume', request, options);
  }

  /** An empty node id: from all nodes. */
  async controllerUnpublishVolume(
    request: Given<plain.ControllerUnpublishVolumeRequest>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#calls.unary('ControllerUnpublishVolume', request, options);
  }

  /** The confirmed part may be less than the request: compare. */
  validateVolumeCapabilities(
    request: Given<plain.ValidateVolumeCapabilitiesRequest>,
    options?: CallOptions,
  ): Promise<plain.ValidateVolumeCapabilitiesResponse> {
    return this.#calls.unary('ValidateVolumeCapabilities', request, options);
  }

  /** Reads one page, without entries outside of CSI's limits; `nextToken` is empty after the last page. */
  listVolumes(
    request: Given<plain.ListVolumesRequest> = {},
    options?: CallOptions,
  ): Promise<plain.ListVolumesResponse> {
    return this.#calls.unary('ListVolumes', request, options);
  }

  getCapacity(
    request: Given<plain.GetCapacityRequest> = {},
    options?: CallOptions,
  ): Promise<plain.GetCapacityResponse> {
    return this.#calls.unary('GetCapacity', request, options);
  }

  /** e.g. `CREATE_DELETE_VOLUME`; sorted, without those that this version doesn't know. */
  async controllerGetCapabilities(options?: CallOptions): Promise<string[]> {
    const { capabilities } = await this.#calls.unary('ControllerGetCapabilities', {}, options);
    return known(capabilities.map(({ rpc }) => rpc?.type));
  }

  /** Repeat the same call until `readyToUse`. */
  createSnapshot(
    request: Given<plain.CreateSnapshotRequest>,
    options?: CallOptions,
  ): Promise<plain.CreateSnapshotResponse> {
    return this.#calls.unary('CreateSnapshot', request, options);
  }

  async deleteSnapshot(request: Given<plain.DeleteSnapshotRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('DeleteSnapshot', request, options);
  }

  /** Reads one page, without entries outside of CSI's limits; `nextToken` is empty after the last page. */
  listSnapshots(
    request: Given<plain.ListSnapshotsRequest> = {},
    options?: CallOptions,
  ): Promise<plain.ListSnapshotsResponse> {
    return this.#calls.unary('ListSnapshots', request, options);
  }

  getSnapshot(request: Given<plain.GetSnapshotRequest>, options?: CallOptions): Promise<plain.GetSnapshotResponse> {
    return this.#calls.unary('GetSnapshot', request, options);
  }

  /** With `nodeExpansionRequired`, NodeExpandVolume must follow. */
  controllerExpandVolume(
    request: Given<plain.ControllerExpandVolumeRequest>,
    options?: CallOptions,
  ): Promise<plain.ControllerExpandVolumeResponse> {
    return this.#calls.unary('ControllerExpandVolume', request, options);
  }

  controllerGetVolume(
    request: Given<plain.ControllerGetVolumeRequest>,
    options?: CallOptions,
  ): Promise<plain.ControllerGetVolumeResponse> {
    return this.#calls.unary('ControllerGetVolume', request, options);
  }

  async controllerModifyVolume(
    request: Given<plain.ControllerModifyVolumeRequest>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#calls.unary('ControllerModifyVolume', request, options);
  }

  /** e.g. `CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT`; sorted, without those that this version doesn't know. */
  async groupControllerGetCapabilities(options?: CallOptions): Promise<string[]> {
    const { capabilities } = await this.#calls.unary('GroupControllerGetCapabilities', {}, options);
    return known(capabilities.map(({ rpc }) => rpc?.type));
  }

  /** Repeat the same call until `readyToUse`. */
  createVolumeGroupSnapshot(
    request: Given<plain.CreateVolumeGroupSnapshotRequest>,
    options?: CallOptions,
  ): Promise<plain.CreateVolumeGroupSnapshotResponse> {
    return this.#calls.unary('CreateVolumeGroupSnapshot', request, options);
  }

  async deleteVolumeGroupSnapshot(
    request: Given<plain.DeleteVolumeGroupSnapshotRequest>,
    options?: CallOptions,
  ): Promise<void> {
    await this.#calls.unary('DeleteVolumeGroupSnapshot', request, options);
  }

  getVolumeGroupSnapshot(
    request: Given<plain.GetVolumeGroupSnapshotRequest>,
    options?: CallOptions,
  ): Promise<plain.GetVolumeGroupSnapshotResponse> {
    return this.#calls.unary('GetVolumeGroupSnapshot', request, options);
  }

  /** The blocks of a snapshot that hold data; the deadline is that of the whole stream. */
  getMetadataAllocated(
    request: Given<plain.GetMetadataAllocatedRequest>,
    options?: CallOptions,
  ): AsyncGenerator<plain.GetMetadataAllocatedResponse, void> {
    return this.#calls.stream('GetMetadataAllocated', request, options);
  }

  /** The blocks that differ between two snapshots of one volume; the deadline is that of the whole stream. */
  getMetadataDelta(
    request: Given<plain.GetMetadataDeltaRequest>,
    options?: CallOptions,
  ): AsyncGenerator<plain.GetMetadataDeltaResponse, void> {
    return this.#calls.stream('GetMetadataDelta', request, options);
  }

  async nodeStageVolume(request: Given<plain.NodeStageVolumeRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('NodeStageVolume', request, options);
  }

  async nodeUnstageVolume(request: Given<plain.NodeUnstageVolumeRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('NodeUnstageVolume', request, options);
  }

  async nodePublishVolume(request: Given<plain.NodePublishVolumeRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('NodePublishVolume', request, options);
  }

  async nodeUnpublishVolume(request: Given<plain.NodeUnpublishVolumeRequest>, options?: CallOptions): Promise<void> {
    await this.#calls.unary('NodeUnpublishVolume', request, options);
  }

  nodeGetVolumeStats(
    request: Given<plain.NodeGetVolumeStatsRequest>,
    options?: CallOptions,
  ): Promise<plain.NodeGetVolumeStatsResponse> {
    return this.#calls.unary('NodeGetVolumeStats', request, options);
  }

  nodeExpandVolume(
    request: Given<plain.NodeExpandVolumeRequest>,
    options?: CallOptions,
  ): Promise<plain.NodeExpandVolumeResponse> {
    return this.#calls.unary('NodeExpandVolume', request, options);
  }

  /** e.g. `STAGE_UNSTAGE_VOLUME`; sorted, without those that this version doesn't know. */
  async nodeGetCapabilities(options?: CallOptions): Promise<string[]> {
    const { capabilities } = await this.#calls.unary('NodeGetCapabilities', {}, options);
    return known(capabilities.map(({ rpc }) => rpc?.type));
  }

  async nodeGetInfo(options?: CallOptions): Promise<NodeInfo> {
    const { nodeId, maxVolumesPerNode, accessibleTopology } = await this.#calls.unary('NodeGetInfo', {}, options);
    return {
      nodeId,
      maxVolumesPerNode: Math.min(Number(maxVolumesPerNode), Number.MAX_SAFE_INTEGER),
      ...(accessibleTopology && { topology: accessibleTopology.segments }),
    };
  }

  /**
   * Calls back each time the plugin ends an established connection, e.g. by dying, or another client in this process
   * finds its socket replaced; the answer ends that.
   */
  onDisconnect(lost: () => void): () => void {
    return this.#connection.onLost(lost);
  }

  /**
   * Refuses new calls with ABORTED, and lets those in flight end; streams too, which end when their reader leaves them.
   * Resolves when the last one has ended and the client is closed: as soon as the signal is aborted, as `close()` does.
   */
  drain(signal: AbortSignal): Promise<void> {
    return this.#calls.drain(signal);
  }

  /** Ends calls under way and refuses new ones, all with ABORTED. The channel closes with its last user. */
  close(): void {
    this.#calls.close();
  }
}

/** Sorted, each once, without unknown values and `UNKNOWN`. */
function known(names: Array<string | undefined>): string[] {
  const isKnown = (name: string | undefined): name is string =>
    name !== undefined && name !== 'UNKNOWN' && !/^-?\d+$/.test(name);
  return [...new Set(names.filter(isKnown))].sort();
}
