/** Sockets that only their owner can connect to, from the first moment on. */
import type { Server } from 'node:net';

/** bind(2) makes sockets with 0777 less this. */
const ownerOnlyUmask = 0o177;

/**
 * Listens at the path, mode 0600; the server tells of it, or of why not, as ever. A chmod after bind(2) would come too
 * late, and the umask is the whole process's: it is changed for just the bind, which `listen` makes before it returns.
 */
export function bindPrivately(server: Server, socketPath: string): void {
  const before = process.umask(ownerOnlyUmask);
  try {
    server.listen(socketPath);
  } finally {
    process.umask(before);
  }
}
