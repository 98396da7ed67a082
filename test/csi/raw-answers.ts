/** A plugin that answers one RPC with bytes of the test, and a client of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { CsiClient } from '../../src/csi/client.js';

const raw = (bytes: Buffer): Buffer => bytes;

export class RawAnswers {
  /** Messages of each answer, in order. */
  answers: Buffer[] = [];
  readonly client: CsiClient;
  readonly #directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  readonly #socketPath = join(this.#directory, 'csi.sock');
  readonly #server = new Server();

  /** @param path such as `/csi.v1.Identity/Probe` */
  constructor(path: string) {
    this.client = new CsiClient({ socketPath: this.#socketPath });
    const codecs = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
    this.#server.addService(
      { rpc: { path, requestStream: false, responseStream: true, ...codecs } },
      {
        rpc: (call: ServerWritableStream<Buffer, Buffer>) => {
          for (const answer of this.answers) call.write(answer);
          call.end();
        },
      },
    );
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      const bound = (error: Error | null): void => (error ? reject(error) : resolve());
      this.#server.bindAsync(`unix://${this.#socketPath}`, credentials, bound);
    });
  }

  end(): void {
    this.client.close();
    this.#server.forceShutdown();
    rmSync(this.#directory, { recursive: true });
  }
}
