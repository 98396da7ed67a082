/**
 * Bounds what a client can hold of an HTTP server before it has shown that it may use it: time for the head and the body of a
 * request, and connections. Each connection is a file descriptor of the process, which all of its sockets share.
 */
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

const headMs = 10_000;
const bodyMs = 30_000;

/** Options of a server: a request that comes too slowly is answered with 408. */
export const requestTimes = {
  headersTimeout: headMs,
  requestTimeout: headMs + bodyMs,
  /** Accuracy of these limits. */
  connectionsCheckingInterval: 1_000,
} satisfies ServerOptions;

/** Connections at once that have not shown that they may use the server. */
const mostUnknown = 256;

/**
 * Closes the oldest connection that is not known, where there would be more than `most`. So a client that sends its request
 * at once gets in, however many others hold theirs open.
 * @returns a function that takes a connection as known
 */
export function boundConnections(server: Server, most = mostUnknown): (connection: Socket) => void {
  const unknown = new Set<Socket>();
  server.on('connection', (connection: Socket) => {
    const [oldest] = unknown;
    if (oldest && unknown.size >= most) oldest.destroy();
    unknown.add(connection);
    connection.once('close', () => unknown.delete(connection));
  });
  return (connection) => unknown.delete(connection);
}
