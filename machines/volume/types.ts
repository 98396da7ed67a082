/** Types of a volume (volume.ts): its events, its record and its broadcasts. */
import type {
  AccessMode,
  AttachmentMode,
  Awaiting,
  Bytes,
  CallFailure,
  Capability,
  CapacityRange,
  SecretRef,
  TopologyRequirement,
  Wait,
} from '../kit/csi-types.js';
import type { Failure, MessageParams, Stamped } from '../kit/host.js';
import type { Expansion, Modification } from './change.js';
import type { Lifecycle } from './lifecycle.js';
import type { Publication } from './publication.js';
import type { AttachedBy, CreatedVolume, Hold, PublicationState, PublishWish, VolumeKey, WorkKind } from './wishes.js';

export type { Expansion, Lifecycle, Publication, WorkKind };

/** Source of a volume's content, with the driver's id of it. `volumeSnapshot`: the snapshot's name. */
export type VolumeSource = ({ volume: VolumeKey } | { volumeSnapshot: string }) & { csiId: string };

/** Spec of a volume, checked and complete. */
export interface VolumeSpec {
  /** The plugin's registered name. */
  plugin: string;
  capacity: CapacityRange;
  /** At least one. */
  capabilities: Capability[];
  parameters: Record<string, string>;
  mutableParameters: Record<string, string>;
  secrets: Record<string, SecretRef>;
  topology: TopologyRequirement;
  source?: VolumeSource;
  /** The volume exists already: it is validated with the plugin, not created. */
  external?: { csiId: string; context: Record<string, string> };
}

/** Request to publish. Without a capability the volume chooses one: modes.ts */
export interface PublishRequest extends Omit<PublishWish, 'capability'> {
  nodeId: string;
  capability?: Capability;
  /** Claim of the caller: without that very claim the request is refused. */
  claim?: Pick<Claim, 'allocId' | 'generation'>;
  /** Alloc without a claim that the node mounts the volume for: it gets a hold. */
  hold?: string;
  /** Reservation of the slot on the node; absent if the plugin has no limit there. */
  reservation?: string;
}

type ClaimState = 'taken' | 'unpublishing' | 'node-detached' | 'controller-detached' | 'released';

export interface ClaimRequest {
  allocId: string;
  nodeId: string;
  csiNodeId: string;
  mode: 'read' | 'write';
  accessMode: AccessMode;
  attachmentMode: AttachmentMode;
}

/** A claim, and how the volume is published for it on its node. */
export interface ClaimAndPublish
  extends Pick<PublishWish, 'capability' | 'readOnly'>,
    Pick<PublishRequest, 'reservation'> {
  claim: ClaimRequest;
}

export interface Claim extends ClaimRequest {
  /** Rises with each claim, also when the volume is deleted and created again. */
  generation: number;
  state: ClaimState;
  /** Why the claim was taken from its node, which did not report. */
  fenced?: string;
}

/**
 * How a volume came to be: made by CreateVolume, found under the id that its user gave, or taken over from elsewhere. Only a
 * volume that a call has made is ever deleted at its plugin.
 */
export type VolumeOrigin = 'call' | 'found' | 'external';

/** Answer to CreateVolume. */
export interface CreateAnswer extends CreatedVolume {
  /** No call was made: the plugin makes no volumes. */
  isFound?: true;
  /** Why the created volume is not what was asked for. */
  fault?: CallFailure;
  /** The only fault: the plugin does not say that the volume has the content of its source. */
  lacksSource?: true;
}

export type Availability = 'active' | 'pause' | 'drain';

/** A step of a forced deletion that could not be confirmed. */
export interface Leftover {
  /** Kind of leftover. */
  what: 'staged' | 'published' | 'created';
  nodeId?: string;
  csiNodeId?: string;
  /** The plugin's id of the volume, if known. */
  csiId?: string;
  /** The name that the plugin was given, if the id is not known. */
  name?: string;
  /** For `staged`: alloc whose claim the node has not reported. Absent in records of older versions. */
  allocId?: string;
  generation?: number;
  /** For `published`: how it came to be attached. Absent: not known. */
  attachedBy?: AttachedBy;
  /** For `published`: why the node did not have to report it unstaged. */
  fenced?: string;
  message: string;
}

/** Entry of a volume in its plugin's list. */
export interface VolumeObservation {
  /** The list does not have the volume. */
  isMissing: boolean;
  condition?: { abnormal: boolean; message: string };
  /** Nodes where the volume is attached, by the plugin's names; absent if the plugin does not say. */
  attached?: string[];
  /** Nodes where the volume is attached and should not be. */
  strays?: Stray[];
}

