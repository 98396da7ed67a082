/** An alloc as callers see it, made of what is committed. */
import type { allocMachine } from '../../machines/alloc/alloc.js';
import { mountsOf, reasonsOf as partReasonsOf } from '../../machines/alloc/parts.js';
import type { AllocContext, AllocState, AllocVolume } from '../../machines/alloc/types.js';
import type { AllocMount } from '../../machines/alloc/volume-steps.js';
import { type AllocStep, stepOf } from '../../machines/alloc/volume-steps.js';
import type { Failure } from '../../machines/kit/host.js';
import type { PartView } from '../../machines/kit/parts.js';
import { mountParts } from '../../machines/mount/parts.js';
import { isStaged } from '../../machines/mount/staging.js';
import { mountUserStateOf } from '../../machines/mount/target.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ViewOf } from '../engine/actors-of.js';
import { asData } from '../engine/machine/data.js';
import { callIn, type MountStatus } from '../mounts/mount-view.js';
import { stateName } from '../requests/state-name.js';

/**
 * How a volume of an alloc is on this node. `waiting`: nothing of it is here for the alloc yet. `staged`: it is to be mounted.
 * `lost`: it was mounted, and is not any more. `leaving`: it is to be unmounted. `detached`: it is unmounted, and is to be
 * unstaged. `unmounted`: the alloc has nothing of it here any more. `failed`: it could not be mounted.
 */
export type AllocVolumeState =
  | 'waiting'
  | 'staged'
  | 'mounted'
  | 'lost'
  | 'leaving'
  | 'detached'
  | 'unmounted'
  | 'failed';

export interface AllocVolumeStatus extends AllocVolume {
  state: AllocVolumeState;
  /** How far the alloc is with it, at most a second ago. What each means: docs/mounts.md */
  step: AllocStep;
  /** By its registered name; absent: nothing of the volume is here. */
  plugin?: string;
  /** The staging path of the volume here, and the target of the alloc, each with its exact state, and why it is there. */
  parts: PartView[];
  /** Of an alloc that is on its way: the call that is under way here for the volume. */
  underWay?: string;
  /** Of one that is prepared: why the volume is not mounted for it now, or what else is seen there. */
  message?: string;
}

/** One alloc, and what it has. */
export interface AllocStatus {
  allocId: string;
  state: AllocState;
  volumes: AllocVolumeStatus[];
  /** Where they are, once it is prepared. */
  mounts?: AllocMount[];
  /** By the name of a volume: what it waits for. */
  waits: Record<string, string>;
  /** Why it failed, or is undone. */
  error?: Failure;
}

/** As far as that says what it waits for. */
export interface Waiting {
  waits: Record<string, string>;
  volumes?: readonly Pick<AllocVolumeStatus, 'name' | 'underWay'>[];
}

/** By the name of a volume: what it waits for, be it a call that is under way. */
export function allWaitsOf({ waits, volumes = [] }: Waiting): Record<string, string> {
  const calls = volumes.flatMap(({ name, underWay }) =>
    underWay === undefined || name in waits ? [] : [[name, underWay]],
  );
  return { ...waits, ...Object.fromEntries(calls) };
}

/** The same in words: `name: why`. */
export const reasonsOf = (alloc: Waiting): string[] =>
  Object.entries(allWaitsOf(alloc)).map(([name, reason]) => `${name}: ${reason}`);

export type AllocView = ViewOf<typeof allocMachine>;

export const allocStateOf = stateName<AllocState>;

/** By the name of a volume: what it waits for. */
export function waitsOf({ context: alloc }: Pick<AllocView, 'context'>): Record<string, string> {
  const lost = Object.entries(alloc.parts).flatMap(([name, { at }]) =>
    at === 'lost-at-reboot' ? [[name, newBoot]] : [],
  );
  return { ...partReasonsOf(alloc), ...Object.fromEntries(lost) };
}

/** Nobody knows whether its workload is to run again. */
const newBoot = 'the host was started anew: prepare the alloc again, or release it';

/**
 * Whoever gets it may change it.
 * @param mountOf of a volume on this node; absent: nothing of it is here
 * @param told of those: what is wrong with them
 */
export function allocStatusOf(
  view: AllocView,
  mountOf: (key: VolumeKey) => MountContext | undefined,
  told?: (key: VolumeKey) => MountStatus | undefined,
): AllocStatus {
  const { context } = view;
  const { allocId, volumes, parts, failure } = context;
  const mounts = mountsOf(context);
  const state = allocStateOf(view.state);
  return asData({
    allocId,
    state,
    volumes: volumes.map((one) => ({
      ...volumeStatusOf(one, { allocId, state }, mountOf(one.volume)),
      step: stepIn(parts, one),
      ...(state === 'prepared' && messageIn(told?.(one.volume), allocId)),
    })),
    ...(mounts && { mounts }),
    waits: waitsOf(view),
    ...(failure && { error: failure }),
  });
}

/** What of a failure is somebody else's is none of an alloc that has its mount. */
function messageIn(mount: MountStatus | undefined, allocId: string): { message?: string } {
  const user = mount?.users.find((one) => one.allocId === allocId);
  const message = user?.message ?? (user?.state === 'published' ? undefined : mount?.error?.message);
  return message === undefined ? {} : { message };
}

function stepIn(parts: AllocContext['parts'], { name }: AllocVolume): AllocStep {
  const part = parts[name];
  if (!part) throw new Error(`the alloc has no volume '${name}'`);
  return stepOf(part);
}

type Of = Pick<AllocStatus, 'allocId' | 'state'>;

function volumeStatusOf(volume: AllocVolume, of: Of, mount: MountContext | undefined): Omit<AllocVolumeStatus, 'step'> {
  const plugin = mount?.volume?.plugin;
  const underWay = mount && isUnderWay[of.state] && userIn(mount, of.allocId) ? callIn(mount) : undefined;
  return {
    ...volume,
    state: volumeStateOf(of, mount),
    ...(plugin !== undefined && { plugin }),
    parts: mount && userIn(mount, of.allocId) ? mountParts(mount, of.allocId) : [],
    ...(underWay !== undefined && { underWay }),
  };
}

const isUnderWay: Record<AllocState, boolean> = {
  preparing: true,
  prepared: false,
  recovering: true,
  releasing: true,
  released: false,
  failed: false,
};

const userIn = ({ users }: MountContext, id: string): Target | undefined => users.find(({ allocId }) => allocId === id);

/** Of a volume that the node has for nobody of this name. */
const absentIn: Record<AllocState, AllocVolumeState> = {
  preparing: 'waiting',
  prepared: 'lost',
  recovering: 'waiting',
  releasing: 'unmounted',
  released: 'unmounted',
  failed: 'unmounted',
};

function volumeStateOf({ allocId, state }: Of, mount: MountContext | undefined): AllocVolumeState {
  const user = mount && userIn(mount, allocId);
  if (!user) return absentIn[state];
  const userState = mountUserStateOf(user);
  if (userState === 'wanted') return mount && isStaged(mount.staging) ? 'staged' : 'waiting';
  return userState === 'published' ? 'mounted' : userState;
}
