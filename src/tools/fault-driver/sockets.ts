/**
 * The sockets of one fault driver: the first, and those that replace it on its path while it lives on. Each is bound
 * beside the path and then put there: a listener that is closed removes the path that it was bound at, whosever socket
 * is there by then. Each connection has a gRPC server of its own, so that a call knows which one to break.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type BigIntStats, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { maxMessageBytes } from '../../csi/answer-limits.js';
import { addCsiHandlers, type CsiHandlers } from '../../csi/server.js';
import { messageOf, StagecraftError } from '../../errors.js';
import { type Listening, listen, removeStale, socketPathOf } from '../driver/socket.js';
import type { CallConnection } from './interposed.js';

/** Origin of a call, as far as the sockets know it. */
type Connected = Pick<CallConnection, 'socket' | 'breakOff'>;

export class Sockets {
  readonly #path: string;
  readonly #handlersFor: (origin: Connected) => CsiHandlers;
  readonly #listeners: Listening[] = [];
  readonly #connections = new Set<Socket>();
  /** Identity of the file at the path when it was last ours. */
  #file: string | undefined;

  constructor(path: string, handlersFor: (origin: Connected) => CsiHandlers) {
    this.#path = path;
    this.#handlersFor = handlersFor;
  }

  /** @throws {StagecraftError} as `listen` does */
  async open(): Promise<void> {
    await removeStale(this.#path);
    await this.#put(linkWhereNothingIs);
  }

  /** Replaces whatever is at the path by a new socket; connections to the old one stay open. */
  async replace(): Promise<void> {
    await this.#put(renameSync);
  }

  async #put(move: (from: string, to: string) => void): Promise<void> {
    const aside = besides(this.#path);
    const listener = await listen(aside);
    try {
      move(aside, this.#path);
    } catch (error) {
      listener.close();
      throw error;
    }
    this.#serve(listener);
    this.#file = fileAt(this.#path);
  }

  /** Removes the socket if it is still ours. */
  remove(): void {
    if (this.#file !== undefined && fileAt(this.#path) === this.#file) rmSync(this.#path, { force: true });
  }

  /** Breaks all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Stops listening, removes the socket as `remove` does, and breaks all connections. */
  async close(): Promise<void> {
    const closed = this.#listeners.map(({ server }) => once(server, 'close'));
    for (const listener of this.#listeners) listener.close();
    this.remove();
    this.cut();
    await Promise.all(closed);
  }

  #serve(listener: Listening): void {
    const socket = this.#listeners.push(listener);
    listener.server.on('connection', (connection: Socket) => {
      this.#connections.add(connection);
      connection.once('close', () => this.#connections.delete(connection));
      this.#serveOne(connection, { socket, breakOff: () => connection.destroy() });
    });
  }

  #serveOne(connection: Socket, origin: Connected): void {
    const server = new Server({
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.max_receive_message_length': maxMessageBytes,
    });
    addCsiHandlers(server, this.#handlersFor(origin));
    connection.once('close', () => server.forceShutdown());
    server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(connection);
  }
}

/** Makes a name in the same directory, short enough to rarely lengthen the path. The length is checked anyway. */
const besides = (path: string): string => socketPathOf(join(dirname(path), `.${randomBytes(3).toString('base64url')}`));

/** Links instead of renaming: that never replaces the socket of somebody who has just appeared. */
function linkWhereNothingIs(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (cause) {
    const message = `can't listen at ${path}: somebody else may just have come there: ${messageOf(cause)}`;
    throw new StagecraftError('SOCKET_IN_USE', message, { cause });
  }
  rmSync(aside);
}

/** Identifies a file: an inode number alone may be reused. */
function fileAt(path: string): string | undefined {
  const file: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.dev}:${file.ino}:${file.birthtimeNs}`;
}
