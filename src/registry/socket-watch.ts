/** Tells when something happens to a socket file: it came, went, or was replaced. A file is not liveness. */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * Calls back at each change in the socket's directory that concerns it; the answer ends it.
 * Where the directory can't be watched (it is not there, or watches have run out) nothing is called: look at intervals too.
 */
export function watchSocket(socketPath: string, changed: () => void): () => void {
  let watcher: FSWatcher;
  try {
    watcher = watch(dirname(socketPath), { persistent: false }, (_, name) => {
      if (name === null || name === basename(socketPath)) changed();
    });
  } catch {
    return () => {};
  }
  watcher.on('error', () => watcher.close());
  return () => watcher.close();
}
