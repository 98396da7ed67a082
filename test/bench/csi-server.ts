/**
 * The plugin of csi.ts, in a process of its own: answers each RPC with bytes made beforehand, so that what is measured
 * is who calls. Says `ready` once it listens, and ends with its input.
 */
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import { responseCodec } from '../../dist/src/csi/codec.js';
import { type Rpcs, rpcs } from '../../dist/src/csi/generated/plain.js';
import { publishContext, volume } from './csi-messages.js';

const asBytes = (bytes: Buffer): Buffer => bytes;
const server = new Server();

function answer(rpc: keyof Rpcs, bytes: Buffer): void {
  const handle: handleUnaryCall<Buffer, Buffer> = (_call, callback) => callback(null, bytes);
  server.register(rpcs[rpc].path, handle, asBytes, asBytes, 'unary');
}

answer('Probe', responseCodec('Probe').encode({ ready: true }));
answer('CreateVolume', responseCodec('CreateVolume').encode({ volume }));
answer('ControllerPublishVolume', responseCodec('ControllerPublishVolume').encode({ publishContext }));

const [socketPath = ''] = process.argv.slice(2);
server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  console.log('ready');
});
process.stdin.resume().once('end', () => process.exit());
