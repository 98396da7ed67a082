/** The files beside hashed directories that say what those are: for people, and so that no two share one. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  writeFileSync(halfWritten(path), text, { mode: 0o600 });
  renameSync(halfWritten(path), indexOf(path));
}

export function removeIndex(path: string): void {
  for (const file of [halfWritten(path), indexOf(path)]) rmSync(file, { force: true });
}

function readIndex(path: string): string | undefined {
  try {
    return readFileSync(indexOf(path), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** After a crash of the host it may be empty, or cut off. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
