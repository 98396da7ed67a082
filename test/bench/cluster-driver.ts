/**
 * The driver of cluster.ts, one for all hosts. Once it is sent `hang`, the first publish of a volume is never answered;
 * it tells of each, and whether it is the first. Argument: its socket.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers } from '../../dist/src/csi/server.js';

const hanging = new Set<string>();
let hangs = false;
process.on('message', (message) => {
  hangs = message === 'hang';
});
const server = new Server();
addCsiHandlers(server, {
  GetPluginInfo: () => ({ name: 'bench.stagecraft', vendorVersion: '1.0.0' }),
  GetPluginCapabilities: () => ({ capabilities: [{ service: { type: 'CONTROLLER_SERVICE' } }] }),
  Probe: () => ({ ready: true }),
  ControllerGetCapabilities: () => ({
    capabilities: [{ rpc: { type: 'CREATE_DELETE_VOLUME' } }, { rpc: { type: 'PUBLISH_UNPUBLISH_VOLUME' } }],
  }),
  CreateVolume: ({ name }) => ({ volume: { volumeId: name, capacityBytes: 2 ** 30 } }),
  ControllerPublishVolume: async ({ volumeId }) => {
    if (hangs) {
      const isFirst = !hanging.has(volumeId);
      hanging.add(volumeId);
      process.send?.({ isFirst });
      if (isFirst) await new Promise(() => {});
    }
    return { publishContext: { device: volumeId } };
  },
});

const [socketPath = ''] = process.argv.slice(2);
server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  process.send?.('ready');
});
process.once('disconnect', () => process.exit());
