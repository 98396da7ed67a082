/**
 * The files beside hashed directories that say what those are: for people, and so that no two share one. A plugin may be
 * able to write where they are: links that it has put there are never followed.
 */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { messageOf, StagecraftError } from '../errors.js';
import type { Subject } from './paths.js';

/** What was not removed: it may be somebody's. */
export interface LeftBehind {
  path: string;
  /** In words for people. */
  why: string;
}

/** More than any subject takes. */
const mostBytes = 16_384;

const indexOf = (path: string): string => `${path}.json`;
const halfWritten = (path: string): string => `${path}.json.new`;

/** All that is kept beside the directory at `path`. */
export const indexFilesOf = (path: string): string[] => [halfWritten(path), indexOf(path)];

/** Whether a name in a directory is that of an index file. */
export const isIndexName = (name: string): boolean => /^[0-9a-f]{16}\.json$/.test(name);

/**
 * Says whose the directory at `path` is. Safe to repeat, also after a crash at any point.
 * @throws {StagecraftError} CLAIM_CONFLICT: it is somebody else's; DATA_DIR_UNUSABLE: what is in the way stays
 */
export function writeIndex(path: string, subject: Subject): void {
  const text = `${JSON.stringify(subject)}\n`;
  const present = readIndex(path);
  if (present === text) return;
  if (present !== undefined && isWhole(present)) {
    const message = `${path} is the place of ${present.trim().slice(0, 1_000)}, as ${indexOf(path)} says: ${text.trim()} can't have it too; remove that first, or take another id`;
    throw new StagecraftError('CLAIM_CONFLICT', message);
  }
  const why = removeFile(halfWritten(path));
  if (why !== undefined) throw inTheWay(halfWritten(path), why);
  // Made anew, or refused: a link is not followed then.
  writeFileSync(halfWritten(path), text, { mode: 0o600, flag: 'wx' });
  renameSync(halfWritten(path), indexOf(path));
}

/** @returns what stays, as it is nothing that was written here; absent: nothing is left */
export function removeIndex(path: string): LeftBehind | undefined {
  const left = indexFilesOf(path).map((file) => ({ path: file, why: removeFile(file) }));
  return left.find((one): one is LeftBehind => one.why !== undefined);
}

/** Removes a name only, never what a link leads to, nor a directory. @returns why it stays */
function removeFile(path: string): string | undefined {
  try {
    unlinkSync(path);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    if (code === 'EBUSY') return 'something is mounted there';
    return code === 'EISDIR' ? isDirectory : messageOf(error);
  }
}

const isDirectory = 'it is a directory';

const inTheWay = (path: string, why: string): StagecraftError =>
  new StagecraftError('DATA_DIR_UNUSABLE', `${path} is in the way of a file of Stagecraft (${why}): move it away`);

/**
 * A link may lead anywhere, and who opens a pipe may wait for ever: they say nothing, and are replaced. What can't be, or
 * is nothing that was written here, is refused.
 */
function readIndex(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(indexOf(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && noFile.has(error.code)) return undefined;
    throw error;
  }
  try {
    const found = fstatSync(file);
    if (found.isDirectory()) throw inTheWay(indexOf(path), isDirectory);
    if (!found.isFile()) return undefined;
    const bytes = Buffer.alloc(mostBytes + 1);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    if (length > mostBytes) throw inTheWay(indexOf(path), `it has more than ${mostBytes} bytes`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/** Nothing is there, or a link, or a socket. */
const noFile: ReadonlySet<unknown> = new Set(['ENOENT', 'ELOOP', 'ENXIO']);

/** After a crash of the host it may be empty, or cut off. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
