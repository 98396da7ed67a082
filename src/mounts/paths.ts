/**
 * Where volumes are staged and published on this host, and what plugins are told of it. Ids become path segments only
 * through a hash, whatever they are. Looks at texts only; what is made there: places.ts
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { isWithin } from '../host/mount-table.js';

/** What drivers have to take, by the CSI specification. */
export const maxPathBytes = 128;

/** What a hashed directory stands for, as its index file says it. */
export type Subject = { plugin: string } | { allocId: string } | { namespace: string; id: string };

/** A directory on the way to a place. */
export interface ParentDirectory {
  path: string;
  /** Absent: its name says it. */
  subject?: Subject;
  /** Goes with what is in it. */
  isTemporary?: boolean;
}

/** A path for one volume, as the kernel's mount table has it. */
export interface Place {
  path: string;
  subject: Subject;
  /** From the outermost on, all below `MountPaths.root`. */
  parents: readonly ParentDirectory[];
}

export interface MountPaths {
  /** All places are below it. */
  readonly root: string;
  /** What belongs to one plugin: where it sees that elsewhere, that is its `stagePublishBaseDir`. */
  pluginRoot(plugin: string): string;
  /** One for each volume: it is staged there once, for all that use it. */
  staging(plugin: string, key: VolumeKey): Place;
  /** One for each volume of each alloc. */
  target(plugin: string, key: VolumeKey, allocId: string): Place;
  /**
   * A place of the plugin as the plugin is told it.
   * @param hostPath the `path` of a place
   * @param stagePublishBaseDir of the plugin's task
   * @throws {StagecraftError} INVALID_ARGUMENT: it is longer than drivers take; TypeError: no place of that plugin
   */
  toPlugin(plugin: string, hostPath: string, stagePublishBaseDir?: string): string;
}

/** @param socketRoot the same directory as `dataDir` under a shorter name, as `DataDir` has them */
export function mountPaths({ dataDir, socketRoot }: { dataDir: string; socketRoot: string }): MountPaths {
  const root = join(dataDir, 'csi');
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
      const folder = join(pluginRoot(plugin), 'per-alloc', segmentOf('alloc', allocId));
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

const subjectOf = ({ namespace, id }: VolumeKey): Subject => ({ namespace, id });

const volumeSegment = ({ namespace, id }: VolumeKey): string => segmentOf('volume', namespace, id);

/** JSON tells apart whatever differs, broken surrogate pairs too. */
const segmentOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

function checked(path: string, fault: string): string {
  const bytes = Buffer.byteLength(path);
  if (bytes <= maxPathBytes) return path;
  const surplus = bytes - maxPathBytes;
  const message = `${fault}: it would get a path of ${bytes} bytes, drivers take ${maxPathBytes}: choose one that is shorter by ${surplus} or more`;
  throw new StagecraftError('INVALID_ARGUMENT', message);
}
