/**
 * The data directory: made, kept private, and locked for one runtime at a time. Everything in it is its owner's only, but
 * for the way to the volumes: data-dir-access.ts
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { messageOf, StagecraftError } from '../errors.js';
import { bootId } from './boot-id.js';
import { type DataDirAccess, isOpenToEveryone, isPrivate, mountsIn, saltIn, setAccess } from './data-dir-access.js';
import { lockDirectory, ownerOf, takeLock } from './lock-file.js';
import { maxSocketPathBytes } from './socket-path.js';

export interface DataDir {
  /** Without symbolic links. */
  path: string;
  /** The same directory under a name that is short enough for every socket path below it. */
  socketRoot: string;
  /** Salt of the paths of mounts; absent: it is of an earlier version, whose paths have none. */
  salt?: string;
  /** Whether other users can't reach what is mounted below it. */
  isClosed: boolean;
  /** Whether all users pass through it only because earlier versions let them. */
  isOpenAsBefore: boolean;
  /** Id of the directory: by its salt, else by its path. The same after a reboot, and after a move of a directory with a salt. */
  id: string;
  /** Id of the holders of its lock: the same for all of them until the next boot. */
  holderId: string;
  /** Makes the directories below it. Safe to repeat. */
  prepare(): void;
  unlock(): void;
}

/** `/plugins/<allocId>/csi.sock`, with the longest allocId that tasks make. */
const longestSocketBelow = '/plugins//csi.sock'.length + 41;

/**
 * @param access default: `owner`, but one of an earlier version that is open to everyone stays so. `unchanged`: for readers
 * @throws StagecraftError INVALID_ARGUMENT for a relative path, DATA_DIR_UNUSABLE, DATA_DIR_LOCKED with the owner's pid
 */
