/** The kernel's mount table for many who ask at once: one reading serves all who asked before it began. And where it shows a volume, whatever the records say. */
import { basename, dirname } from 'node:path';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { messageOf, StagecraftError } from '../errors.js';
import { readMountTable } from '../host/mount-info.js';
import { isWithin, type MountEntry, type MountTable } from '../host/mount-table.js';
import type { MountPaths } from './paths.js';

export class MountTables {
  readonly #read: () => Promise<MountTable>;
  #present: Promise<unknown> | undefined;
  #next: Promise<MountTable> | undefined;
  #last: MountTable | undefined;

  /** @param read default: the mounts of this process */
  constructor(read: () => Promise<MountTable> = () => readMountTable()) {
    this.#read = read;
  }

  /**
   * Reads the table after this call.
   * @throws Error if it can't be read
   */
  table(): Promise<MountTable> {
    this.#next ??= this.#after(this.#present);
    return this.#next;
  }

  /** Returns the mount last observed at a path: for properties that do not change while it is mounted. */
  async known(path: string): Promise<MountEntry | undefined> {
    return this.#last?.at(path).at(-1) ?? (await this.table()).at(path).at(-1);
  }

  async #after(present: Promise<unknown> | undefined): Promise<MountTable> {
    // Callers in the same turn share one read.
    await Promise.allSettled([present]);
    const reading = this.#read();
    this.#present = reading;
    this.#next = undefined;
    this.#last = await reading;
    return this.#last;
  }
}

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
