/**
 * CSI node plugins for watch.ts and death.ts, in a process of their own: one at each socket that it is given. Serves, closes
 * and counts as it is told by messages, and says when that is done. Ends with its parent.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { addCsiHandlers, type CsiHandlers } from '../../dist/src/csi/server.js';

export type Told = 'serve' | 'close' | 'count';
/** Of `count`: how often a plugin was probed, by the second since the last count, oldest first. */
export type Said = 'served' | 'closed' | number[];

const secondMs = 1_000;

let countedFromMs = performance.now();
let probes: number[] = [];

function count(): void {
  const second = Math.floor((performance.now() - countedFromMs) / secondMs);
  while (probes.length <= second) probes.push(0);
  probes[second] = (probes[second] ?? 0) + 1;
}

const handlers: CsiHandlers = {
  GetPluginInfo: () => ({ name: 'bench.stagecraft', vendorVersion: '1.0.0' }),
  GetPluginCapabilities: () => ({ capabilities: [] }),
  Probe: () => {
    count();
    return { ready: true };
  },
  NodeGetInfo: () => ({ nodeId: 'bench', maxVolumesPerNode: 8 }),
  NodeGetCapabilities: () => ({ capabilities: [{ rpc: { type: 'STAGE_UNSTAGE_VOLUME' } }] }),
};

function serve(socketPath: string): Promise<Server> {
  const server = new Server();
  addCsiHandlers(server, handlers);
  return new Promise((resolve, reject) =>
    server.bindAsync(`unix://${socketPath}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(server),
    ),
  );
}

const socketPaths = process.argv.slice(2);
let servers: Server[] = [];

const does: Record<Told, () => Promise<Said>> = {
  async serve() {
    servers = await Promise.all(socketPaths.map(serve));
    return 'served';
  },
  async close() {
    for (const server of servers) server.forceShutdown();
    return 'closed';
  },
  async count() {
    const counted = probes;
    probes = [];
    countedFromMs = performance.now();
    return counted;
  },
};

process.on('message', async (told: Told) => process.send?.(await does[told]()));
process.once('disconnect', () => process.exit());
