/**
 * Tells when something happens to a socket file: it came, went, or was replaced. A file is not liveness.
 * One watcher for each directory, however many sockets are in it, closed by its last user.
 */
import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

interface DirectoryWatch {
  watcher: FSWatcher;
  /** Identity of the directory: another one may come to its path, which the watch does not see. */
  identity: string | undefined;
  /** Users by the name that they wait for. */
  users: Map<string, Set<() => void>>;
}

const watches = new Map<string, DirectoryWatch>();

/** Number of directories that are watched in this process. */
export const watchedDirectories = (): number => watches.size;

/**
 * Calls back at each change of what is at the path; the answer ends it. While its directory is not there, that is what
 * is waited for: call again after each change.
 * Where nothing can be watched (watches have run out) nothing is called: look at intervals too.
 */
export function watchSocket(socketPath: string, changed: () => void): () => void {
  const { directory, name } = nearest(socketPath);
  const shared = watchOf(directory);
  if (!shared) return () => {};
  const callbacks = shared.users.get(name) ?? new Set();
  shared.users.set(name, callbacks);
  const callback = (): void => changed();
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    shared.users.delete(name);
    if (shared.users.size === 0) drop(directory, shared);
  };
}

/** Innermost existing directory above the path, and the name in it that is to come or to change. */
function nearest(path: string): { directory: string; name: string } {
  const directory = dirname(path);
  const isAt = identityOf(directory) !== undefined || directory === path;
  return isAt ? { directory, name: basename(path) } : nearest(directory);
}

function watchOf(directory: string): DirectoryWatch | undefined {
  const identity = identityOf(directory);
  const known = watches.get(directory);
  if (known && known.identity === identity) return known;
  try {
    const watcher = watch(directory, { persistent: false });
    const made: DirectoryWatch = { watcher, identity, users: new Map() };
    watcher.on('change', (_, name) => tell(directory, made, String(name)));
    watcher.on('error', () => drop(directory, made));
    watches.set(directory, made); // users of the watch before were told of its end
    return made;
  } catch {
    return undefined;
  }
}

function tell(directory: string, shared: DirectoryWatch, name: string): void {
  // The end of the directory itself comes under its own name.
  const isOver = name === basename(directory) && identityOf(directory) !== shared.identity;
  const told = isOver ? [...shared.users.values()] : [shared.users.get(name) ?? []];
  if (isOver) drop(directory, shared);
  for (const callback of told.flatMap((callbacks) => [...callbacks])) callback();
}

function drop(directory: string, shared: DirectoryWatch): void {
  shared.watcher.close();
  if (watches.get(directory) === shared) watches.delete(directory);
}

/** Made anew, a directory may be given the inode number of the one before: hence the time of birth. */
function identityOf(directory: string): string | undefined {
  try {
    const found = statSync(directory, { bigint: true, throwIfNoEntry: false });
    return found?.isDirectory() ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : undefined;
  } catch {
    return undefined;
  }
}
