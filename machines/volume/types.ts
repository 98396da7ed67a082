/** What the volume machine (volume.ts) is given, keeps and tells. */
import type {
  AccessMode,
  AttachmentMode,
  Awaiting,
  Bytes,
  CallFailure,
  Capability,
  CapacityRange,
  SecretRef,
  Segments,
  Wait,
} from '../kit/csi-types.js';
import type { Failure, MessageParams, Stamped } from '../kit/host.js';
import type { Expansion, Modification } from './change.js';
import type { Lifecycle } from './lifecycle.js';
import type { Publication } from './publication.js';
import type { CreatedVolume, Hold, PublicationState, PublishWish, VolumeKey } from './wishes.js';

export type { Expansion, Lifecycle, Modification, Publication };

/** Whose content a volume begins with, and what the driver calls that. `volumeSnapshot`: as its user named it. */
export type VolumeSource = ({ volume: VolumeKey } | { volumeSnapshot: string }) & { csiId: string };

/** What is asked for, checked and complete. */
export interface VolumeSpec {
  /** The plugin's registered name. */
  plugin: string;
  capacity: CapacityRange;
  /** At least one. */
  capabilities: Capability[];
  parameters: Record<string, string>;
  mutableParameters: Record<string, string>;
  secrets: Record<string, SecretRef>;
  topology: { requisite: Segments[]; preferred: Segments[] };
  source?: VolumeSource;
  /** It exists already: validated with the plugin, not created. */
  external?: { csiId: string; context: Record<string, string> };
}

/** What asks for it. Without a capability it is for the volume to say which: modes.ts */
export interface PublishRequest extends Omit<PublishWish, 'capability'> {
  nodeId: string;
  capability?: Capability;
  /** For whom: not without that very claim. */
  claim?: Pick<Claim, 'allocId' | 'generation'>;
  /** The alloc that its node is to mount it for without a claim: it gets a hold. */
  hold?: string;
  /** Of the slot on the node that this request has reserved; absent: the plugin has no limit there. */
  reservation?: string;
}

export type ClaimState = 'taken' | 'unpublishing' | 'node-detached' | 'controller-detached' | 'released';

export interface ClaimRequest {
  allocId: string;
  nodeId: string;
  csiNodeId: string;
  mode: 'read' | 'write';
  accessMode: AccessMode;
  attachmentMode: AttachmentMode;
}

/** A claim, and how the volume is to be published for it on its node. */
export interface ClaimAndPublish
  extends Pick<PublishWish, 'capability' | 'readOnly'>,
    Pick<PublishRequest, 'reservation'> {
  claim: ClaimRequest;
}

export interface Claim extends ClaimRequest {
  /** Rises with each taking, also when the volume is deleted and made anew. */
  generation: number;
  state: ClaimState;
  /** Its node did not report: why its claim was taken from it. */
  fenced?: string;
}

/** What it answered as it was to make one. */
export interface CreateAnswer extends CreatedVolume {
  /** That is not what it was asked for. */
  fault?: CallFailure;
}

export type Availability = 'active' | 'pause' | 'drain';

/** A step of a forced deletion that could not be confirmed. */
export interface Leftover {
  /** What may still be there. */
  what: 'staged' | 'published' | 'created';
  nodeId?: string;
  csiNodeId?: string;
  /** The plugin's id of the volume, where that is known. */
  csiId?: string;
  /** Else the name that the plugin was given for it. */
  name?: string;
  /** Of what is staged: whose claim its node has not reported. Absent in what was stored before this was kept. */
  allocId?: string;
  generation?: number;
  /** Of what is published: why its node did not have to report it unstaged. */
  fenced?: string;
  message: string;
}

/** What a plugin says of a volume as it lists all of them. */
export interface Sighting {
  /** It does not list it. */
  isMissing: boolean;
  condition?: { abnormal: boolean; message: string };
  /** Where it is attached, by the plugin's names of nodes; absent: the plugin does not say. */
  attached?: string[];
  /** Where it should not be. */
  strays?: { nodeId: string; csiNodeId: string }[];
}

