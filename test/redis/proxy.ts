/** Stands between a store and its server, and cuts the connection when an answer is on its way. */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CuttingProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isArmed = false;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async to(target: number): Promise<CuttingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const proxy = new CuttingProxy(server, address.port);
    server.on('connection', (client) => proxy.#join(client, connect(target, '127.0.0.1')));
    return proxy;
  }

  /** The next answer is dropped, and its connection closed. */
  cutNextAnswer(): void {
    this.#isArmed = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, upstream: Socket): void {
    const both = [client, upstream];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        for (const each of both) each.destroy();
        this.#sockets.delete(socket);
      });
    }
    client.pipe(upstream);
    upstream.on('data', (answer) => {
      if (!this.#isArmed) return void client.write(answer);
      this.#isArmed = false;
      client.destroy();
    });
  }
}
