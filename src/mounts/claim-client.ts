/**
 * The way from a node to whoever has the volumes: claims go through it. In process by default (local-claims.ts); an agent may
 * send them to its servers. Every method may be asked again, and is then the same. They reject with a StagecraftError.
 */
import type { Bytes, Capability, CapacityRange, SecretRef } from '../../machines/csi-types.js';
import type { ClaimRequest, VolumeKey } from '../../machines/volume-types.js';

/** What a node has to know of a volume before anything is asked for it. */
export interface KnownVolume {
  /** Of this very volume: one that is made anew under its key has another. */
  uid: string;
  /** The plugin's registered name. */
  plugin: string;
  /** In which ways it can be used. */
  capabilities: Capability[];
  /** By what the plugin calls them; resolved on the node, when a call is made. */
  secrets: Record<string, SecretRef>;
  /** The node's part of an expansion to this size is due. */
  expansion?: CapacityRange;
}

/** One that is published to the node. Ids and contexts are the plugin's, verbatim. */
export interface PublishedVolume extends KnownVolume {
  csiId: string;
  volumeContext: Record<string, string>;
  /** Empty where the plugin gives none. */
  publishContext: Record<string, string>;
}

export type SlotRequest = Omit<ClaimRequest, 'csiNodeId'>;

export interface ClaimWait {
  /** The request is given up; what was taken stays until it is released. */
  signal: AbortSignal;
}

export interface ClaimClient {
  /** @throws StagecraftError VOLUME_NOT_FOUND */
  look(key: VolumeKey, wait: ClaimWait): Promise<KnownVolume>;
  /** Takes a slot for an alloc. @throws StagecraftError CLAIM_CONFLICT naming who has it; as `runtime.volumes.claim` */
  claim(key: VolumeKey, request: SlotRequest, wait: ClaimWait): Promise<{ generation: number }>;
  /** Has it published to the node: resolves when the controller side has done its part. */
  publish(
    key: VolumeKey,
    request: Pick<Capability, 'accessMode' | 'attachmentMode'> & { nodeId: string; readOnly: boolean },
    wait: ClaimWait,
  ): Promise<PublishedVolume>;
  /**
   * The workload of the alloc has stopped: its slot is kept until the node has let go.
   * @returns the generation of its claim, to be reported then; absent: it has none
   */
  release(key: VolumeKey, request: { allocId: string }, wait: ClaimWait): Promise<{ generation?: number }>;
  /** The node has let go of what this claim has used. Resolves when the slot is free. */
  unstaged(
    key: VolumeKey,
    request: { nodeId: string; allocId: string; generation: number },
    wait: ClaimWait,
  ): Promise<void>;
  /** The node's part of an expansion is done. */
  expanded(key: VolumeKey, request: { nodeId: string; capacityBytes?: Bytes }, wait: ClaimWait): Promise<void>;
}
