/** Serves CSI handlers on a socket until it is stopped. */
import { once } from 'node:events';
import type { Server as Listener, Socket } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers, type CsiHandlers } from '../../csi/server.js';
import { type Listening, listen, socketPathOf } from './socket.js';

export interface Serving {
  /** Removes the socket, lets calls under way end, then cuts open connections. A second call joins the first. */
  stop(): Promise<void>;
}

const maxMessageBytes = 64 * 1024 * 1024;

/**
 * Listens on the endpoint's socket (mode 0600), which it makes anew if a dead driver left it behind.
 * Resolves once calls are answered.
 * @param graceMs how long `stop` lets calls and connections end by themselves
 * @throws {StagecraftError} INVALID_ARGUMENT: the endpoint; SOCKET_IN_USE: somebody answers there
 */
export async function serveDriver(endpoint: string, handlers: CsiHandlers, graceMs: number): Promise<Serving> {
  const listening = await listen(socketPathOf(endpoint));
  const server = new Server({
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
  });
  addCsiHandlers(server, handlers);
  const connections = connectionsOf(listening.server, server);
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopped ??= stop({ listening, server, connections, graceMs });
      return stopped;
    },
  };
}

/** @returns the open connections, kept up to date */
function connectionsOf(listener: Listener, server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  listener.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    injector.injectConnection(connection);
  });
  return connections;
}

interface Stopping {
  listening: Listening;
  server: Server;
  connections: ReadonlySet<Socket>;
  graceMs: number;
}

async function stop({ listening, server, connections, graceMs }: Stopping): Promise<void> {
  const closed = once(listening.server, 'close');
  listening.close(); // removes the socket at once, so that no new client connects
  // grpc-js's own forceShutdown waits for a peer that never reads.
  const cut = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, graceMs);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await closed;
  clearTimeout(cut);
}
