/**
 * Who may pass through a data directory to the volumes that are mounted below it, and the salt that keeps their paths from
 * being guessed before something is mounted there: mountinfo shows mounted paths to every user. A directory of an earlier version has no salt: its paths stay as they are.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StagecraftError } from '../errors.js';

/**
 * `owner`: nobody else; enough for workloads in containers. `group`: processes of that group, by its name or number.
 * `everyone`: all users of the host.
 */
export type DataDirAccess = 'owner' | 'everyone' | { group: string | number };

/** Directory below which volumes are mounted. */
export const mountsIn = (dataDir: string): string => join(dataDir, 'csi');

/** Mode of directories on the way to the volumes: other users pass through, but can't list them. */
const passableMode = 0o711;

/**
 * Gives the directory its mode and group.
 * @throws Error why that can't be done
 */
export function setAccess(dataDir: string, access: DataDirAccess): void {
  if (typeof access !== 'object') {
    chmodSync(dataDir, access === 'owner' ? 0o700 : passableMode);
    return;
  }
  // Closed first: the former group may not pass with the new mode.
  chmodSync(dataDir, 0o700);
  chownSync(dataDir, statSync(dataDir).uid, groupIdOf(access.group));
  chmodSync(dataDir, 0o710);
}

function groupIdOf(group: string | number): number {
  if (typeof group === 'number') return group;
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${group}:`));
  if (line !== undefined) return Number(line.split(':')[2]);
  throw new Error(`dataDirAccess: no group '${group}' is in /etc/group: create it, or give its number`);
}

/** Whether every user can pass through the directory itself. */
export const isOpenToEveryone = (dataDir: string): boolean => (statSync(dataDir).mode & 0o001) !== 0;

/** Whether no other user can pass through the directory, or through one above it. */
export function isPrivate(path: string): boolean {
  if ((statSync(path).mode & 0o011) === 0) return true;
  return path !== dirname(path) && isPrivate(dirname(path));
}

const saltBytes = 16;

/** File that stays where the salt is lost, next to the paths that follow from it. */
const saltedMark = 'salted';

/**
 * Salt of the paths of mounts; made unless there is one. Undefined: the directory is of an earlier version, whose paths
 * have none.
 * @throws StagecraftError DATA_DIR_UNUSABLE: the salt is lost or damaged
 */
export function saltIn(dataDir: string): string | undefined {
  const file = join(dataDir, 'path-salt');
  const mounts = mountsIn(dataDir);
  const mark = join(mounts, saltedMark);
  if (!existsSync(file)) {
    if (existsSync(mark)) throw saltUnusable(dataDir, 'is missing');
    if (existsSync(mounts)) return undefined;
    writeWhole(file, `${randomBytes(saltBytes).toString('hex')}\n`);
  }
  const salt = readFileSync(file, 'utf8').trim();
  if (salt.length !== 2 * saltBytes) throw saltUnusable(dataDir, 'is damaged');
  // Marked after the salt is on disk: a kill in between leaves a salt without a mark, and the next start marks it.
  if (!existsSync(mark)) {
    mkdirSync(mounts, { recursive: true, mode: passableMode });
    writeWhole(mark, '');
  }
  return salt;
}

function saltUnusable(dataDir: string, fault: string): StagecraftError {
  const mounts = mountsIn(dataDir);
  const message = `${join(dataDir, 'path-salt')} ${fault}, and the paths of mounts follow from it: restore it; or unmount what is mounted below ${mounts}, then remove ${mounts} and the salt`;
  return new StagecraftError('DATA_DIR_UNUSABLE', message);
}

/** Writes a file that is there as a whole, on disk, or not at all. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.new`;
  const file = openSync(unfinished, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
