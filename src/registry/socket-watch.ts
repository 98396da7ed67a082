/**
 * Tells when something happens to a socket file: it came, went, or was replaced. A file is not liveness. Sockets of one
 * directory share what watches it: else each change there would be told to each of them.
 */
import { statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

interface WatchedDirectory {
  /** Who is called, by the name of the file. */
  listeners: Map<string, Set<() => void>>;
  end(): void;
}

/** By path and the directory that stands there: another one may take its place. */
const directories = new Map<string, WatchedDirectory>();

/**
 * Calls back at each change in the socket's directory that concerns it; the answer ends it.
 * Where the directory can't be watched (it is not there, or watches have run out) nothing is called: look at intervals too.
 */
export function watchSocket(socketPath: string, changed: () => void): () => void {
  try {
    const key = keyOf(dirname(socketPath));
    if (key === undefined) return () => {};
    const directory = directories.get(key) ?? watchDirectory(dirname(socketPath), key);
    return listen(directory, basename(socketPath), changed);
  } catch {
    return () => {};
  }
}

/** Absent where there is no such directory. The number of one that was removed may be given to the next. */
function keyOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino} ${stat.birthtimeNs} ${path}`;
}

function watchDirectory(path: string, key: string): WatchedDirectory {
  const listeners: WatchedDirectory['listeners'] = new Map();
  const watcher = watch(path, { persistent: false }, (_, name) => {
    const concerned = name === null ? [...listeners.values()] : [listeners.get(name) ?? []];
    for (const changed of concerned.flatMap((some) => [...some])) changed();
  });
  const directory: WatchedDirectory = {
    listeners,
    end: () => {
      watcher.close();
      if (directories.get(key) === directory) directories.delete(key);
    },
  };
  watcher.on('error', directory.end);
  directories.set(key, directory);
  return directory;
}

function listen({ listeners, end }: WatchedDirectory, name: string, changed: () => void): () => void {
  const listener = (): void => changed(); // the same callback may be given twice
  const ofName = listeners.get(name) ?? new Set();
  listeners.set(name, ofName.add(listener));
  return () => {
    if (!ofName.delete(listener) || ofName.size > 0) return;
    listeners.delete(name);
    if (listeners.size === 0) end();
  };
}
