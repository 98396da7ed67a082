/**
 * The sockets of one fault driver: the first, and those that replace it on its path while it lives on. Each connection
 * has a gRPC server of its own, so that a call knows which one to break.
 */

import { once } from 'node:events';
import { type BigIntStats, renameSync, rmSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { maxMessageBytes } from '../../csi/channel.js';
import { addCsiHandlers, type CsiHandlers } from '../../csi/server.js';
import { type Listening, listen } from '../../driver/socket.js';
import type { Origin } from './interposed.js';

/** What the sockets know of a call's origin. */
type Connected = Pick<Origin, 'socket' | 'breakOff'>;

export class Sockets {
  readonly #path: string;
  readonly #handlersFor: (origin: Connected) => CsiHandlers;
  readonly #listeners: Listening[] = [];
  readonly #connections = new Set<Socket>();
  /** The file that stood at the path when it was last ours. */
  #file: string | undefined;

  constructor(path: string, handlersFor: (origin: Connected) => CsiHandlers) {
    this.#path = path;
    this.#handlersFor = handlersFor;
  }

  /** @throws {StagecraftError} as `listen` does */
  async open(): Promise<void> {
    this.#serve(await listen(this.#path));
    this.#file = fileAt(this.#path);
  }

  /** Puts a new socket in place of whatever is at the path; who is connected to the old one stays so. */
  async replace(): Promise<void> {
    const aside = join(dirname(this.#path), `.${process.pid}${this.#listeners.length}`);
    this.#serve(await listen(aside));
    renameSync(aside, this.#path);
    this.#file = fileAt(this.#path);
  }

  /** Removes the socket, if it still is ours. */
  remove(): void {
    if (this.#file !== undefined && fileAt(this.#path) === this.#file) rmSync(this.#path, { force: true });
  }

  /** Breaks all connections. */
  cut(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  /** Also removes the socket, if it still is ours. */
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

/** Tells one file from the next: an inode number may be given again. */
function fileAt(path: string): string | undefined {
  const file: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.dev}:${file.ino}:${file.birthtimeNs}`;
}
