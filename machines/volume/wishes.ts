/** What is wanted of a volume, and what its plugin made: types that its parts share. */
import type { Bytes, Capability, Segments } from '../kit/csi-types.js';

export interface VolumeKey {
  namespace: string;
  id: string;
}

export type PublicationState =
  | 'pending-publish'
  | 'published'
  | 'pending-node-unpublish'
  | 'pending-unpublish'
  | 'failed';

/** What a node is to get. */
export interface PublishWish {
  capability: Capability;
  readOnly: boolean;
  /** The plugin's own name for the node. Never empty. */
  csiNodeId: string;
}

/**
 * An alloc that a node may have the volume staged or mounted for without a claim. The volume stays attached there until the
 * node has reported that this alloc let go, or is fenced.
 */
export interface Hold {
  allocId: string;
  /** Counted together with the generations of claims: each time the alloc asks, it has a higher one. */
  generation: number;
}

export interface QueuedWish extends PublishWish {
  /** Absent: none. */
  holds?: Hold[] | undefined;
  /** An agent on its node asked for it, and hears when it has to unmount it. Absent: nobody there hears. */
  isByAgent?: true;
}

/** What the plugin made. Ids and contexts are opaque. */
export interface CreatedVolume {
  id: string;
  context: Record<string, string>;
  /** Absent: unknown. */
  capacityBytes?: Bytes;
  accessibleTopology: Segments[];
}

/** Answer to ControllerPublishVolume. */
export interface PublishAnswer {
  publishContext: Record<string, string>;
}

/** Answer to ControllerExpandVolume. */
export interface ExpandAnswer {
  /** Absent: unknown. */
  capacityBytes?: Bytes;
  nodeExpansionRequired: boolean;
}