/** What is kept of it, and told. */
export interface Seen extends Pick<Sighting, 'isMissing' | 'condition'> {
  /** Nodes where it is attached though nobody asked for it, and stays: it is claimed there, or was taken over. */
  heldOn?: string[];
}

export interface VolumeInput extends VolumeKey {
  /** How many commits there were of earlier volumes of this key. */
  seq: number;
}

export interface VolumeContext {
  key: VolumeKey;
  /** Random, of this very volume: its name with the plugin comes of it. Empty where there is none. */
  uid: string;
  /** The name that the plugin is given. */
  name: string;
  spec: VolumeSpec | null;
  csi: CreatedVolume | null;
  /** Its creation and its deletion. */
  lifecycle: Lifecycle;
  publications: Record<string, Publication>;
  /**
   * By node: the reservation of its slot there. Each belongs to a publication, and is released in the commit that ends that.
   * Absent: it has none.
   */
  slots?: Record<string, string>;
  claims: Claim[];
  /** Claims that wait for a slot, in order. */
  waiting: ClaimRequest[];
  /** Of the last claim that was taken, in any volume of this key. */
  generation: number;
  /** Of the last publication. */
  publicationNumber: number;
  availability: Availability;
  expansion: Expansion | null;
  /** What the last expansion that is done was asked for. */
  expandedTo: CapacityRange | null;
  /** The node's part of an expansion is due. */
  nodeExpansion: boolean;
  /** Nodes that had it as it grew, and have not done their part. Absent in what was stored before this was kept. */
  unexpanded?: string[];
  modification: Modification | null;
  /** What its parameters have been changed to since it was made. */
  modifiedTo: Record<string, string> | null;
  leftovers: Leftover[];
  /**
   * The own name of the driver that made it, or was asked to, as GetPluginInfo has it; null: not known yet. Absent in what was
   * stored before this was kept.
   */
  driver?: string | null;
  /**
   * The node whose agent alone makes its controller calls, as its plugin has scope `host`; null: any agent may. Absent in
   * what was stored before this was kept.
   */
  home?: string | null;
  /** What its plugin said of it last; null: nothing out of the ordinary. */
  sighting: Seen | null;
  /** What it is at, or will be next. */
  work: Work | null;
  /** What the call that it is at waits for; null: it does not wait. */
  awaiting: Awaiting | null;
}

export type WorkKind = 'create' | 'delete' | 'publish' | 'unpublish' | 'expand' | 'modify';

export interface Work {
  kind: WorkKind;
  nodeId?: string;
  dueAtMs: number;
  /** A call is under way; else it is to begin at its time. */
  isCalling: boolean;
}

/** A node has nothing of the volume any more that claims up to this generation have used. */
export interface Unstaged {
  nodeId: string;
  claimGeneration: number;
  /** It says so of this alloc's claim of just this generation; those before it may be in use there. */
  allocId?: string;
}

/** A node has nothing of the volume any more that holds of this alloc, up to this generation, stood for. */
export interface HoldReleased extends Hold {
  nodeId: string;
}

/** A node has done its part of an expansion. */
export interface NodeExpanded {
  nodeId: string;
  /** Of the volume that it has expanded. */
  uid: string;
  /** What it was to be expanded to. */
  capacity: CapacityRange;
  /** Absent: its plugin does not say. */
  capacityBytes?: Bytes;
}

