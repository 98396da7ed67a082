/**
 * Checks that a target shows the volume as it was asked for, once the plugin says that it is published. Reads the mount
 * table and names in our own directories; another process looks at devices. Errors: mount-faults.ts
 */
import type { NodePublishCall } from '../../machines/mount/calls.js';
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import { volumeName } from '../../machines/volume/requests.js';
import type { Logger } from '../engine/logger.js';
import type { MountEntry, MountTable } from '../host/mount-table.js';
import { isSourceWithin } from '../host/mount-table.js';
import type { BlockDevice } from './host-tool.js';
import type { MountDirectories } from './mount-directories.js';
import {
  noDevice,
  noFileSystem,
  notReadOnly,
  notTheVolume,
  notWritableAnyMore,
  ofOtherVolume,
} from './mount-faults.js';
import { hasTurnedReadOnly, kernelMountOf, otherStagingOf } from './mount-seen.js';
import type { MountPath } from './paths.js';

export interface AsAskedOptions {
  /** Directory above all mount paths. */
  root: string;
  directories: Pick<MountDirectories, 'isFile'>;
  /** Block device at a path; undefined: something else is there. */
  blockDeviceAt(path: string): Promise<BlockDevice | undefined>;
  /** Whether other users can't reach the directories of mounts. */
  isClosed: boolean;
  logger: Logger;
}

/** A target, and what the kernel shows since it was published. */
interface PublishedTarget {
  call: NodePublishCall;
  staging: MountPath;
  target: MountPath;
  table: MountTable;
  /** Mount that is seen at the target. */
  found: MountEntry;
}

/**
 * Returns what tells this mount from others from here on.
 * @throws {StagecraftError} MOUNT_NOT_AS_ASKED
 */
export async function asAsked(published: PublishedTarget, options: AsAskedOptions): Promise<KernelMount> {
  const { call, staging, target, table, found } = published;
  const isBlock = call.capability.attachmentMode === 'block-device';
  const device = isBlock ? await options.blockDeviceAt(target.path) : undefined;
  // A device that the plugin has made in the directory of the host is a volume.
  if (!device && isOfHost(published, options)) throw notTheVolume(call, staging, target);
  const other = otherStagingOf(table, found, staging.path);
  if (other !== undefined) throw ofOtherVolume(call, target, other);
  if (!isBlock) {
    fileSystemAsAsked(published, options);
    return kernelMountOf(found);
  }
  if (!device) throw noDevice(call, target);
  // A read-only mount does not stop writes to a device.
  if (call.readOnly && device.isWritable) throw notReadOnly(call, target);
  return { ...kernelMountOf(found), ...(device.disk && { disk: device.disk }) };
}

/** Whether a target shows, instead of the staged volume, the host's directory beneath it. */
function isOfHost({ call, staging, table, found }: PublishedTarget, { root }: AsAskedOptions): boolean {
  return call.isStaged && isSourceWithin(found, table.sourceOf(staging.path, table.holderOf(root)));
}

function fileSystemAsAsked(
  { call, target, found }: PublishedTarget,
  { directories, isClosed, logger }: AsAskedOptions,
): void {
  const { capability, readOnly, staged, key } = call;
  const { fsType, mountFlags = [] } = capability;
  if (directories.isFile(target)) throw noFileSystem(call, target);
  if (readOnly && !found.isReadOnly) throw notReadOnly(call, target);
  if (!readOnly && hasTurnedReadOnly(found, staged)) throw notWritableAnyMore(call, target);
  const log = (what: string): void =>
    logger.warn({ path: target.path }, `${volumeName(key)}, mounted at ${target.path}, ${what}`);
  if (!readOnly && found.isReadOnly && !mountFlags.includes('ro'))
    log('is read-only by its nature or by its plugin, though it was asked for to be written to');
  if (fsType !== undefined && !found.fsType.startsWith(fsType))
    log(`has the file system ${found.fsType}, though ${fsType} was asked for`);
  if (!isClosed && !found.options.has('nosuid'))
    log(
      'is open to other users, whom a set-user-id program in it would make root: add nosuid to its mountFlags, or close the data directory (dataDirAccess)',
    );
}
