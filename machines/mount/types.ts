/** What the mount machine (mount.ts) is given, keeps and tells. */
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
export type { MountUserState, Target } from './target.js';

/** A volume that is published to this node: all that its calls are made with. Ids and contexts are the plugin's, verbatim. */
export interface MountedVolume {
  /** Of this very volume: one that is made anew under its key has another. */
  uid: string;
  /** The plugin's registered name. */
  plugin: string;
  /** The own name of the driver that made it: no other is called. Absent: not known. */
  driver?: string;
  csiId: string;
  volumeContext: Record<string, string>;
  /** Empty where the plugin gives none. */
  publishContext: Record<string, string>;
  secrets: Record<string, SecretRef>;
}

export interface NodeExpansion {
  capacity: CapacityRange;
  /** Asked for while a call was under way: due after that. */
  next?: CapacityRange;
  tries?: Tries;
  failure?: CallFailure;
}

export type MountWorkKind = 'stage' | 'publish' | 'unpublish' | 'unstage' | 'expand';

export interface MountWork {
  kind: MountWorkKind;
  /** Whose target it is about. */
  allocId?: string;
  dueAtMs: number;
  /** A call is under way; else it is to begin at its time. */
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
  /** Absent while nothing of it is here. */
  volume: MountedVolume | null;
  /** How it is used here: set by its first use. */
  capability: Capability | null;
  staging: Staging;
  /** One for each alloc that uses the volume here. */
  users: Target[];
  /** Allocs whose claim or hold may have been taken while the runtime was away: nothing is made for them before that is known. */
  unconfirmed: string[];
  /** Allocs that have let go of it here, while whoever has the volumes is not known to have heard so. Absent: none. */
  unreported?: Hold[];
  /** Of the last mount or staging. */
  number: number;
  /** The boot in which it was mounted last; null: it was not. */
  bootId: string | null;
  expansion: NodeExpansion | null;
  /** What the plugin said last; null: nothing. */
  condition: VolumeCondition | null;
  work: MountWork | null;
  /** Its call waits: none was made yet. */
  awaiting: Awaiting | null;
}

/** How a mount that is believed in is seen in the kernel. */
export interface MountSight {
  number: number;
  /** `dead`: it is there, but its file system does not answer any more. */
  is: 'missing' | 'dead';
  /** It is mounted again. */
  isMended: boolean;
}

/** A staging that is believed in, and not there. */
export interface StagingSight extends Omit<MountSight, 'is'> {
  /** It is there, but its file system does not answer any more. */
  isDead?: boolean;
  /** What was seen dead there is not any more: it is unmounted, replaced, or made anew. */
  isGone?: true;
}

export interface MountUse extends TargetUse {
  volume: MountedVolume;
  allocId: string;
}

/** What requests ask for; each is answered. */
export type MountRequest =
  | ({ type: 'mount.use' } & MountUse)
  /** `hold`: only where it has no newer one. */
  | { type: 'mount.leave'; allocId: string; hold?: number }
  | { type: 'mount.expand'; capacity: CapacityRange }
  /**
   * What the kernel shows, compared with what was believed then. `isStart`: the runtime was away, and claims may have been
   * lost meanwhile.
   */
  | { type: 'mount.observed'; users: MountSight[]; staging: StagingSight[]; isStart: boolean }
  /** The claim of an alloc, or its hold, is kept still. */
  | { type: 'mount.confirm'; allocId: string }
  /** Tells that the keeper of the volumes has heard that the alloc let go. */
  | ({ type: 'mount.hold-released' } & Hold)
  | { type: 'mount.condition'; condition: VolumeCondition | null }
  /** `acceptDriver`: the own name of the driver that has taken over what another one made. */
  | { type: 'mount.retry'; acceptDriver?: string }
  /** What waits to be undone is undone now; who comes back after that comes back. */
  | { type: 'mount.hasten' };

export type MountEvent = (
  | MountRequest
  /** The call that waits does so for something else by now. */
  | ({ type: 'wait.changed' } & Wait)
  /** Its call has failed, and its path shows a mount that was not there before. */
  | { type: 'call.appeared'; mount: AppearedMount }
  /** Raised by the machine itself: is there something else to do now? */
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

/** Broadcast. Durations are milliseconds, from when it was asked for. */
export type MountChanged = { node: string; key: VolumeKey } & (
  | { type: 'mounted'; allocId: string; readOnly: boolean; durationMs: number }
  /** `leftBehind`: what was found at its target then, and is not ours to remove. */
  | { type: 'unmounted'; allocId: string; durationMs: number; leftBehind?: string }
  /** Its plugin said that nothing is mounted at `path`, and had left our mount there: the runtime has unmounted it. */
  | { type: 'unmounted-for-plugin'; plugin: string; path: string; allocId?: string }
  /** It can't be done, or not yet: what has to be undone is tried again and again. */
  | { type: 'failed'; in: MountWorkKind; allocId?: string; failure: Failure }
  /** Its mount is not there any more, or is dead; `isMended`: it is mounted again. */
  | { type: 'lost'; allocId: string; is: MountSight['is']; isMended: boolean }
  /** It is not staged any more; `isMended`: it is staged again. */
  | { type: 'staging-lost'; isMended: boolean }
  /** What was found at the staging path once it was unstaged, and is not ours to remove. */
  | { type: 'left-behind'; leftBehind: string }
  | { type: 'condition'; condition: VolumeCondition | null }
  | { type: 'expanded'; capacityBytes?: Bytes }
);
