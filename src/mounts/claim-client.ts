/**
 * Port through which a node claims and publishes volumes at the controller side. In the same process by default
 * (local-claims.ts); an embedding agent may send the requests to its servers. Each method may be repeated with the
 * same outcome, and rejects with a StagecraftError.
 */
import type { Capability, CapacityRange, SecretRef } from '../../machines/kit/csi-types.js';
import type { Claim, ClaimRequest, HoldReleased, NodeExpanded } from '../../machines/volume/types.js';
import type { Hold, VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import type { WaitReporting } from '../requests/await-options.js';

/** Facts about a volume that a node needs before it asks for anything. */
export interface KnownVolume {
  /** Id of this very volume: a later one with the same key has another. */
  uid: string;
  /** The plugin's registered name. */
  plugin: string;
  /** Name of the driver that made the volume: no other one is called. Absent: not known. */
  driver?: string;
  /** Capabilities that the volume was made for. */
  capabilities: Capability[];
  /** References to secrets, by the plugin's names for them; resolved on the node when a call is made. */
  secrets: Record<string, SecretRef>;
  /** Expansion to this size whose node part is due: sent back by `expanded` once it is done. */
  expansion?: CapacityRange;
  /** Holds of agents up to 0.3.0, which keep the volume attached to this node. Absent: none. */
  holds?: Hold[];
}

/** A volume as `look` finds it. */
export interface VolumeOnNode extends KnownVolume {
  /** Claims of allocs on this node that are not released. Absent, as in 0.3.0: `holds` is asked for each. */
  claims?: ClaimId[];
  /**
   * Whether the controller side counts the volume as used on this node: a claim, a hold or a publication there, and no fence
   * since. Mounts that an agent of another place has made under this nodeId stay on record until this is false, and a
   * fenced node with such mounts stays `down`. Absent: not known.
   */
  isKept?: boolean;
}

/** Names one claim: the same alloc may have a later one, of another generation. */
export type ClaimId = Pick<Claim, 'allocId' | 'generation'>;

/** A volume that is published to the node. Ids and contexts are the plugin's, verbatim. */
export interface PublishedVolume extends KnownVolume {
  csiId: string;
  volumeContext: Record<string, string>;
  /** Empty if the plugin gives none. */
  publishContext: Record<string, string>;
  /** Generation of the hold that an agent up to 0.3.0 has asked for. */
  hold?: number;
}

export type SlotRequest = Omit<ClaimRequest, 'csiNodeId'>;

export interface ClaimWait extends WaitReporting {
  /** Gives up the request; what was taken stays until it is released. */
  signal: AbortSignal;
}

export interface ClaimClient {
  /**
   * Looks up a volume, also one that is not created yet.
   * @throws StagecraftError VOLUME_NOT_FOUND
   */
  look(key: VolumeKey, request: { nodeId: string }, wait: ClaimWait): Promise<VolumeOnNode>;
  /**
   * Claims a volume for an alloc; the same alloc again has the same claim.
   * @throws StagecraftError CLAIM_CONFLICT naming who has it; INVALID_ARGUMENT: the volume can't be used so at all;
   *   as `runtime.volumes.claim`
   */
  claim(key: VolumeKey, request: SlotRequest, wait: ClaimWait): Promise<{ generation: number }>;
  /**
   * Claims a volume for an alloc and has it published to the node in one request: as `claim`, then `publish`, with
   * one commit less. Optional: without this method, or if it rejects, both are asked for one after the other.
   * @param request as for `claim`; `readOnly`: as for `publish`
   * @param wait `claimed`: called with the generation of the claim once it is taken, before the method resolves
   */
  claimAndPublish?(
    key: VolumeKey,
    request: SlotRequest & { readOnly: boolean },
    wait: ClaimWait & { claimed(generation: number): void },
  ): Promise<PublishedVolume>;
  /**
   * Whether an alloc still has this very claim, not released. Asked if `look` gives no claims. False also if there is no
   * such volume.
   */
  holds(key: VolumeKey, request: ClaimId, wait: ClaimWait): Promise<boolean>;
  /**
   * Has a volume published to the node. Resolves when the controller side has done its part.
   * @param request `readOnly`: reading is enough; if the volume is published for writing already, it stays so, and
   *   the node keeps readers from writing. `claim`: only for this very claim. `hold`: what agents up to 0.3.0 ask for
   *   in place of a claim: the volume stays attached to the node until `holdReleased`, or a fence
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
   * Releases a claim, as the workload has stopped: it is kept until the node has let go. Only the alloc's claim on
   * this node is meant, and only that of this generation, if it is known.
   * @returns generation of the claim, for the report; absent: there is no claim
   */
  release(
    key: VolumeKey,
    request: { allocId: string; nodeId: string; generation?: number },
    wait: ClaimWait,
  ): Promise<{ generation?: number }>;
  /**
   * Reports that the node has let go of what this claim has used. Resolves when the claim is gone; at once if it or
   * the volume is gone already.
   * @throws StagecraftError VOLUME_IN_USE: the claim is not released yet; CSI_ERROR: why the volume can't be
   *   unpublished, until that is tried again
   */
  unstaged(
    key: VolumeKey,
    request: { nodeId: string; allocId: string; generation: number },
    wait: ClaimWait,
  ): Promise<void>;
  /**
   * Reports that the holds of this alloc, up to this generation, stand for nothing any more. Resolves once the controller
   * side knows; at once if the hold or the volume is gone. Optional: without it, there are no holds of agents up to 0.3.0.
   */
  holdReleased?(key: VolumeKey, request: HoldReleased, wait: ClaimWait): Promise<void>;
  /**
   * Reports that the node has done its part of an expansion of that volume to that size. Changes nothing if that is
   * not due any more.
   */
  expanded(key: VolumeKey, request: NodeExpanded, wait: ClaimWait): Promise<void>;
}

/** A volume, with those of the claims in question that are held. */
export type KnownOnNode = VolumeOnNode & Required<Pick<VolumeOnNode, 'claims'>>;

/**
 * Looks up a volume, and which of these claims are held. A node that comes back after a fence asks before it does anything with
 * the volume.
 * @returns undefined: there is no such volume
 */
export async function lookUp(
  client: Pick<ClaimClient, 'look' | 'holds'>,
  key: VolumeKey,
  { nodeId, claims: asked }: { nodeId: string; claims: readonly ClaimId[] },
  wait: ClaimWait,
): Promise<KnownOnNode | undefined> {
  const known = await unlessGone(client.look(key, { nodeId }, wait));
  if (!known) return undefined;
  const { claims } = known;
  if (claims) return { ...known, claims };
  const held = await Promise.all(asked.map((one) => client.holds(key, one, wait)));
  return { ...known, claims: asked.filter((_, at) => held[at]) };
}

export const holdsClaim = (known: KnownOnNode | undefined, { allocId, generation }: ClaimId): boolean =>
  known?.claims.some((one) => one.allocId === allocId && one.generation === generation) === true;

/** Undefined if there is no such volume. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND') return undefined;
    throw error;
  }
}
