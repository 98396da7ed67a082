/**
 * A CSI plugin that takes the path from whoever listens there, as some drivers do, and then prints `ready`. Its name is what
 * GetPluginInfo answers; a volume named `hang` is never made: that prints `hanging`.
 */
import { rmSync } from 'node:fs';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers } from '../../src/csi/server.js';

const [socketPath = '', name = ''] = process.argv.slice(2);
const server = new Server();
addCsiHandlers(server, {
  GetPluginInfo: () => ({ name, vendorVersion: '1' }),
  Probe: () => ({}),
  CreateVolume: (request) => {
    if (request.name !== 'hang') return { volume: { volumeId: `${name}/${request.name}` } };
    console.log('hanging');
    return new Promise(() => {});
  },
  async *GetMetadataAllocated() {
    for (let index = 0; ; index += 1) yield { blockMetadata: [{ byteOffset: index }] };
  },
});
rmSync(socketPath, { force: true });
server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  console.log('ready');
});
process.stdin.resume().once('end', () => process.exit());
