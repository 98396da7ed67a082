/**
 * The way from a node to whoever has the volumes: claims go through it. In process by default (local-claims.ts); an agent may
 * send them to its servers. Every method may be asked again, and is then the same. They reject with a StagecraftError.
 */
import type { Capability, CapacityRange, SecretRef } from '../../machines/kit/csi-types.js';
import type { ClaimRequest, HoldReleased, NodeExpanded } from '../../machines/volume/types.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import type { Telling } from '../requests/await-options.js';

/** What a node has to know of a volume before anything is asked for it. */
export interface KnownVolume {
  /** Of this very volume: one that is made anew under its key has another. */
  uid: string;
  /** The plugin's registered name. */
  plugin: string;
  /** The own name of the driver that made it: no other is called for it. Absent: not known. */
  driver?: string;
  /** In which ways it can be used. */
  capabilities: Capability[];
  /** By what the plugin calls them; resolved on the node, when a call is made. */
  secrets: Record<string, SecretRef>;
  /** This node's part of an expansion to this size is due: handed back as it is once that is done. */
  expansion?: CapacityRange;
  /** Allocs that it is kept attached to this node for without a claim. Absent: none. */
  holds?: Hold[];
}

/** One that is published to the node. Ids and contexts are the plugin's, verbatim. */
export interface PublishedVolume extends KnownVolume {
  csiId: string;
  volumeContext: Record<string, string>;
  /** Empty where the plugin gives none. */
  publishContext: Record<string, string>;
  /** Generation of the hold that was asked for. */
  hold?: number;
}

export type SlotRequest = Omit<ClaimRequest, 'csiNodeId'>;

export interface ClaimWait extends Telling {
  /** The request is given up; what was taken stays until it is released. */
  signal: AbortSignal;
}

export interface ClaimClient {
  /** One that is not created yet is known, too. @throws StagecraftError VOLUME_NOT_FOUND */
  look(key: VolumeKey, request: { nodeId: string }, wait: ClaimWait): Promise<KnownVolume>;
  /**
   * Takes a slot for an alloc; the same alloc again has the same.
   * @throws StagecraftError CLAIM_CONFLICT naming who has it; INVALID_ARGUMENT: it can't be used so at all; as
   *   `runtime.volumes.claim`
   */
  claim(key: VolumeKey, request: SlotRequest, wait: ClaimWait): Promise<{ generation: number }>;
  /**
   * Takes a slot for an alloc, and has the volume published to the node for it, in one request: `claim`, then `publish`, with a
   * commit less. Optional: without it, and where it rejects, both are asked for one after the other.
   * @param request as for `claim`; `readOnly`: as for `publish`
   * @param wait `claimed`: to be called once the slot is taken, before it resolves, with the generation of the claim
   */
  claimAndPublish?(
    key: VolumeKey,
    request: SlotRequest & { readOnly: boolean },
    wait: ClaimWait & { claimed(generation: number): void },
  ): Promise<PublishedVolume>;
  /**
   * Whether an alloc has this very claim still, not released: a node that comes back after it was fenced asks that before it
   * does anything with the volume. False also where there is no such volume.
   */
  holds(key: VolumeKey, request: { allocId: string; generation: number }, wait: ClaimWait): Promise<boolean>;
  /**
   * Has it published to the node: resolves when the controller side has done its part.
   * @param request `readOnly`: reading is enough. Where it is published to the node for writing already, that is taken as it
   *   is: that nobody writes there who is not to, is for the node
   *   `claim`: the one that it is for; without that it is not published
   *   `hold`: the alloc that it is to be mounted for without a claim. From then on it is not detached from the node until
   *   `holdReleased` has said that this alloc let go, or the node is fenced. Each request has a higher generation
   * @throws StagecraftError VOLUME_IN_USE naming what is in the way; CLAIM_LOST; as `runtime.volumes.publish`
   */
  publish(
    key: VolumeKey,
    request: Pick<Capability, 'accessMode' | 'attachmentMode'> & {
      nodeId: string;
      readOnly: boolean;
      claim?: { allocId: string; generation: number };
      hold?: string;
    },
    wait: ClaimWait,
  ): Promise<PublishedVolume>;
  /**
   * The workload of the alloc has stopped: its slot is kept until the node has let go. Only what it has on this node is
   * meant, and only the claim of this generation, where that is known: what it has elsewhere, or since, is not touched.
   * @returns the generation of its claim, to be reported then; absent: it has none
   */
  release(
    key: VolumeKey,
    request: { allocId: string; nodeId: string; generation?: number },
    wait: ClaimWait,
  ): Promise<{ generation?: number }>;
  /**
   * The node has let go of what this claim has used, and nothing else is meant. Resolves when the slot is free; at once
   * where the claim or the volume is gone.
   * @throws StagecraftError VOLUME_IN_USE: it is not released yet; CSI_ERROR: why it can't be unpublished, until that is
   *   tried again
   */
  unstaged(
    key: VolumeKey,
    request: { nodeId: string; allocId: string; generation: number },
    wait: ClaimWait,
  ): Promise<void>;
  /**
   * The node has let go of what holds of this alloc, up to this generation, stood for. Resolves once that is known; at once
   * where the hold or the volume is gone.
   */
  holdReleased(key: VolumeKey, request: HoldReleased, wait: ClaimWait): Promise<void>;
  /** The node's part of an expansion is done: of that volume, to that size. What is due no more changes nothing. */
  expanded(key: VolumeKey, request: NodeExpanded, wait: ClaimWait): Promise<void>;
}
