/** The driver of volumes-csi.ts, in a process of its own: makes and publishes volumes at once, and keeps none. Ends with its parent. */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers } from '../../dist/src/csi/server.js';

const server = new Server();
addCsiHandlers(server, {
  GetPluginInfo: () => ({ name: 'bench.stagecraft', vendorVersion: '1.0.0' }),
  GetPluginCapabilities: () => ({ capabilities: [{ service: { type: 'CONTROLLER_SERVICE' } }] }),
  Probe: () => ({ ready: true }),
  ControllerGetCapabilities: () => ({
    capabilities: [{ rpc: { type: 'CREATE_DELETE_VOLUME' } }, { rpc: { type: 'PUBLISH_UNPUBLISH_VOLUME' } }],
  }),
  CreateVolume: ({ name }) => ({ volume: { volumeId: name, capacityBytes: 2 ** 30 } }),
  ControllerPublishVolume: ({ volumeId }) => ({ publishContext: { device: volumeId } }),
});

const [socketPath = ''] = process.argv.slice(2);
server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  process.send?.('ready');
});
process.once('disconnect', () => process.exit());