/** An attachment that nobody here has asked for. */
export interface Stray {
  /** Without a known node: the same as `csiNodeId`. */
  nodeId: string;
  csiNodeId: string;
  /** No node has reported this id: the machine belongs to somebody else, or is not known any more. */
  isUnknown?: true;
}

/** Part of a listing that the volume keeps and broadcasts. */
export interface KeptObservation extends Pick<VolumeObservation, 'isMissing' | 'condition'> {
  /** Nodes where the volume is attached without a request, and stays: it is claimed there, or was taken over. */
  heldOn?: string[];
  /** CSI node ids of machines that are not among the nodes: the volume is attached there until somebody unpublishes it. */
  attachedElsewhere?: string[];
}

export interface VolumeInput extends VolumeKey {
  /** Number of commits of earlier volumes with this key. */
  seq: number;
}

export interface VolumeContext {
  key: VolumeKey;
  /**
   * Random id of this volume, never used again; its name at the plugin derives from it. Empty if there is no volume.
   */
  uid: string;
  /** Name that the plugin is given in round 0 of the creation; later ones: words.ts */
  name: string;
  spec: VolumeSpec | null;
  csi: CreatedVolume | null;
  /** `call` also while a sent call may have made it. Null: nothing is known to be there yet. */
  origin: VolumeOrigin | null;
  lifecycle: Lifecycle;
  publications: Record<string, Publication>;
  /**
   * Reservation of the slot on each node. Each belongs to a publication, and is released in the commit that ends the
   * publication. Absent: no slots.
   */
  slots?: Record<string, string> | undefined;
  claims: Claim[];
  /** Claims that wait for a slot, in order. */
  waiting: ClaimRequest[];
  /** Generation of the last claim, over all volumes with this key. */
  generation: number;
  /** Number of the last publication. */
  publicationNumber: number;
  availability: Availability;
  expansion: Expansion | null;
  /** Request of the last expansion that is done. */
  expandedTo: CapacityRange | null;
  /** A node still has to do its part of an expansion. */
  nodeExpansion: boolean;
  /** Nodes that had the volume when it grew, and have not done their part. Absent in records of older versions. */
  unexpanded?: string[] | undefined;
  modification: Modification | null;
  /** Parameters that were changed since the creation. */
  modifiedTo: Record<string, string> | null;
  leftovers: Leftover[];
  /**
   * Name of the driver that made the volume, or was asked to, as in GetPluginInfo; null: not known yet. Absent in
   * records of older versions.
   */
  driver?: string | null | undefined;
  /**
   * Node whose agent alone makes the controller calls, as the plugin has scope `host`; null: any agent may. Absent in
   * records of older versions.
   */
  home?: string | null | undefined;
  /** Node whose agent was asked to create it. Absent: not told, as in records of older versions. */
  askedOn?: string | undefined;
  /** Topology that the plugin was asked for where the spec names none. Absent: none. */
  topology?: TopologyRequirement | undefined;
  /** Last listing by the plugin; null: nothing out of the ordinary. */
  sighting: KeptObservation | null;
  /** Present piece of work, or the next one. */
  work: VolumeWork | null;
  /** Reason why the present call waits; null: it does not wait. */
  awaiting: Awaiting | null;
}

export interface VolumeWork {
  kind: WorkKind;
  nodeId?: string;
  dueAtMs: number;
  /** Whether the call is under way; else it begins at its time. */
  isCalling: boolean;
}

/** A node has unstaged the volume, as far as claims up to this generation are concerned. */
export interface Unstaged {
  nodeId: string;
  claimGeneration: number;
  /** Limits the report to this alloc's claim of just this generation: earlier ones may be in use there. */
  allocId?: string;
}

/** A node has let go of the volume, as far as holds of this alloc up to this generation are concerned. */
export interface HoldReleased extends Hold {
  nodeId: string;
}

/** A node has done its part of an expansion. */
export interface NodeExpanded {
  nodeId: string;
  /** The volume that the node has expanded. */
  uid: string;
  /** Requested capacity. */
  capacity: CapacityRange;
  /** Absent if the plugin does not say. */
  capacityBytes?: Bytes;
}

