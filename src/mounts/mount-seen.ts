/** What the kernel shows at a path, held against what was mounted there. Looks at its table only. */
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import { isRemoved, isSameSource, isSourceWithin, type MountEntry, type MountTable } from '../host/mount-table.js';

/** Where something is to be seen, and what. */
export interface ToBeSeen {
  path: string;
  /** What was mounted there; absent: whatever is there is taken for it. */
  found?: KernelMount | undefined;
}

/**
 * `covered`: something else lies over it, or over a directory on the way to it; `replaced`: it is gone, and something else is
 * mounted in its place; `gone`: nothing is mounted there. `entry` is what is seen.
 */
export type Seen = { is: 'ours' | 'covered' | 'replaced'; entry: MountEntry } | { is: 'gone' };

export function seenAt(table: MountTable, { path, found }: ToBeSeen): Seen {
  const entry = table.at(path).at(-1);
  if (!entry) {
    const hider = table.hiderOf(path);
    return hider ? { is: 'covered', entry: hider } : { is: 'gone' };
  }
  if (!found || isVery(entry, found)) return { is: 'ours', entry };
  // Also what others hide is mounted.
  const isThere = (isIt: typeof isVery): boolean => table.entries.some((one) => one.path === path && isIt(one, found));
  // Over its own, a plugin mounts only what is dead.
  if (isMountedAgain(entry, found) && (isOfProcess(entry) || !isThere(isVery))) return { is: 'ours', entry };
  return { is: isThere(isVery) || isThere(isMountedAgain) ? 'covered' : 'replaced', entry };
}

/** Facts about a mount that a call of ours has made. */
export interface Evidence {
  path: string;
  /** Mount that the path showed once the plugin said that it is made. Absent: no such answer, or no mount there. */
  found?: KernelMount | undefined;
  /** Mount that the path shows since a call with an unknown answer. Before that call the path showed nothing. */
  appeared?: KernelMount | undefined;
  /** Where the volume is staged, and what that path has shown then. */
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

/** Of a file system that a process serves: it stays in the table when that is gone. */
const isOfProcess = ({ fsType }: MountEntry): boolean => fsType.startsWith('fuse');

/** What is seen as ours, and a process serves, so that it may be dead; undefined: it can't be. */
export function servedAt(table: MountTable, shown: ToBeSeen): MountEntry | undefined {
  const seen = seenAt(table, shown);
  return seen.is === 'ours' && isOfProcess(seen.entry) ? seen.entry : undefined;
}

/** It was not unmounted since. The number of what has no device is given to another soon. */
const isVery = (seen: MountEntry, found: KernelMount): boolean =>
  isOfType(seen, found) &&
  (isRemoved(seen, found) || isSameSource(seen, found)) &&
  (!isAnonymous(seen.device) || isOfOrigin(seen, found) || isOnDisk(seen, found));

/** What has no device, as NFS and FUSE, has another number each time its plugin mounts it. */
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

/** As btrfs is: its disk may be called otherwise while it is mounted. What a process serves keeps the name that it was given. */
const isOnDisk = (seen: MountEntry, { origin }: KernelMount): boolean =>
  !isOfProcess(seen) && [seen.origin, origin].every((one) => one?.startsWith('/dev/'));

const isAnonymous = (device: string): boolean => device.startsWith('0:');

/** What else is seen there, in words for people; undefined: nothing. */
export function strangerAt(table: MountTable, shown: ToBeSeen): string | undefined {
  const seen = seenAt(table, shown);
  if (seen.is === 'covered') return coveredBy(seen.entry);
  return seen.is === 'replaced' ? replacedBy(seen.entry) : undefined;
}

/** In words for people. */
export const coveredBy = (entry: MountEntry): string =>
  `covered by ${named(entry)}, which is none of ours: unmount that at ${entry.path}`;

/** In words for people. That its plugin has made it is possible: nothing is advised. */
export const replacedBy = (entry: MountEntry): string =>
  `something else is mounted in its place (${named(entry)}, at ${entry.path})`;

const named = ({ device, root, fsType }: MountEntry): string => `${root} of ${device} (${fsType})`;
