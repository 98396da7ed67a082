/** View of a mount for callers, made from its record. */
import type { StateValue } from 'xstate';
import type { Capability } from '../../machines/kit/csi-types.js';
import type { Failure } from '../../machines/kit/host.js';
import { isIn, type PartView } from '../../machines/kit/parts.js';
import { isDead, isStaged, isStagingInDoubt } from '../../machines/mount/staging.js';
import { mountParts, mountStateOf, unconfirmedText } from '../../machines/mount/states.js';
import { isWanted, mountUserStateOf } from '../../machines/mount/target.js';
import type {
  MountChanged,
  MountContext,
  MountState,
  MountUserState,
  Target,
  VolumeCondition,
} from '../../machines/mount/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { asData } from '../engine/machine/data.js';
import type { Change } from '../engine/topics/topics.js';
import type { MountTable } from '../host/mount-table.js';
import { strangenessAt } from './mount-seen.js';
import type { MountPaths } from './paths.js';

/** An alloc that uses a volume here. */
export interface MountUserStatus {
  allocId: string;
  state: MountUserState;
  readOnly: boolean;
  /** Path of its target. */
  hostPath: string;
  /** Reason of its state, if of interest: the last failure, or what else is mounted at the target. */
  message?: string;
}

export type MountEvent = Change<MountChanged>;

/** One volume on this node. */
export interface MountStatus {
  volume: VolumeKey;
  state: MountState;
  plugin: string;
  csiId: string;
  /** Present use; absent: none any more. */
  capability?: Capability;
  /** Path where it is staged, or may be. Absent: not staged, or the plugin does not stage. */
  stagingPath?: string;
  /** False also if that is in doubt. */
  isStaged: boolean;
  users: MountUserStatus[];
  /** Staging and targets, each with its exact state and the reason. */
  parts: PartView[];
  /** Call that is under way. */
  underWay?: string;
  /** Health as the plugin reports it; absent: nothing reported. */
  condition?: VolumeCondition;
  /** Reason why it makes no progress, or why its file system has not grown. */
  error?: Failure;
}

/**
 * A copy that the caller may change. Undefined if nothing of the volume is here.
 * @param table mount table; absent: it can't be read now
 */
export function mountStatusOf(
  value: StateValue,
  context: MountContext,
  paths: MountPaths,
  table: MountTable | undefined,
): MountStatus | undefined {
  const { key, volume, capability, staging, users, condition } = context;
  if (!volume) return undefined;
  const { plugin, csiId } = volume;
  const { path: stagingPath } = paths.staging(plugin, key);
  const error = mountTrouble(context) ?? expansionFailure(context);
  const underWay = callIn(context);
  return asData({
    volume: key,
    state: mountStateOf(value, context),
    plugin,
    csiId,
    ...(capability && { capability }),
    ...((isStaged(staging) || isStagingInDoubt(staging)) && { stagingPath }),
    isStaged: isStaged(staging),
    users: users.map((user) => {
      const { path } = paths.target(plugin, key, user.allocId);
      const message = isIn(user, 'published') && table ? strangenessAt(table, { path, found: user.found }) : undefined;
      return { ...userStatusOf(user, context), ...(message !== undefined && { message }), hostPath: path };
    }),
    parts: mountParts(context),
    ...(underWay !== undefined && { underWay }),
    ...(condition && { condition }),
    ...(error && { error }),
  });
}

/** Status of a mount that an agent of another place has made: its plugin is not asked for its condition any more. */
export const elsewhere = ({ condition: _, ...status }: MountStatus, message: string): MountStatus => ({
  ...status,
  error: { code: 'MOUNT_ELSEWHERE', message, final: false },
});

/** Call that is under way: calls about a volume are made one at a time. */
export function callIn({ volume, work, awaiting }: MountContext): string | undefined {
  if (!volume || !work?.isCalling || awaiting) return undefined;
  return `a call to plugin '${volume.plugin}' is under way (${work.kind})`;
}

function userStatusOf(user: Target, context: MountContext): Omit<MountUserStatus, 'hostPath'> {
  const { allocId, readOnly } = user;
  const message = messageOf(user, context);
  return { allocId, state: mountUserStateOf(user), readOnly, ...(message !== undefined && { message }) };
}

function messageOf(user: Target, { unconfirmed }: MountContext): string | undefined {
  const { allocId, failure, tries } = user;
  if (isWanted(user) && unconfirmed.includes(allocId)) return unconfirmedText(user);
  return failure?.message ?? tries?.failure.message ?? (isIn(user, 'lost') ? lostStill : undefined);
}

const lostStill = 'it is mounted again once that is asked for: prepare its alloc, or see stagecraft mount retry';

/** Reason why it makes no progress. */
export function mountTrouble({ awaiting, work, staging, users, expansion }: MountContext): Failure | undefined {
  if (awaiting) return { code: 'PLUGIN_UNAVAILABLE', message: awaiting.reason, final: false };
  if (!work) return isDead(staging) ? deadStill(users) : undefined;
  const user = users.find(({ allocId }) => allocId === work.allocId);
  if (user) return user.tries?.failure;
  if (work.kind === 'expand') return expansion?.tries?.failure;
  return (work.kind === 'stage' ? staging.tries : staging.unstageTries)?.failure;
}

/** Why the file system keeps its size, though the volume has grown: that keeps nothing else from going on. */
const expansionFailure = ({ expansion }: MountContext): Failure | undefined =>
  expansion?.failure && {
    ...expansion.failure,
    message: `its file system can't be expanded to the size of the volume: ${expansion.failure.message}`,
  };

/** Failure of a dead staging: nothing is mounted over it, and nothing is taken from an alloc whose mount answers. */
function deadStill(users: Target[]): Failure | undefined {
  const holders = users.filter((user) => isIn(user, 'published')).map(({ allocId }) => allocId);
  if (holders.length === 0) return undefined;
  const message = `its staging path is dead, and is not unstaged while alloc ${holders.join(', ')} has a mount of the volume that answers: release that first, or unmount the staging path, which mount list --json names`;
  return { code: 'MOUNT_STAYS', message, final: false };
}
