/** What the kernel shows at a path, held against what was mounted there. Looks at its table only. */
import type { KernelMount } from '../../machines/mount-types.js';
import { isRemoved, type MountEntry, type MountTable } from '../host/mount-table.js';

/** Of a file system that a process serves: it stays in the table when that is gone. */
export const isOfProcess = ({ fsType }: MountEntry): boolean => fsType.startsWith('fuse');

/**
 * What is seen at the path in place of what was mounted there: on top of that, over a directory on the way to it, or since
 * that is gone.
 * @param found what was mounted there; absent: whatever is there is taken for it
 */
export function strangerAt(table: MountTable, path: string, found: KernelMount | undefined): MountEntry | undefined {
  const seen = table.at(path).at(-1);
  if (!seen) return table.hiderOf(path);
  return found && !isSame(seen, found) ? seen : undefined;
}

/**
 * What lies over what was mounted at the path, be it over a directory on the way to it; undefined also where that is gone, and
 * something else in its place: its plugin may have made it anew.
 */
export function coverOf(table: MountTable, path: string, found: KernelMount | undefined): MountEntry | undefined {
  const there = table.at(path);
  const seen = there.at(-1);
  if (!seen) return table.hiderOf(path);
  const isOver = found !== undefined && !isSame(seen, found) && there.some((one) => isSame(one, found));
  return isOver ? seen : undefined;
}

/** Drivers whose processes serve their mounts may make them anew by themselves: each of those has another device. */
const isSame = (seen: MountEntry, found: KernelMount): boolean =>
  (found.fsType === undefined || seen.fsType === found.fsType) &&
  (isRemoved(seen, found) || (seen.root === found.root && (seen.device === found.device || isOfProcess(seen))));

/** Where something is to be seen, and what. */
export interface Shown {
  path: string;
  /** Absent: whatever is there. */
  found?: KernelMount;
}

export const isShown = (table: MountTable, { path, found }: Shown): boolean =>
  table.has(path) && !strangerAt(table, path, found);

/** In words for people. */
export const coveredBy = ({ device, root, fsType, path }: MountEntry): string =>
  `covered by ${root} of ${device} (${fsType}), which is none of ours: unmount that at ${path}`;
