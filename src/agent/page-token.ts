/**
 * Keeps the token of the page in the data directory, so that open pages, bookmarks and copied links go on working over a
 * restart. Only the user of the agent can read it. Remove the file to get another token at the next start.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isToken, newToken } from '../inspector/access.js';

/** @throws the error of the system where the file can't be read or written */
export function keptToken(dataDir: string): string {
  const file = fileIn(dataDir);
  const kept = contentOf(file);
  if (kept !== undefined && isToken(kept)) return kept;
  const token = newToken();
  // A file by the final name is always whole.
  writeFileSync(`${file}.part`, `${token}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.part`, file);
  return token;
}

/** Forgets the token: the next start makes another. @throws the error of the system where the file can't be removed */
export function forgetToken(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}

const fileIn = (dataDir: string): string => join(dataDir, 'page-token');

/** Returns undefined if there is no such file. */
function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return undefined;
    throw error;
  }
}
