/**
 * A driver that takes its time, as the process of a task: NodePublishVolume ends when there is a file at its target
 * path. What it is at it writes down, line by line, into the file that RECORD names.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers } from '../../src/csi/server.js';

const { RECORD = '', CSI_ENDPOINT = '' } = process.env;
const record = (line: string): void => appendFileSync(RECORD, `${line}\n`);

const server = new Server();
addCsiHandlers(server, {
  GetPluginInfo: () => ({ name: 'slow.csi.test', vendorVersion: '1' }),
  GetPluginCapabilities: () => ({}),
  Probe: () => ({}),
  NodeGetInfo: () => ({ nodeId: 'n1' }),
  NodeGetCapabilities: () => ({}),
  NodePublishVolume: async ({ targetPath }) => {
    record('begun');
    while (!existsSync(targetPath)) await setTimeout(5);
    record('ended');
    return {};
  },
});
process.once('SIGTERM', () => {
  record('SIGTERM');
  process.exit(0);
});
server.bindAsync(CSI_ENDPOINT, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