export function openDataDir(path: string, access?: DataDirAccess | 'unchanged'): DataDir {
  if (!isAbsolute(path))
    throw new StagecraftError('INVALID_ARGUMENT', `dataDir '${path}' is relative: give an absolute path`);
  try {
    takeDirectory(path);
  } catch (error) {
    throw unusable(path, error);
  }
  const real = realpathSync(path);
  const unlock = lock(real);
  try {
    const socketRoot = socketRootOf(real);
    const salt = saltIn(real);
    const isOpenAsBefore = access === undefined && salt === undefined && isOpenToEveryone(real);
    if (access !== 'unchanged') giveAccess(real, access ?? (isOpenAsBefore ? 'everyone' : 'owner'));
    return {
      ...{ path: real, socketRoot, isOpenAsBefore, unlock },
      ...(salt !== undefined && { salt }),
      isClosed: isPrivate(real),
      id: createHash('sha256')
        .update(salt ?? real)
        .digest('hex')
        .slice(0, 32),
      holderId: holderIdOf(real),
      prepare: () => prepare(real, socketRoot),
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Directories above a new one: whoever may pass through that passes through these. */
const passableMode = 0o711;

/** Closes what is in it, but never in a directory of somebody else, such as /tmp. */
function takeDirectory(path: string): void {
  if (!existsSync(path)) {
    mkdirSync(dirname(path), { recursive: true, mode: passableMode });
    mkdirSync(path, { mode: 0o700 });
  }
  if (!isOurs(path)) {
    throw new Error('it is not empty and not a data directory of Stagecraft: name a directory of its own');
  }
  const mounts = basename(mountsIn(path));
  for (const name of readdirSync(path)) if (name !== mounts) closeToOthers(join(path, name));
}

function giveAccess(path: string, access: DataDirAccess): void {
  try {
    setAccess(path, access);
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Closes a file or directory to other users; a missing one stays missing. */
function closeToOthers(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isSymbolicLink() && (found.mode & 0o077) !== 0) chmodSync(path, found.mode & 0o700);
}

const logsName = 'logs';

/** Files that a data directory has from its start. Somebody may have removed one. */
const marks = ['lock', 'path-salt'];

/** Whether the directory is ours, or empty and may become ours. */
function isOurs(path: string): boolean {
  const isFile = (name: string): boolean => lstatSync(join(path, name), { throwIfNoEntry: false })?.isFile() === true;
  return readdirSync(path).length === 0 || marks.some(isFile);
}

function prepare(dataDir: string, socketRoot: string): void {
  for (const part of ['plugins', logsName]) mkdirSync(join(dataDir, part), { recursive: true, mode: 0o700 });
  if (socketRoot === dataDir) return;
  mkdirSync(dirname(socketRoot), { recursive: true, mode: 0o700 });
  const present = lstatSync(socketRoot, { throwIfNoEntry: false });
  if (present && readlinkSync(socketRoot) !== dataDir) unlinkSync(socketRoot);
  if (!lstatSync(socketRoot, { throwIfNoEntry: false })) symlinkSync(dataDir, socketRoot);
}

/**
 * Id from the lock file, which tells directories apart, and the boot id, which tells hosts apart, also those made
 * from one image.
 */
function holderIdOf(dataDir: string): string {
  const { dev, ino } = lstatSync(join(dataDir, 'lock'));
  return createHash('sha256').update(`${bootId()} ${dev} ${ino}`).digest('hex').slice(0, 32);
}

const unusable = (path: string, cause: unknown): StagecraftError =>
  new StagecraftError('DATA_DIR_UNUSABLE', `can't use the data directory ${path}: ${messageOf(cause)}`, { cause });

/**
 * Locks a directory in it, too: that lock stays where somebody removes the file, which names the owner. Not the data directory
 * itself: a driver locks the directory of its socket, and a user may put that there. The file is made first: it marks the
 * directory as ours, should the process be killed here.
 */
function lock(dataDir: string): () => void {
  makeLockFile(dataDir);
  const directory = directoryLockOf(dataDir);
  const file = directory && lockIn(dataDir);
  if (file && 'unlock' in file) {
    return () => {
      file.unlock();
      directory.unlock();
    };
  }
  directory?.unlock();
  const owner = file?.owner ?? ownerOf(join(dataDir, 'lock'));
  const isOurs = owner === String(process.pid);
  const user = isOurs ? `this very process (pid ${owner})` : `the agent with pid ${owner}`;
  const advice = isOurs ? 'close that runtime first' : 'stop that one';
  const message = `${dataDir} is in use by ${user}: ${advice}, or choose another dataDir`;
  throw new StagecraftError('DATA_DIR_LOCKED', message);
}

function makeLockFile(dataDir: string): void {
  try {
    closeSync(openSync(join(dataDir, 'lock'), 'a', 0o600));
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

/** @returns undefined: somebody else holds it */
function directoryLockOf(dataDir: string): { unlock(): void } | undefined {
  const logs = join(dataDir, logsName);
  try {
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    return lockDirectory(logs);
  } catch {
    return { unlock: () => {} }; // some file systems, such as NFS, lock files only
  }
}

function lockIn(dataDir: string): ReturnType<typeof takeLock> {
  try {
    return takeLock(join(dataDir, 'lock'));
  } catch (error) {
    throw unusable(dataDir, error);
  }
}

/**
 * The directory below which sockets are made: the data directory itself, or the name of a short link to it where that
 * is too long. @throws StagecraftError DATA_DIR_UNUSABLE
 */
export function socketRootOf(dataDir: string): string {
  if (fitsSockets(dataDir)) return dataDir;
  const run = process.getuid?.() === 0 ? '/run' : process.env.XDG_RUNTIME_DIR;
  const folder = run ? join(run, 'stagecraft') : privateFolder();
  const link = join(folder, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
  if (fitsSockets(link)) return link;
  const longest = maxSocketPathBytes - longestSocketBelow;
  const message = `dataDir has ${Buffer.byteLength(dataDir)} bytes, sockets below it allow ${longest}, and ${folder} is too long for a link: choose a shorter one`;
  throw new StagecraftError('DATA_DIR_UNUSABLE', message);
}

const fitsSockets = (path: string): boolean => Buffer.byteLength(path) + longestSocketBelow <= maxSocketPathBytes;

/** A folder below /tmp, where anybody may have made that name first: used only if it is ours alone. */
function privateFolder(): string {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `stagecraft-${uid}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // The directory exists, or can't be made: the next check decides.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0) return folder;
  const message = `${folder}, for short socket paths, is not a directory of yours alone: remove it, or set XDG_RUNTIME_DIR`;
  throw new StagecraftError('DATA_DIR_UNUSABLE', message);
}
