/**
 * Stands between a store and its server, and cuts connections amid a request, amid an answer, before either or for a
 * while altogether.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Where the next cut comes. */
type Cut = 'now' | 'request' | 'half a request' | 'answer' | 'half an answer';
export const cuts: Cut[] = ['now', 'request', 'half a request', 'answer', 'half an answer'];

export class ChaosProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next: Cut | undefined;
  #isShut = false;
  /** How often it has cut. */
  cuts = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async to(target: number): Promise<ChaosProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new ChaosProxy(server);
    server.on('connection', (client) => proxy.#join(client, target));
    return proxy;
  }

  /** Once the one before has been made. */
  cut(where: Cut): void {
    if (where === 'now') this.#destroyAll();
    else this.#next = where;
  }

  /** Nothing passes, and new connections are closed at once. */
  shut(isShut: boolean): void {
    this.#isShut = isShut;
    if (isShut) this.#destroyAll();
  }

  close(): void {
    this.#server.close();
    this.#destroyAll();
  }

  #destroyAll(): void {
    if (this.#sockets.size > 0) this.cuts += 1;
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(client: Socket, target: number): void {
    if (this.#isShut) return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.end(); // what was sent still arrives
      });
    }
    client.on('data', (bytes) => this.#pass(bytes, upstream, client, 'request'));
    upstream.on('data', (bytes) => this.#pass(bytes, client, client, 'answer'));
  }

  #pass(bytes: Buffer, to: Socket, client: Socket, what: 'request' | 'answer'): void {
    if (!this.#next?.endsWith(what)) return void to.write(bytes);
    const isHalf = this.#next.startsWith('half');
    this.#next = undefined;
    this.cuts += 1;
    if (isHalf) to.end(bytes.subarray(0, Math.ceil(bytes.length / 2)));
    client.destroy();
  }
}