/** What requests ask for; each is answered. */
export type VolumeRequest =
  /** `home`: of what it is copied from. `driver`: of that too, else the one that is registered now, where that is known. */
  | { type: 'volume.create'; spec: VolumeSpec; uid: string; name: string; home?: string; driver?: string }
  | ({ type: 'volume.publish' } & PublishRequest)
  /** Its node counts it: answers whether it is there, and so keeps this slot. */
  | { type: 'volume.add-slot'; nodeId: string; reservation: string }
  | { type: 'volume.unpublish'; nodeId: string }
  | { type: 'volume.delete'; force: boolean }
  /** `isRepeat`: only where it is taken already. */
  | { type: 'volume.claim'; claim: ClaimRequest; wait: boolean; isRepeat?: true }
  /** Both in one commit, or neither. */
  | ({ type: 'volume.claim-and-publish' } & ClaimAndPublish)
  | { type: 'volume.unclaim'; allocId: string }
  /** Claims for a node that wait are given up: it can't use the volume. */
  | { type: 'volume.withdraw'; nodeId: string; reason: string }
  /** With a node, a generation: only what the alloc has, or waits for, there, and that very claim. */
  | { type: 'volume.release'; allocId: string; nodeId?: string; generation?: number }
  | ({ type: 'volume.unstaged' } & Unstaged)
  | ({ type: 'volume.hold-released' } & HoldReleased)
  | { type: 'volume.fence'; nodeId: string; reason: string }
  | { type: 'volume.expand'; capacity: CapacityRange }
  | ({ type: 'volume.node-expanded' } & NodeExpanded)
  | { type: 'volume.modify'; mutableParameters: Record<string, string> }
  /** `acceptDriver`: the own name of the driver that has taken over what another one made. */
  | { type: 'volume.retry'; acceptDriver?: string }
  | { type: 'volume.set-availability'; availability: Availability }
  | { type: 'volume.acknowledge' }
  /** What ListVolumes says, compared with what was believed of it then. */
  | {
      type: 'volume.observed';
      believed: string[];
      sighting: Sighting;
    };

export type VolumeMachineEvent = (
  | VolumeRequest
  /** The call that waits does so for something else by now. */
  | ({ type: 'wait.changed' } & Wait)
  /** Raised by the machine itself: is there something else to do now? */
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

/** Broadcast. */
export type VolumeChanged = { key: VolumeKey; uid: string } & (
  | { type: 'created'; csiId: string }
  | { type: 'deleted'; leftovers?: Leftover[] }
  /** It can't be done as it was asked for; a volume whose expansion or modification has failed can be used as before. */
  | { type: 'failed'; in: 'create' | 'delete'; failure: Failure }
  | { type: 'failed'; in: 'expand'; capacity: CapacityRange; failure: Failure }
  | { type: 'failed'; in: 'modify'; mutableParameters: Record<string, string>; failure: Failure }
  /** `removed` with a failure: given up, it may still be published there. */
  | { type: 'publication'; nodeId: string; number: number; state: PublicationState | 'removed'; failure?: Failure }
  | {
      type: 'claim';
      state: ClaimState | 'waiting' | 'withdrawn';
      allocId: string;
      nodeId: string;
      generation?: number;
      fenced?: string;
      /** Why it was withdrawn, where not by its own alloc. */
      reason?: string;
    }
  /** Its node has to unmount it. */
  | { type: 'hold'; state: 'released'; allocId: string; nodeId: string; generation: number; fenced: string }
  | { type: 'availability'; availability: Availability; allocIds: string[] }
  | { type: 'expanded'; capacityBytes?: Bytes; nodeExpansionRequired: boolean }
  /** `nodeExpansionRequired`: on other nodes. `capacityBytes`: as its node's plugin tells them. */
  | { type: 'node-expanded'; nodeId: string; capacityBytes?: Bytes; nodeExpansionRequired: boolean }
  | { type: 'modified'; mutableParameters: Record<string, string> }
  | ({ type: 'seen' } & Seen)
  | { type: 'drifted'; lost: string[]; strays: string[] }
);

/** What becomes of a context, and what is broadcast of it. */
export interface Change {
  context: Partial<VolumeContext>;
  tells?: Told[];
  messages?: MessageParams[];
}

/** What is broadcast of a volume; its key and uid are added. */
export type Told = VolumeChanged extends infer One ? (One extends unknown ? Omit<One, 'key' | 'uid'> : never) : never;
