/**
 * Makes and removes what belongs on the host around mounts: the directories that they are in, and what is left of a
 * place after it was unmounted. Nothing on or below a mount is touched by this process: it makes, removes and lists
 * names in directories of its own, which the kernel does without asking what is mounted there. Where: paths.ts
 */
import {
  closeSync,
  constants,
  type Dirent,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { messageOf, StagecraftError } from '../errors.js';
import { isWithin, type MountTable } from '../host/mount-table.js';
import { type HostTool, ToolOverdue } from './host-tool.js';
import type { LeftBehind } from './index-files.js';
import { indexFilesOf, isIndexName, removeIndex, writeIndex } from './index-files.js';
import type { MountPath, ParentDirectory } from './paths.js';

export interface MountDirectories {
  /**
   * Makes the directory that a volume is staged at, for root only, and all around it. Safe to repeat; where something is
   * mounted already, the directory is left alone.
   * @throws {StagecraftError} CLAIM_CONFLICT: it is another volume's, which is named; HOST_UNFIT: something is mounted
   * over a directory or a file of ours; DATA_DIR_UNUSABLE
   * @param table read for this by the caller; default: it is read here
   */
  makeStaging(place: MountPath, table?: MountTable): Promise<void>;
  /** Makes all directories around a target; the plugin makes the target. Otherwise as `makeStaging`. */
  makeParent(place: MountPath, table?: MountTable): Promise<void>;
  /**
   * Whether the place is a file: then what is mounted there is a file, too, or a device. False also if it is absent. Looks
   * at the name only.
   */
  isFile(place: MountPath): boolean;
  /**
   * Removes what an unmounted place has left: an empty directory or an empty plain file, and what was made around it.
   * Never anything else, and never what is in it. Safe to repeat, also where nothing is there.
   * @param table read by the caller since it was unmounted; default: it is read here
   * @returns what was in the way, absent: nothing is left
   */
  remove(place: MountPath, table?: MountTable): Promise<LeftBehind | undefined>;
}

export interface MountDirectoriesOptions {
  /** Root of all mount paths. */
  root: string;
  readTable(): Promise<MountTable>;
  tool: HostTool;
}

/** Workloads that are not root pass through these directories. */
const passableMode = 0o711;
const privateMode = 0o700;

export function hostMountDirectories({ root, readTable, tool }: MountDirectoriesOptions): MountDirectories {
  /** A mount on the way from the root to the place, both not meant, or on a file beside that way. */
  const mountOver = (table: MountTable, { path, parents }: MountPath): string | undefined => {
    const files = new Set([path, ...parents.map((parent) => parent.path)].flatMap(indexFilesOf));
    return table.entries.find((entry) => {
      const isBetween = isWithin(path, entry.path) && isWithin(entry.path, root);
      return (isBetween && entry.path !== path && entry.path !== root) || files.has(entry.path);
    })?.path;
  };

  const makeAround = (table: MountTable, place: MountPath): void => {
    const over = mountOver(table, place);
    if (over !== undefined) {
      const what = isWithin(place.path, over) ? 'directory' : 'file';
      throw new StagecraftError('HOST_UNFIT', `something is mounted at ${over}, a ${what} of Stagecraft: unmount it`);
    }
    makeRoot(root);
    for (const { path, subject } of place.parents) {
      if (subject) writeIndex(path, subject);
      makeDirectory(path, passableMode);
    }
    writeIndex(place.path, place.subject);
  };

  return {
    async makeStaging(place, given) {
      const table = given ?? (await readTable());
      makeAround(table, place);
      if (table.at(place.path).length === 0) makeUnlessThere(place.path);
    },

    async makeParent(place, table) {
      makeAround(table ?? (await readTable()), place);
    },

    isFile: ({ path }) => kindAt(path)?.isDirectory() === false,

    async remove(place, given) {
      const table = given ?? (await readTable());
      const over = mountOver(table, place);
      if (over !== undefined) return { path: over, why: 'something is mounted there' };
      const mounted = table.entries.find((entry) => isWithin(entry.path, place.path));
      if (mounted) return { path: mounted.path, why: 'something is mounted there' };
      const why = await takeAway(place.path, tool);
      if (why !== undefined) return { path: place.path, why };
      return removeIndex(place.path) ?? removeTemporary(place.parents);
    },
  };
}

/**
 * Makes the directory of all mount paths. Safe to repeat.
 * @throws {StagecraftError} DATA_DIR_UNUSABLE
 */
export const makeRoot = (root: string): void => makeDirectory(root, passableMode);

/** Makes a directory with this mode, whatever the umask is. */
function makeDirectory(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const directory = openDirectory(path);
  try {
    if ((fstatSync(directory).mode & 0o777) !== mode) fchmodSync(directory, mode);
  } finally {
    closeSync(directory);
  }
}

/** Opens a directory so that what is looked at is what is changed: a plugin may put a link in its place at any time. */
function openDirectory(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = codeOf(error);
    throw code === 'ENOTDIR' || code === 'ELOOP' ? noDirectory(path) : error;
  }
}

/** Makes a directory unless the name exists. Looks at the name only: something may be mounted there by now. */
function makeUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: privateMode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    if (kindAt(path)?.isDirectory() === false) throw noDirectory(path);
  }
}

/** Kind of what is at a path, from the directory that it is in: without a look at what is mounted there. */
const kindAt = (path: string): Dirent | undefined =>
  readdirSync(dirname(path), { withFileTypes: true }).find(({ name }) => name === basename(path));

const noDirectory = (path: string): StagecraftError =>
  new StagecraftError('DATA_DIR_UNUSABLE', `${path} is no directory: move it away`);

/** @returns reason why it stays */
async function takeAway(path: string, tool: HostTool): Promise<string | undefined> {
  const refused = removeEmptyDirectory(path);
  if (refused === undefined) return undefined;
  return refused.code === 'ENOTDIR' ? takeAwayFile(path, tool) : refused.why;
}

async function takeAwayFile(path: string, tool: HostTool): Promise<string | undefined> {
  try {
    const { status, stdout, stderr } = await tool.run('stat', ['-c', '%F', '--', path]);
    const kind = stdout.trim();
    if (status !== 0) return stderr;
    if (kind !== 'regular empty file') return `it is a ${kind}${kind === 'regular file' ? ' that is not empty' : ''}`;
    unlinkSync(path); // like rmdir it removes a name only, and never one at which something is mounted
    return undefined;
  } catch (error) {
    return error instanceof ToolOverdue ? 'it does not answer' : messageOf(error);
  }
}

/** Removes temporary directories. Others keep their contents as long as an index file names them. */
function removeTemporary(parents: readonly ParentDirectory[]): LeftBehind | undefined {
  for (const { path, isTemporary } of parents) {
    if (!isTemporary) continue;
    const refused = removeEmptyDirectory(path);
    if (refused) return refused.isFull && readdirSync(path).some(isIndexName) ? undefined : { path, why: refused.why };
    const left = removeIndex(path);
    if (left) return left;
  }
  return undefined;
}

interface Refusal {
  code: unknown;
  /** The directory is not empty. */
  isFull: boolean;
  why: string;
}

/**
 * Removes an empty directory. Refused without a look if something is mounted there; refused for links and all that is
 * no directory.
 */
function removeEmptyDirectory(path: string): Refusal | undefined {
  try {
    rmdirSync(path);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return undefined;
    const isFull = code === 'ENOTEMPTY' || code === 'EEXIST';
    if (isFull) return { code, isFull, why: 'it is not empty' };
    return { code, isFull, why: code === 'EBUSY' ? 'something is mounted there' : messageOf(error) };
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
