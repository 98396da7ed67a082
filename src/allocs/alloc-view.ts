/** View of an alloc for callers, made from its record. */
import type { allocMachine } from '../../machines/alloc/alloc.js';
import { mountsOf, reasonsOf as partReasonsOf } from '../../machines/alloc/parts.js';
import type { AllocChanged, AllocContext, AllocState, AllocVolume } from '../../machines/alloc/types.js';
import { type AllocMount, type AllocStep, stepOf } from '../../machines/alloc/volume-steps.js';
import type { Failure } from '../../machines/kit/host.js';
import { isIn, type PartView } from '../../machines/kit/parts.js';
import { stateName } from '../../machines/kit/state-path.js';
import { isStaged } from '../../machines/mount/staging.js';
import { mountParts } from '../../machines/mount/states.js';
import { mountUserStateOf } from '../../machines/mount/target.js';
import type { MountContext, Target } from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ViewOf } from '../engine/actors-of.js';
import { asData } from '../engine/machine/data.js';
import type { Change } from '../engine/topics/topics.js';
import { StagecraftError } from '../errors.js';
import { callIn, type MountStatus } from '../mounts/mount-view.js';

/**
 * State of a volume of an alloc on this node. `waiting`: nothing is here for the alloc yet. `staged`: to be mounted.
 * `lost`: was mounted, and is gone. `leaving`: to be unmounted. `detached`: unmounted, and to be unstaged.
 * `unmounted`: nothing is here for the alloc any more. `failed`: could not be mounted.
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
  /** Step that the alloc has reached with the volume, at most a second old. Meanings: docs/mounts.md */
  step: AllocStep;
  /** Registered name of the plugin; absent: nothing of the volume is here. */
  plugin?: string;
  /** Staging of the volume here and target of the alloc, each with its exact state and the reason. */
  parts: PartView[];
  /** Call that is under way here for the volume, while the alloc is on its way. */
  underWay?: string;
  /** For a prepared alloc: why the volume is not mounted now, or what else is seen there. */
  message?: string;
}

/** An alloc and its volumes. */
export interface AllocStatus {
  allocId: string;
  state: AllocState;
  volumes: AllocVolumeStatus[];
  /** Mounts, once the alloc is prepared. */
  mounts?: AllocMount[];
  /** Reasons why volumes wait, by the volume's name. */
  waits: Record<string, string>;
  /** Reason why it failed, or is undone. */
  error?: Failure;
}

export type AllocView = ViewOf<typeof allocMachine>;

export type AllocEvent = Change<AllocChanged>;

export const allocStateOf = stateName<AllocState>;

/** Returns the reasons why volumes wait, by the volume's name. */
export function waitsOf({ context: alloc }: Pick<AllocView, 'context'>): Record<string, string> {
  const lost = Object.entries(alloc.parts).flatMap(([name, { at }]) =>
    at === 'lost-at-reboot' ? [[name, newBoot]] : [],
  );
  return { ...partReasonsOf(alloc), ...Object.fromEntries(lost) };
}

/** After a reboot nobody knows whether the workload is to run again. */
const newBoot = 'the host was started anew: prepare the alloc again, or release it';

/**
 * A copy that the caller may change.
 * @param mountOf mount of a volume on this node; absent: nothing is here
 * @param told faults of those mounts
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

/** Message of a mount that concerns this alloc: another alloc's failure does not concern one that is mounted. */
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

/** State of a volume that the node has not mounted for the alloc. */
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

/** Whether the alloc is prepared, and a mount of it is known to be gone. */
export function hasLost({ state, context }: AllocView, mountOf: (key: VolumeKey) => MountContext | undefined): boolean {
  const { allocId, volumes } = context;
  const isThere = (mount: MountContext | undefined): boolean =>
    mount?.users.some((user) => user.allocId === allocId && isIn(user, 'published')) ?? false;
  return allocStateOf(state) === 'prepared' && volumes.some(({ volume }) => !isThere(mountOf(volume)));
}

export const failedWith = (address: string, { code, message, ...details }: Failure, still = ''): StagecraftError =>
  new StagecraftError(code, `${message}${still}`, { ...details, address });
