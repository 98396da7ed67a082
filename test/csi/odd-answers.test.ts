/** Tests answers that no driver should give to a unary call: none at all, two, or bytes that are no message. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import { CsiClient } from '../../src/csi/client.js';
import { refusalOf } from '../refusal.js';

const raw = (bytes: Buffer): Buffer => bytes;
/** `ready` is a message with the field `value`: here true. */
const isReady = Buffer.from([0x0a, 0x02, 0x08, 0x01]);

describe('odd answers to a unary call', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  const socketPath = join(directory, 'csi.sock');
  let answers: Buffer[] = [];
  const server = new Server();
  const client = new CsiClient({ socketPath });

  before(async () => {
    const probe = { path: '/csi.v1.Identity/Probe', requestStream: false, responseStream: true };
    const codecs = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
    server.addService(
      { Probe: { ...probe, ...codecs } },
      {
        Probe: (call: ServerWritableStream<Buffer, Buffer>) => {
          for (const answer of answers) call.write(answer);
          call.end();
        },
      },
    );
    await new Promise<void>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      server.bindAsync(`unix://${socketPath}`, credentials, (error) => (error ? reject(error) : resolve()));
    });
  });

  after(() => {
    client.close();
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  });

  it('one answer: taken', async () => {
    answers = [isReady];
    expect(await client.probe()).to.deep.equal({ ready: true });
  });

  it('no answer, and the status OK: UNIMPLEMENTED, says so', async () => {
    answers = [];
    const failure = await refusalOf(client.probe());
    expect(failure).to.include({ code: 'CSI_ERROR', grpcCode: 'UNIMPLEMENTED' });
    expect(failure.message).to.equal('Probe: UNIMPLEMENTED: No message received');
  });

  it('two answers: neither is taken', async () => {
    answers = [isReady, isReady];
    expect((await refusalOf(client.probe())).grpcCode).to.equal('UNIMPLEMENTED');
  });

  it('bytes that are no message: INTERNAL, and the connection goes on', async () => {
    answers = [Buffer.from([0x0a, 0xff, 0xff])];
    const failure = await refusalOf(client.probe());
    expect(failure.grpcCode).to.equal('INTERNAL');
    expect(failure.message).to.include('Response message parsing error');
    answers = [isReady];
    expect(await client.probe()).to.deep.equal({ ready: true });
  });
});
