/** Inputs of the calls that a mount makes, without secrets and paths. Pure. */
import type { Bytes, Capability, CapacityRange } from '../kit/csi-types.js';
import type { VolumeCall } from '../volume/calls.js';
import type { VolumeKey } from '../volume/wishes.js';
import type { AppearedMount, KernelMount } from './kernel-mount.js';
import { isStaged, type Staging } from './staging.js';
import type { MountContext, MountedVolume, Target } from './types.js';

export interface MountCall extends VolumeCall {
  key: VolumeKey;
  csiId: string;
}

/** A call that makes something: carries all that the controller side knows. */
interface MakingCall extends MountCall {
  capability: Capability;
  volumeContext: Record<string, string>;
  publishContext: Record<string, string>;
}

export interface StageCall extends MakingCall {
  /** Mount at the staging path before the stage: any other mount is not ours. Absent: unknown. */
  found?: KernelMount;
  /** Boot of the host in which `found` was seen. */
  foundIn?: string;
}

export interface StageAnswer {
  /** False if the plugin does not stage. */
  isStaged: boolean;
  /** Mount at the staging path; absent: none. */
  found?: KernelMount;
  bootId: string;
}

export interface TargetCall extends MountCall {
  allocId: string;
}

/** A call that undoes something at its path. */
export interface UndoingCall extends MountCall {
  /** Mount at the path once it was made; absent: any mount there counts as ours. */
  found?: KernelMount;
  /** Boot of the host in which `found` and `staged` were seen. Absent: not known. */
  foundIn?: string;
  /** Mount that the path shows since a call with an unknown answer. */
  appeared?: AppearedMount;
  /** Mount at the staging path once the volume was staged. Absent: none, or the call undoes the staging. */
  staged?: KernelMount;
}

export type UnstageCall = UndoingCall;

export interface UnpublishCall extends TargetCall, UndoingCall {}

export interface NodePublishCall extends MakingCall, TargetCall {
  readOnly: boolean;
  /** Whether the volume is published from its staging path. */
  isStaged: boolean;
  /** Mount at the staging path once the volume was staged; absent: none. */
  staged?: KernelMount;
  /** Boot of the host in which `staged` was seen. Absent: not known. */
  foundIn?: string;
  /** An earlier attempt may have taken effect. */
  isRepeat: boolean;
}

export interface NodePublishAnswer {
  /** Mount at the target. */
  found: KernelMount;
  bootId: string;
}

export interface NodeUnpublishAnswer {
  /** Content found at the target that is not ours to remove. */
  leftBehind?: string;
  /** Path where the plugin has left our mount, which the runtime has unmounted. Absent: none. */
  unmounted?: string;
}

export interface NodeExpandCall extends MountCall {
  /** Id of this very volume. */
  uid: string;
  capability: Capability;
  capacity: CapacityRange;
  isStaged: boolean;
  /** Mount at the staging path once the volume was staged; absent: none. */
  staged?: KernelMount;
  /** Alloc whose target is mounted; absent: none is. */
  allocId?: string;
}

export interface NodeExpandAnswer {
  /** Absent: unknown. */
  capacityBytes?: Bytes;
}

const mustVolume = ({ volume }: MountContext): MountedVolume => {
  if (!volume) throw new Error('no volume is here');
  return volume;
};

const mustCapability = ({ capability }: MountContext): Capability => {
  if (!capability) throw new Error('the volume is not used here');
  return capability;
};

/** Target that the present work is about. */
export const userAt = ({ work, users }: MountContext): Target => {
  const user = users.find(({ allocId }) => allocId === work?.allocId);
  if (!user) throw new Error(`alloc '${work?.allocId}' does not use the volume here`);
  return user;
};

const mountCallOf = (context: MountContext): MountCall => {
  const { plugin, secrets, csiId, driver } = mustVolume(context);
  return { plugin, secrets, isForced: false, key: context.key, csiId, ...(driver && { driver }) };
};

const makingCallOf = (context: MountContext): MakingCall => {
  const { volumeContext, publishContext } = mustVolume(context);
  return { ...mountCallOf(context), capability: mustCapability(context), volumeContext, publishContext };
};

export const stageCallOf = (context: MountContext): StageCall => {
  const { staging, bootId } = context;
  const { found } = staging;
  return { ...makingCallOf(context), ...(found && bootId !== null && { found, foundIn: bootId }) };
};

export const nodePublishCallOf = (context: MountContext): NodePublishCall => {
  const user = userAt(context);
  const { allocId, readOnly } = user;
  const isRepeat = user.at === 'publish-in-doubt';
  return { ...makingCallOf(context), ...stagedIn(context), ...bootOf(context), allocId, readOnly, isRepeat };
};

const stagedIn = ({ staging }: MountContext): Pick<NodePublishCall, 'isStaged' | 'staged'> =>
  isStaged(staging) ? { isStaged: true, ...(staging.found && { staged: staging.found }) } : { isStaged: false };

const bootOf = ({ bootId }: MountContext): { foundIn?: string } => (bootId === null ? {} : { foundIn: bootId });

/** Mounts that were seen at the path that is undone. */
const seenOf = ({ found, appeared }: Target | Staging): Pick<UndoingCall, 'found' | 'appeared'> => ({
  ...(found && { found }),
  ...(appeared && { appeared }),
});

export const unpublishCallOf = (context: MountContext): UnpublishCall => {
  const user = userAt(context);
  const { found: staged } = context.staging;
  return {
    ...mountCallOf(context),
    ...bootOf(context),
    ...seenOf(user),
    ...(staged && { staged }),
    allocId: user.allocId,
  };
};

export const unstageCallOf = (context: MountContext): UnstageCall => ({
  ...mountCallOf(context),
  ...bootOf(context),
  ...seenOf(context.staging),
});

export const nodeExpandCallOf = (context: MountContext): NodeExpandCall => {
  const { expansion, users } = context;
  const user = users.find((one) => one.at === 'published');
  return {
    ...mountCallOf(context),
    uid: mustVolume(context).uid,
    capability: mustCapability(context),
    capacity: expansion?.capacity ?? {},
    ...stagedIn(context),
    ...(user && { allocId: user.allocId }),
  };
};
