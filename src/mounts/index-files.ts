/**
 * Index files beside hashed directories: they say for people what a directory stands for, and keep two subjects from
 * sharing one. A plugin may be able to write there: links that it has put there are never followed.
 */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { messageOf, StagecraftError } from '../errors.js';
import type { HashedSubject } from './paths.js';

/** A path that was not removed: it may be somebody's. */
export interface LeftBehind {
  path: string;
  /** Reason, in words for people. */
  why: string;
}

/** More than any subject takes. */
const mostBytes = 16_384;
const shownCharacters = 1_000;

const indexOf = (path: string): string => `${path}.json`;
const halfWritten = (path: string): string => `${path}.json.new`;

/** Names of all index files beside the directory at `path`. */
export const indexFilesOf = (path: string): string[] => [halfWritten(path), indexOf(path)];

/** Whether a name in a directory is that of an index file. */
export const isIndexName = (name: string): boolean => /^[0-9a-f]{16}\.json$/.test(name);

/**
 * Writes what the directory at `path` stands for. Safe to repeat, also after a crash at any point.
 * @throws {StagecraftError} CLAIM_CONFLICT: the directory is another subject's; DATA_DIR_UNUSABLE: what is in the way
 *   stays
 */
export function writeIndex(path: string, subject: HashedSubject): void {
  const text = `${JSON.stringify(subject)}\n`;
  const present = readIndex(path);
  if (present === text) return;
  if (present !== undefined && isWhole(present)) {
    const message = `${path} is the place of ${present.trim().slice(0, shownCharacters)}, as ${indexOf(path)} says: ${text.trim()} can't have it too; remove that first, or take another id`;
    throw new StagecraftError('CLAIM_CONFLICT', message);
  }
  const why = removeFile(halfWritten(path));
  if (why !== undefined) throw inTheWay(halfWritten(path), why);
  // Created anew or refused: so no link is followed.
  writeFileSync(halfWritten(path), text, { mode: 0o600, flag: 'wx' });
  renameSync(halfWritten(path), indexOf(path));
}

/** Subject of the directory at `path` as its index file has it, for messages; undefined: there is no such file. */
export const subjectAt = (path: string): string | undefined => readIndex(path)?.trim().slice(0, shownCharacters);

/** @returns what stays, as it was not written here; absent: nothing is left */
export function removeIndex(path: string): LeftBehind | undefined {
  const left = indexFilesOf(path).map((file) => ({ path: file, why: removeFile(file) }));
  return left.find((one): one is LeftBehind => one.why !== undefined);
}

/**
 * Removes a name only, never the target of a link, nor a directory.
 * @returns reason why it stays
 */
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
 * Reads an index file. Links and pipes are ignored and replaced: a link may lead anywhere, and opening a pipe may
 * block. Refuses what can't be replaced, or was not written here.
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

/** Whether the text is complete: after a crash of the host it may be cut off. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
