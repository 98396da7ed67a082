/** Errors about mounts as the kernel shows them, with advice. */
import { mountAddress } from '../../machines/kit/addresses.js';
import type { MountCall, NodePublishCall } from '../../machines/mount/calls.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { isWithin, type MountEntry, type MountTable } from '../host/mount-table.js';
import { subjectAt } from './index-files.js';
import { coveredBy, replacedBy, turnedReadOnly } from './mount-seen.js';
import type { MountPath } from './paths.js';

export const mountNotFound = (key: VolumeKey, node: string): StagecraftError =>
  new StagecraftError('MOUNT_NOT_FOUND', `${volumeName(key)} is not mounted on node ${node}: list what is`, {
    address: mountAddress(node, key.namespace, key.id),
  });

export const notMounted = ({ path }: MountPath): StagecraftError =>
  new StagecraftError(
    'MOUNT_MISSING',
    `the plugin says that it has published the volume, but nothing is mounted at ${path}: does it run in a mount namespace from which its mounts can't be seen? See docs/mounts.md`,
  );

/** Adds mounts inside the volume to an error: they keep it from being unmounted, and the plugin may not know why. */
export function withMountsInside(error: unknown, { path }: MountPath, { entries }: MountTable): unknown {
  const inside = entries.filter((entry) => entry.path !== path && isWithin(entry.path, path));
  if (!(error instanceof StagecraftError) || inside.length === 0) return error;
  const { code, message, cause, ...details } = error;
  const names = [...new Set(inside.map((entry) => entry.path))].join(', ');
  return new StagecraftError(code, `${message}; mounted inside it: ${names}: unmount that first`, {
    ...details,
    cause,
  });
}

export const stillMounted = (
  what: string,
  { path }: MountPath,
  { device, root, fsType }: MountEntry,
): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `the plugin says that the volume is not ${what} any more, but ${root} of ${device} (${fsType}) is mounted at ${path} still, and may be somebody else's: the plugin is asked again; see what it is, then unmount it: stagecraft mount clean ${path}`,
  );

/** Error for a mount that is certainly ours, and that Stagecraft can't unmount either. */
export const staysMounted = (what: string, { path }: MountPath, why: string): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `the plugin says that the volume is not ${what} any more, but its mount is at ${path} still, and can't be unmounted by Stagecraft either (${why}): end what uses it; it is tried again`,
  );

export const notToUnstage = ({ path }: MountPath, { device, root, fsType }: MountEntry): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `the plugin does not offer to stage and unstage volumes, but ${root} of ${device} (${fsType}) is mounted at the staging path ${path}: the plugin that staged it has to be back, or somebody has to unmount it`,
  );

export const notReadOnly = ({ key }: MountCall, { path }: MountPath): StagecraftError =>
  madeWrongly(
    `${volumeName(key)} was to be read-only at ${path}, but the plugin has mounted it for writing`,
    'mount it for writing, or fix the plugin',
  );

/** Error for a covered mount: it is neither removed together with its cover nor given up. */
export const coveredStill = ({ path }: MountPath, stranger: MountEntry): StagecraftError =>
  new StagecraftError('MOUNT_STAYS', `what is mounted at ${path} can't be unmounted: it is ${coveredBy(stranger)}`);

export const stagingCovered = ({ key }: MountCall, stranger: MountEntry): StagecraftError =>
  new StagecraftError(
    'HOST_UNFIT',
    `${volumeName(key)} can't be used: where it is staged, it is ${coveredBy(stranger)}`,
  );

/** Error for a dead staging: the plugin would stage over it, or take it as staged. */
export const stagingDead = ({ key }: MountCall, { path }: MountPath): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `${volumeName(key)} can't be staged: what is mounted at ${path} is dead; where it is not unstaged by itself, unmount it`,
  );

export const stagingReplaced = ({ key }: MountCall, stranger: MountEntry): StagecraftError =>
  new StagecraftError(
    'HOST_UNFIT',
    `${volumeName(key)} can't be used: where it is staged, ${replacedBy(stranger)}: unmount that first, or release all that use the volume here`,
  );

/** Error like that of a plugin that misses an earlier step. */
export const notStagedAnyMore = ({ path }: MountPath): StagecraftError =>
  new StagecraftError(
    'MOUNT_MISSING',
    `what was staged at ${path} is not mounted there any more: the volume is staged again before it is used`,
    { final: false, answerClass: 'repair' },
  );

/**
 * Error for a plugin that says each time the volume is staged while the staging path shows nothing: so until it is
 * unstaged.
 */
export function notTheVolume(
  { key, staged }: NodePublishCall,
  staging: MountPath,
  { path }: MountPath,
): StagecraftError {
  const advice = staged
    ? `see that the plugin sees what is mounted at ${staging.path}, then ask again`
    : `nothing is mounted at ${staging.path}: release all that use the volume here, so that it is unstaged, then ask again`;
  return new StagecraftError(
    'MOUNT_NOT_AS_ASKED',
    `${volumeName(key)} was to be mounted at ${path}, but the plugin has bound the directory of this host that it is staged at: that is unmounted again; ${advice}`,
    { final: true, answerClass: 'repair' },
  );
}

/** @param other staging path of the other volume */
export function ofOtherVolume({ key }: MountCall, { path }: MountPath, other: string): StagecraftError {
  const subject = subjectAt(other) ?? 'another volume';
  return madeWrongly(
    `${volumeName(key)} was to be mounted at ${path}, but the plugin has mounted what is staged for ${subject} at ${other}`,
    'fix the plugin',
  );
}

export const noDevice = ({ key }: MountCall, { path }: MountPath): StagecraftError =>
  madeWrongly(
    `${volumeName(key)} was to be a block device at ${path}, but the plugin has mounted something else there`,
    'use the volume as a file system, or fix the plugin',
  );

export const noFileSystem = ({ key }: MountCall, { path }: MountPath): StagecraftError =>
  madeWrongly(
    `${volumeName(key)} was to be a directory at ${path}, but the plugin has mounted a file or a device there`,
    'use the volume as a block device, or fix the plugin',
  );

/** Error for a volume that could be written to when it was staged. */
export const notWritableAnyMore = ({ key }: MountCall, { path }: MountPath): StagecraftError =>
  madeWrongly(`${volumeName(key)} was to be written to at ${path}, but ${turnedReadOnly}`, 'then ask again');

const madeWrongly = (what: string, advice: string): StagecraftError =>
  new StagecraftError('MOUNT_NOT_AS_ASKED', `${what}: it is unmounted again; ${advice}`, { final: true });
