/** Types of a mount (mount.ts): its events, its record and its broadcasts. */
import type {
  Awaiting,
  Bytes,
  CallFailure,
  Capability,
  CapacityRange,
  SecretRef,
  Tries,
  Wait,
} from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { Hold, VolumeKey } from '../volume/wishes.js';
import type { AppearedMount } from './kernel-mount.js';
import type { Staging } from './staging.js';
import type { Target } from './target.js';
import type { TargetUse } from './target-setup.js';

export type { Staging } from './staging.js';
export type { Target } from './target.js';
export type { MountUserState } from './target-setup.js';

/** A volume that is published to this node: data for its calls. Ids and contexts are the plugin's, verbatim. */
export interface MountedVolume {
  /** Id of this very volume: a later one with the same key has another. */
  uid: string;
  /** The plugin's registered name. */
  plugin: string;
  /** Name of the driver that made the volume: no other one is called. Absent: not known. */
  driver?: string;
  csiId: string;
  volumeContext: Record<string, string>;
  /** Empty if the plugin gives none. */
  publishContext: Record<string, string>;
  secrets: Record<string, SecretRef>;
}

export interface NodeExpansion {
  capacity: CapacityRange;
  /** Expansion that was asked for during the call: comes next. */
  next?: CapacityRange;
  tries?: Tries;
  failure?: CallFailure;
}

export type MountWorkKind = 'stage' | 'publish' | 'unpublish' | 'unstage' | 'expand';

export interface MountWork {
  kind: MountWorkKind;
  /** Alloc whose target the work is about. */
  allocId?: string;
  dueAtMs: number;
  /** Whether the call is under way; else it begins at its time. */
  isCalling: boolean;
}

export interface VolumeCondition {
  abnormal: boolean;
  message: string;
}

export interface MountInput extends VolumeKey {
  node: string;
}

export interface MountContext {
  node: string;
  key: VolumeKey;
  /** Absent while nothing of the volume is here. */
  volume: MountedVolume | null;
  /** Capability of the use here: set by the first alloc. */
  capability: Capability | null;
  staging: Staging;
  /** Targets: one for each alloc that uses the volume here. */
  users: Target[];
  /**
   * Allocs whose claim may have been taken while the runtime was away: nothing is made for them until that is known.
   */
  unconfirmed: string[];
  /** Holds that versions up to 0.3.0 have taken in place of claims, until each is released. Absent: none. */
  holds?: Hold[] | undefined;
  /** Number of the last mount or staging. */
  number: number;
  /** Boot of the host in which the volume was mounted last; null: never. */
  bootId: string | null;
  expansion: NodeExpansion | null;
  /** Condition as the plugin reported it last; null: none. */
  condition: VolumeCondition | null;
  work: MountWork | null;
  /** Reason why the present call waits; no call was made yet. */
  awaiting: Awaiting | null;
}

/** How the kernel shows a mount that the record has. */
export interface MountObservation {
  number: number;
  /** `dead`: the mount is there, but its file system does not answer. */
  is: 'missing' | 'dead';
  /** Whether it is mounted again without being asked for. */
  isMended: boolean;
}

/** How the kernel shows a staging that the record has. */
export interface StagingObservation extends Omit<MountObservation, 'is'> {
  /** The mount is there, but its file system does not answer. */
  isDead?: boolean;
  /** The dead mount is gone: unmounted, replaced or made anew. */
  isGone?: true;
}

export interface MountUse extends TargetUse {
  volume: MountedVolume;
  allocId: string;
}

/** Requests; each is answered. */
export type MountRequest =
  | ({ type: 'mount.use' } & MountUse)
  | { type: 'mount.leave'; allocId: string }
  | { type: 'mount.expand'; capacity: CapacityRange }
  /**
   * Mount table, compared with the record as it was before the look. `isStart`: the runtime was away, and claims may
   * be lost.
   */
  | { type: 'mount.observed'; users: MountObservation[]; staging: StagingObservation[]; isStart: boolean }
  /** The claim of the alloc is still its own. */
  | { type: 'mount.confirm'; allocId: string }
  /** The controller side keeps no hold for the alloc any more. */
  | { type: 'mount.hold-released'; allocId: string }
  | { type: 'mount.condition'; condition: VolumeCondition | null }
  /** `acceptDriver`: name of the driver that has taken over the volumes of another one. */
  | { type: 'mount.retry'; acceptDriver?: string }
  /** Undoes at once what waits to be undone; a target that is to come back comes back after that. */
  | { type: 'mount.hasten' }
  /** The agent of another place has mounted it, and the volume was given up on this node. */
  | { type: 'mount.given-up' };

export type MountEvent = (
  | MountRequest
  /** The waiting call waits for something else now. */
  | ({ type: 'wait.changed' } & Wait)
  /** The call has failed, and its path shows a mount that was not there before. */
  | { type: 'call.appeared'; mount: AppearedMount }
  /** Raised by the machine itself, to look for its next piece of work. */
  | { type: 'settle' }
) &
  Partial<Stamped>;

export type MountState =
  | 'unstaged'
  | 'staging'
  | 'staged'
  | 'publishing'
  | 'published'
  | 'unpublishing'
  | 'unstaging'
  | 'expanding';

/** Broadcasts. Durations are milliseconds since the request. */
export type MountChanged = { node: string; key: VolumeKey } & (
  | { type: 'mounted'; allocId: string; readOnly: boolean; durationMs: number }
  /** `leftBehind`: what was found at the target and is not ours to remove. */
  | { type: 'unmounted'; allocId: string; durationMs: number; leftBehind?: string }
  /** The plugin said that nothing is mounted at `path`, and had left our mount there: the runtime has unmounted it. */
  | { type: 'unmounted-for-plugin'; plugin: string; path: string; allocId?: string }
  /** The work has failed. What has to be undone is repeated. */
  | { type: 'failed'; in: MountWorkKind; allocId?: string; failure: Failure }
  /** The mount of the alloc is gone or dead; `isMended`: it is mounted again. */
  | { type: 'lost'; allocId: string; is: MountObservation['is']; isMended: boolean }
  /** The staging is gone; `isMended`: the volume is staged again. */
  | { type: 'staging-lost'; isMended: boolean }
  /** Content found at the staging path after the unstage that is not ours to remove. */
  | { type: 'left-behind'; leftBehind: string }
  | { type: 'condition'; condition: VolumeCondition | null }
  | { type: 'expanded'; capacityBytes?: Bytes }
);
