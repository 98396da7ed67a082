/** Types shared by the parts of a volume: its requested use, and the volume that its plugin has made. */
import type { Bytes, CallFailure, Capability, Segments, Tries } from '../kit/csi-types.js';

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

/**
 * Kinds of calls of a volume. `remove`: deletes a volume that may lack the content of its source, before it is made again.
 */
export type WorkKind = 'create' | 'remove' | 'delete' | 'publish' | 'unpublish' | 'expand' | 'modify';

/** Call about the part that is under way and may take effect. Absent: none is, or it waits. */
export interface Calling {
  underWay: WorkKind | undefined;
}

/** Failed attempt at the work of a part. */
export interface FailedWork {
  failure: CallFailure;
  /** Includes this attempt. */
  tries: Tries;
}

/** How a node is to get the volume. */
export interface PublishWish {
  capability: Capability;
  readOnly: boolean;
  /** The plugin's own name for the node. Never empty. */
  csiNodeId: string;
}

/**
 * An alloc without a claim that a node may have staged or mounted the volume for. The volume stays attached there
 * until the node has reported that the alloc let go, or is fenced.
 */
export interface Hold {
  allocId: string;
  /** Counted together with the generations of claims; rises with each request of the alloc. */
  generation: number;
}

export interface QueuedWish extends PublishWish {
  /** Absent: no holds. */
  holds?: Hold[] | undefined;
  /**
   * The agent of the node asked for it, and is told when it has to unmount the volume. Absent: nobody there is told.
   */
  isByAgent?: true;
}

/** Volume as the plugin has made it. Ids and contexts are opaque. */
export interface CreatedVolume {
  id: string;
  context: Record<string, string>;
  /** Absent: unknown. */
  capacityBytes?: Bytes;
  accessibleTopology: Segments[];
}

/**
 * How a volume came to be attached to a node: by a call, or without any, as its plugin needs none. Only what no call has
 * attached is ever taken for detached without a call.
 */
export type AttachedBy = 'call' | 'none';

/** Answer to ControllerPublishVolume. */
export interface PublishAnswer {
  publishContext: Record<string, string>;
  /** No call was made: the plugin needs none. */
  isWithoutCall?: true;
}

/** Answer to ControllerExpandVolume. */
export interface ExpandAnswer {
  /** Absent: unknown. */
  capacityBytes?: Bytes;
  nodeExpansionRequired: boolean;
}
