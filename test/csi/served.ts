/** A folder with a socket, handlers that are served there, and clients of it: one set for each test, gone after it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChannelOptions, Server, ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { openChannels } from '../../src/csi/channel.js';
import { CsiClient, type CsiClientOptions } from '../../src/csi/client.js';
import { addCsiHandlers, type CsiHandlers } from '../../src/csi/server.js';

export class Served {
  readonly folder = mkdtempSync(join(tmpdir(), 'csi-served-'));
  readonly socketPath = join(this.folder, 'csi.sock');
  readonly #servers: Server[] = [];
  readonly #clients: CsiClient[] = [];

  async serve(handlers: CsiHandlers, options: ChannelOptions = {}): Promise<void> {
    const server = new Server(options);
    addCsiHandlers(server, handlers);
    this.#servers.push(server);
    await new Promise<void>((resolve, reject) => {
      const target = `unix://${this.socketPath}`;
      server.bindAsync(target, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()));
    });
  }

  client(options: Partial<CsiClientOptions> = {}): CsiClient {
    const client = new CsiClient({ socketPath: this.socketPath, ...options });
    this.#clients.push(client);
    return client;
  }

  /** Fails where something stayed open. */
  end(): void {
    for (const client of this.#clients) client.close();
    for (const server of this.#servers) server.forceShutdown();
    rmSync(this.folder, { recursive: true });
    expect(openChannels()).to.equal(0);
  }
}

/** Something that a test waits for, and who brings it. */
export interface Awaited<T> {
  promise: Promise<T>;
  resolve(value: T): void;
}

export function awaited<T = void>(): Awaited<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
