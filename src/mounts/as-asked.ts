/**
 * Checks that a target shows the volume as it was asked for, once the plugin says that it is published. Reads the mount
 * table and names in our own directories; other processes look at what is mounted. Errors: mount-faults.ts
 */
import type { NodePublishCall } from '../../machines/mount/calls.js';
import type { MountEntry, MountTable } from '../host/mount-table.js';
import { isSourceWithin } from '../host/mount-table.js';
import { isWritableDevice } from './device-access.js';
import { notReadOnly, notTheVolume, ofOtherVolume } from './mount-faults.js';
import { otherStagingOf } from './mount-seen.js';
import type { MountPath } from './paths.js';

export interface AsAskedOptions {
  /** Directory above all mount paths. */
  root: string;
  /** Whether a block device is seen at the path. */
  isDevice(path: string): Promise<boolean>;
}

/** A target, and what the kernel shows since it was published. */
export interface PublishedTarget {
  call: NodePublishCall;
  staging: MountPath;
  target: MountPath;
  table: MountTable;
  /** Mount that is seen at the target. */
  found: MountEntry;
}

/** @throws {StagecraftError} MOUNT_NOT_AS_ASKED */
export async function mustBeAsAsked(published: PublishedTarget, options: AsAskedOptions): Promise<void> {
  const { call, staging, target, table, found } = published;
  if (await isOfHost(published, options)) throw notTheVolume(call, staging, target);
  const other = otherStagingOf(table, found, staging.path);
  if (other !== undefined) throw ofOtherVolume(call, target, other);
  if (call.readOnly && (await isWritable(published))) throw notReadOnly(call, target);
}

/**
 * Whether a target shows, instead of the staged volume, the host's directory beneath it. A device that the plugin has
 * made there is a volume all the same.
 */
async function isOfHost(
  { call, staging, target, table, found }: PublishedTarget,
  { root, isDevice }: AsAskedOptions,
): Promise<boolean> {
  if (!call.isStaged) return false;
  const source = table.sourceOf(staging.path, table.holderOf(root));
  if (!isSourceWithin(found, source)) return false;
  return call.capability.attachmentMode !== 'block-device' || !(await isDevice(target.path));
}

/** A read-only mount does not stop writes to a device: the device has to be read-only itself. */
const isWritable = ({ call, found }: PublishedTarget): boolean | Promise<boolean> =>
  call.capability.attachmentMode === 'block-device' ? isWritableDevice(found) : !found.isReadOnly;
