/**
 * Paths where volumes are staged and published on this host, and as plugins see them. Ids become path segments only
 * as hashes. Handles texts only; directories are made by mount-directories.ts
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { mountsIn } from '../host/data-dir-access.js';
import { isWithin } from '../host/mount-table.js';

/** Length that drivers have to accept, by the CSI specification. */
const maxPathBytes = 128;

/** Subject of a hashed directory, as its index file names it. */
export type HashedSubject = { plugin: string } | { allocId: string } | { namespace: string; id: string };

/** A directory on the way to a place. */
export interface ParentDirectory {
  path: string;
  /** Absent: the name says it. */
  subject?: HashedSubject;
  /** Removed together with its contents. */
  isTemporary?: boolean;
}

/** Path of one volume, as in the kernel's mount table. */
export interface MountPath {
  path: string;
  subject: HashedSubject;
  /** From the outermost on, all below `MountPaths.root`. */
  parents: readonly ParentDirectory[];
}

export interface MountPaths {
  /** Directory above all mount paths. */
  readonly root: string;
  /** Directory of one plugin. If the plugin sees it elsewhere, that is its `stagePublishBaseDir`. */
  pluginRoot(plugin: string): string;
  /** Staging path of a volume: one for all that use it. */
  staging(plugin: string, key: VolumeKey): MountPath;
  /** Target of a volume for one alloc. */
  target(plugin: string, key: VolumeKey, allocId: string): MountPath;
  /**
   * Returns a path of the plugin as the plugin sees it.
   * @param hostPath the `path` of a MountPath
   * @param stagePublishBaseDir of the plugin's task
   * @throws {StagecraftError} INVALID_ARGUMENT: longer than drivers accept; TypeError: not a path of that plugin
   */
  toPlugin(plugin: string, hostPath: string, stagePublishBaseDir?: string): string;
}

interface MountPathsOptions {
  dataDir: string;
  /** The same directory as `dataDir` under a shorter name, as in `DataDir`. */
  socketRoot: string;
  /** Keeps paths of volumes from being guessed before the volume is mounted. Absent in data directories of earlier versions. */
  salt?: string;
}

export function mountPaths({ dataDir, socketRoot, salt }: MountPathsOptions): MountPaths {
  const secretly = (...parts: readonly string[]): string => segmentOf(...(salt === undefined ? [] : [salt]), ...parts);
  const volumeSegment = ({ namespace, id }: VolumeKey): string => secretly('volume', namespace, id);
  const root = mountsIn(dataDir);
  const pluginRoot = (plugin: string): string => join(root, segmentOf('plugin', plugin));
  const within = (plugin: string, folder: string): ParentDirectory[] => {
    const path = pluginRoot(plugin);
    return [{ path, subject: { plugin } }, { path: join(path, folder) }];
  };

  return {
    root,
    pluginRoot,

    staging(plugin, key) {
      const parents = within(plugin, 'staging');
      return { path: join(pluginRoot(plugin), 'staging', volumeSegment(key)), subject: subjectOf(key), parents };
    },

    target(plugin, key, allocId) {
      const folder = join(pluginRoot(plugin), 'per-alloc', secretly('alloc', allocId));
      const parents = [...within(plugin, 'per-alloc'), { path: folder, subject: { allocId }, isTemporary: true }];
      return { path: join(folder, volumeSegment(key)), subject: subjectOf(key), parents };
    },

    toPlugin(plugin, hostPath, stagePublishBaseDir) {
      const own = pluginRoot(plugin);
      if (!isWithin(hostPath, own))
        throw new TypeError(`${hostPath} is no place of plugin '${plugin}': that is ${own}`);
      if (stagePublishBaseDir === undefined) {
        const path = socketRoot + hostPath.slice(dataDir.length);
        return checked(path, `dataDir '${dataDir}' is too long for plugin '${plugin}'`);
      }
      const path = stagePublishBaseDir.replace(/\/+$/, '') + hostPath.slice(own.length);
      return checked(path, `stagePublishBaseDir '${stagePublishBaseDir}' of plugin '${plugin}' is too long`);
    },
  };
}

const subjectOf = ({ namespace, id }: VolumeKey): HashedSubject => ({ namespace, id });

/** Hashes JSON, which tells apart whatever differs, broken surrogate pairs too. */
const segmentOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

function checked(path: string, fault: string): string {
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxPathBytes) return path;
  const surplus = bytes - maxPathBytes;
  const message = `${fault}: it would get a path of ${bytes} bytes, drivers take ${maxPathBytes}: choose one that is shorter by ${surplus} or more`;
  throw new StagecraftError('INVALID_ARGUMENT', message);
}