/** Requests; each is answered. */
export type VolumeRequest =
  /** `home`: of the volume that it is copied from. `driver`: of that volume, else the registered driver, if known. */
  | {
      type: 'volume.create';
      spec: VolumeSpec;
      uid: string;
      name: string;
      home?: string;
      driver?: string;
      /** Node whose agent was asked. */
      askedOn?: string;
      /** Size of the content of the source. Absent: not known, or there is no source. */
      sourceBytes?: Bytes;
    }
  | ({ type: 'volume.publish' } & PublishRequest)
  /** Sent by the node that counts the slot: the answer tells whether the publication exists, and so keeps the slot. */
  | { type: 'volume.add-slot'; nodeId: string; reservation: string }
  | { type: 'volume.unpublish'; nodeId: string }
  /** `uid`: of the volume that is meant; absent: whichever is there. */
  | { type: 'volume.delete'; force: boolean; uid?: string }
  /** `isRepeat`: taken only if the claim exists already. */
  | { type: 'volume.claim'; claim: ClaimRequest; wait: boolean; isRepeat?: true }
  /** Claims and publishes in one commit, or does neither. */
  | ({ type: 'volume.claim-and-publish' } & ClaimAndPublish)
  | { type: 'volume.unclaim'; allocId: string }
  /** Gives up claims for a node that wait: the node can't use the volume. */
  | { type: 'volume.withdraw'; nodeId: string; reason: string }
  /** With a node and a generation: only the alloc's claim there of that generation, or its place in the queue. */
  | { type: 'volume.release'; allocId: string; nodeId?: string; generation?: number }
  | ({ type: 'volume.unstaged' } & Unstaged)
  | ({ type: 'volume.hold-released' } & HoldReleased)
  | { type: 'volume.fence'; nodeId: string; reason: string }
  | { type: 'volume.expand'; capacity: CapacityRange }
  | ({ type: 'volume.node-expanded' } & NodeExpanded)
  | { type: 'volume.modify'; mutableParameters: Record<string, string> }
  /** `acceptDriver`: name of the driver that has taken over the volumes of another one. */
  | { type: 'volume.retry'; acceptDriver?: string }
  | { type: 'volume.set-availability'; availability: Availability }
  | { type: 'volume.acknowledge' }
  /** The plugin's list, compared with the record as it was before the listing. */
  | {
      type: 'volume.observed';
      believed: string[];
      sighting: VolumeObservation;
    };

export type VolumeMachineEvent = (
  | VolumeRequest
  /** The waiting call waits for something else now. */
  | ({ type: 'wait.changed' } & Wait)
  /** Raised by the machine itself, to look for its next piece of work. */
  | { type: 'settle' }
) &
  Partial<Stamped>;

/** The states of a volume for its users, in the order of its life. */
export const volumeStates = [
  'pending-create',
  'created',
  'pending-publish',
  'published',
  'pending-unpublish',
  'pending-expand',
  'pending-modify',
  'pending-delete',
  'deleted',
  'failed',
] as const;

export type VolumeState = (typeof volumeStates)[number];

/** Broadcasts. */
export type VolumeChanged = { key: VolumeKey; uid: string } & (
  | { type: 'created'; csiId: string }
  | { type: 'deleted'; leftovers?: Leftover[] }
  /** The request can't be fulfilled. After a failed expansion or modification the volume can be used as before. */
  | { type: 'failed'; in: 'create' | 'delete'; failure: Failure }
  | { type: 'failed'; in: 'expand'; capacity: CapacityRange; failure: Failure }
  | { type: 'failed'; in: 'modify'; mutableParameters: Record<string, string>; failure: Failure }
  /** `removed` with a failure: given up; the volume may still be published there. */
  | { type: 'publication'; nodeId: string; number: number; state: PublicationState | 'removed'; failure?: Failure }
  | {
      type: 'claim';
      state: ClaimState | 'waiting' | 'withdrawn';
      allocId: string;
      nodeId: string;
      generation?: number;
      fenced?: string;
      /** Why the claim was withdrawn, if not by its own alloc. */
      reason?: string;
    }
  /** The node of the alloc has to unmount the volume. */
  | { type: 'hold'; state: 'released'; allocId: string; nodeId: string; generation: number; fenced: string }
  | { type: 'availability'; availability: Availability; allocIds: string[] }
  | { type: 'expanded'; capacityBytes?: Bytes; nodeExpansionRequired: boolean }
  /** `nodeExpansionRequired`: on other nodes. `capacityBytes`: as the node's plugin reports it. */
  | { type: 'node-expanded'; nodeId: string; capacityBytes?: Bytes; nodeExpansionRequired: boolean }
  | { type: 'modified'; mutableParameters: Record<string, string> }
  | ({ type: 'seen' } & KeptObservation)
  | { type: 'drifted'; lost: string[]; strays: string[] }
);

/** Change of a record, with its broadcasts and messages. */
export interface VolumeChange {
  context: Partial<VolumeContext>;
  broadcasts?: VolumeBroadcast[];
  messages?: MessageParams[];
}

/** Broadcast of a volume without its key and uid, which are added when it is sent. */
export type VolumeBroadcast = VolumeChanged extends infer One
  ? One extends unknown
    ? Omit<One, 'key' | 'uid'>
    : never
  : never;
