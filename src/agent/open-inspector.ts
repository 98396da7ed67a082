/** Opens the inspector of an agent, which runs on without it where it can't listen. */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../errors.js';
import { isToken, newToken } from '../inspector/access.js';
import { type Inspector, type InspectorOptions, serveInspector } from '../inspector/serve-inspector.js';
import type { Runtime } from '../runtime/runtime.js';

interface OpenOptions extends Omit<InspectorOptions, 'listen' | 'token'> {
  /** Address; false: none. */
  listen: string | false;
}

/** Serves the page, or prints why there is none. */
export async function openInspector(
  runtime: Runtime,
  { listen, ...options }: OpenOptions,
  print: (line: string) => void,
): Promise<Inspector | undefined> {
  if (listen === false) return undefined;
  try {
    return await served(runtime, { ...options, listen }, print);
  } catch (error) {
    print(`  no page: it can't be served at ${listen} (${messageOf(error)})`);
    return undefined;
  }
}

/**
 * Leaves a port that is taken to its owner, most likely another agent of this host. Open pages may have sent that program the kept
 * token, so it is forgotten. The token at the free port is not kept: the next start leaves that port to anybody.
 */
async function served(
  runtime: Runtime,
  options: InspectorOptions & { listen: string },
  print: (line: string) => void,
): Promise<Inspector> {
  const { listen } = options;
  try {
    return await serveInspector(runtime, { ...options, token: keptToken(runtime.dataDir) });
  } catch (error) {
    if (!isTaken(error)) throw error;
  }
  forgetToken(runtime.dataDir);
  const moved = 'the page gets a free port and a new token, as open pages may have sent that program the old one';
  print(
    `  another program listens at ${listen}: ${moved}; to keep both over restarts, name a port of its own in inspector.listen`,
  );
  return serveInspector(runtime, { ...options, listen: listen.replace(/\d+$/, '0') });
}

const isTaken = (error: unknown): boolean => error instanceof Object && Reflect.get(error, 'code') === 'EADDRINUSE';

/**
 * Keeps the token in the data directory, so that open pages, bookmarks and copied links outlive a restart. Only the user of the
 * agent can read the file; once it is removed, the next start makes another token.
 * @throws the error of the system where the file can't be read or written
 */
function keptToken(dataDir: string): string {
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
function forgetToken(dataDir: string): void {
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
