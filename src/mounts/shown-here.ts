/** Paths where the kernel of this host shows a volume, whatever the records say. */
import { basename, dirname } from 'node:path';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { messageOf, StagecraftError } from '../errors.js';
import { isWithin, type MountTable } from '../host/mount-table.js';
import type { MountTables } from './mount-tables.js';
import type { MountPaths } from './paths.js';

/**
 * @param allocId only paths of this alloc: its target, and the staging path if no other alloc has a target
 * @returns paths, of any plugin
 * @throws StagecraftError HOST_UNFIT: the mount table can't be read
 */
export async function shownHere(
  { paths, tables }: { paths: MountPaths; tables: MountTables },
  key: VolumeKey,
  allocId?: string,
): Promise<string[]> {
  const table = await tables.table().catch((cause: unknown): MountTable => {
    throw new StagecraftError('HOST_UNFIT', `what is mounted here can't be read: ${messageOf(cause)}`, { cause });
  });
  const name = basename(paths.staging('', key).path);
  const shown = [...new Set(table.entries.map(({ path }) => path))].filter(
    (path) => isWithin(path, paths.root) && basename(path) === name,
  );
  const staging = shown.filter((path) => basename(dirname(path)) === 'staging');
  const targets = shown.filter((path) => !staging.includes(path));
  if (allocId === undefined) return [...staging, ...targets];
  const folder = basename(dirname(paths.target('', key, allocId).path));
  const own = targets.filter((path) => basename(dirname(path)) === folder);
  return targets.length > own.length ? own : [...staging, ...own];
}
