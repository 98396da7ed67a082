/**
 * The files beside hashed directories that say what those are: for people, and so that no two share one. A plugin may be
 * able to write where they are: links that it has put there are never followed.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { StagecraftError } from '../errors.js';
import type { Subject } from './paths.js';

const indexOf = (path: string): string => `${path}.json`;
const halfWritten = (path: string): string => `${path}.json.new`;

/** Whether a name in a directory is that of an index file. */
export const isIndexName = (name: string): boolean => /^[0-9a-f]{16}\.json$/.test(name);

/**
 * Says whose the directory at `path` is. Safe to repeat, also after a crash at any point.
 * @throws {StagecraftError} CLAIM_CONFLICT: it is somebody else's
 */
export function writeIndex(path: string, subject: Subject): void {
  const text = `${JSON.stringify(subject)}\n`;
  const present = readIndex(path);
  if (present === text) return;
  if (present !== undefined && isWhole(present)) {
    const message = `${path} is the place of ${present.trim().slice(0, 1_000)}, as ${indexOf(path)} says: ${text.trim()} can't have it too; remove that first, or take another id`;
    throw new StagecraftError('CLAIM_CONFLICT', message);
  }
  rmSync(halfWritten(path), { force: true });
  // Made anew, or refused: a link is not followed then.
  writeFileSync(halfWritten(path), text, { mode: 0o600, flag: 'wx' });
  renameSync(halfWritten(path), indexOf(path));
}

export function removeIndex(path: string): void {
  for (const file of [halfWritten(path), indexOf(path)]) rmSync(file, { force: true });
}

/** What is no plain file says nothing, and is replaced: a link may lead anywhere, and who opens a pipe may wait for ever. */
function readIndex(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(indexOf(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && noFile.has(error.code)) return undefined;
    throw error;
  }
  try {
    return fstatSync(file).isFile() ? readFileSync(file, 'utf8') : undefined;
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
