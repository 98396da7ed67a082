/** Compares what the kernel shows at a path with what was mounted there. Reads the mount table, and what disks the kernel has; asks no file system. */
import { dirname } from 'node:path';
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import {
  isRemoved,
  isSameSource,
  isSourceWithin,
  isWithin,
  type MountEntry,
  type MountTable,
} from '../host/mount-table.js';
import { isOtherDisk } from './host-tool.js';

/** A path, and the mount to be seen there. */
export interface ToBeSeen {
  path: string;
  /** Mount that the path should show. Absent: any mount at the path is accepted. */
  found?: KernelMount | undefined;
}

/**
 * `covered`: something else lies over the mount, or over a directory on the way to it; `replaced`: the mount is gone,
 * and something else is mounted in its place; `gone`: nothing is mounted there. `entry` is what is seen.
 */
export type Seen = { is: 'ours' | 'covered' | 'replaced'; entry: MountEntry } | { is: 'gone' };

export function observedAt(table: MountTable, { path, found }: ToBeSeen): Seen {
  const entry = table.at(path).at(-1);
  if (!entry) {
    const hider = table.hiderOf(path);
    return hider ? { is: 'covered', entry: hider } : { is: 'gone' };
  }
  if (found?.disk && isOtherDisk(found.disk)) return { is: 'replaced', entry };
  if (!found || isVery(entry, found)) return { is: 'ours', entry };
  // A mount that is hidden by others is mounted, too.
  const isThere = (isIt: typeof isVery): boolean => table.entries.some((one) => one.path === path && isIt(one, found));
  // A plugin mounts over its own mount only if that is dead.
  if (isMountedAgain(entry, found) && (isOfProcess(entry) || !isThere(isVery))) return { is: 'ours', entry };
  return { is: isThere(isVery) || isThere(isMountedAgain) ? 'covered' : 'replaced', entry };
}

/** Facts about a mount that a call of ours has made. */
export interface Evidence {
  path: string;
  /** Mount that the path showed once the plugin had answered. Absent: no answer, or no mount there. */
  found?: KernelMount | undefined;
  /** Mount that the path shows since a call with an unknown answer. Before that call the path showed nothing. */
  appeared?: KernelMount | undefined;
  /** Path where the volume is staged, and what it showed then. */
  staged?: ToBeSeen | undefined;
}

/**
 * The mount that is seen at a path, where it is certain that a call of ours has made it: it is the very mount that was seen
 * once it was made, or, where none was, it is bound from where the volume is staged. Undefined: that is not certain.
 */
export function provenAt(table: MountTable, { path, found, appeared, staged }: Evidence): MountEntry | undefined {
  const entry = table.at(path).at(-1);
  if (!entry) return undefined;
  const known = found ?? appeared;
  if (known) return isVery(entry, known) ? entry : undefined;
  const source = staged && table.at(staged.path).at(-1);
  if (!source || !staged?.found || !isVery(source, staged.found)) return undefined;
  return isSourceWithin(entry, source) && entry.fsType === source.fsType ? entry : undefined;
}

/** Whether a process serves the file system: the mount stays in the table when the process is gone. */
const isOfProcess = ({ fsType }: MountEntry): boolean => fsType.startsWith('fuse');

/** Mount that is ours and served by a process, so that it may be dead; undefined: it can't be. */
export function servedAt(table: MountTable, shown: ToBeSeen): MountEntry | undefined {
  const seen = observedAt(table, shown);
  return seen.is === 'ours' && isOfProcess(seen.entry) ? seen.entry : undefined;
}

/**
 * Whether it is the very mount, not unmounted since. The number of a mount without a device is given to another one
 * soon.
 */
const isVery = (seen: MountEntry, found: KernelMount): boolean =>
  isOfType(seen, found) &&
  (isRemoved(seen, found) || isSameSource(seen, found)) &&
  (!isAnonymous(seen.device) || isOfOrigin(seen, found) || isOnDisk(seen, found));

/**
 * Whether the plugin has mounted it again: a file system without a device, such as NFS or FUSE, has another number
 * each time.
 */
const isMountedAgain = (seen: MountEntry, found: KernelMount): boolean =>
  isOfType(seen, found) &&
  isOfOrigin(seen, found) &&
  seen.root === found.root &&
  isAnonymous(seen.device) &&
  isAnonymous(found.device) &&
  (found.fsType !== undefined || isOfProcess(seen));

const isOfType = (seen: MountEntry, { fsType }: KernelMount): boolean => fsType === undefined || seen.fsType === fsType;

const isOfOrigin = (seen: MountEntry, { origin }: KernelMount): boolean =>
  origin === undefined || seen.origin === origin;

/**
 * Whether the file system is on a disk, as btrfs is: the disk may be named otherwise while it is mounted. A file
 * system that a process serves keeps the name that it was given.
 */
const isOnDisk = (seen: MountEntry, { origin }: KernelMount): boolean =>
  !isOfProcess(seen) && [seen.origin, origin].every((one) => one?.startsWith('/dev/'));

const isAnonymous = (device: string): boolean => device.startsWith('0:');

/**
 * Staging path of another volume that shows what this mount shows, while the own one does not; undefined: there is none.
 * Two volumes may be of one share: then both staging paths show it.
 * @param own staging path of the volume
 */
export function otherStagingOf(table: MountTable, mount: MountEntry, own: string): string | undefined {
  const staged = table.at(own).at(-1);
  if (staged && isShownBy(staged, mount)) return undefined;
  const isOther = ({ path }: MountEntry): boolean => path !== own && dirname(path) === dirname(own);
  return table.entries.find((one) => isOther(one) && isSameSource(one, mount) && isOfOrigin(one, mount))?.path;
}

/** Whether one mount shows the other, or a directory of it. NFS calls the directory of each mount `/`. */
const isShownBy = (mount: MountEntry, other: MountEntry): boolean =>
  isSourceWithin(other, mount) && (!isAnonymous(mount.device) || isWithin(other.origin, mount.origin));

/** Whether the mount could be written to when it was made, and can't any more. */
export const hasTurnedReadOnly = (seen: MountEntry, found: KernelMount | undefined): boolean =>
  seen.isReadOnly && found?.isWritable === true;

/** Describes what is seen there and should not be: another mount, or ours in a bad state; undefined: all is well. */
export function strangenessAt(table: MountTable, shown: ToBeSeen): string | undefined {
  const seen = observedAt(table, shown);
  if (seen.is === 'covered') return coveredBy(seen.entry);
  if (seen.is === 'replaced') return replacedBy(seen.entry);
  return seen.is === 'ours' && hasTurnedReadOnly(seen.entry, shown.found) ? turnedReadOnly : undefined;
}

export const turnedReadOnly =
  "it has turned read-only, as file systems do after an error (see the kernel's log): release all that use the volume here, so that it is unstaged, and mounted anew";

export const kernelMountOf = ({ device, root, fsType, origin, isReadOnly }: MountEntry): KernelMount => ({
  ...{ device, root, fsType, origin },
  ...(!isReadOnly && { isWritable: true }),
});

export const coveredBy = (entry: MountEntry): string =>
  `covered by ${named(entry)}, which is not ours: unmount that at ${entry.path}`;

/** Describes the replacement without advice: the plugin may have made it. */
export const replacedBy = (entry: MountEntry): string =>
  `something else is mounted in its place (${named(entry)}, at ${entry.path})`;

const named = ({ device, root, fsType }: MountEntry): string => `${root} of ${device} (${fsType})`;
