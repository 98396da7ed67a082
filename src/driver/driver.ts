/**
 * The bundled host-path CSI driver: a real plugin for first runs and tests. So far it says who it is and on which
 * node; it offers no volumes yet. An RPC that is not here is answered UNIMPLEMENTED by gRPC itself.
 * A program of its own: it shares nothing with the engine but the generated messages. Its socket: socket.ts.
 */
import { once } from 'node:events';
import type { Server as Listener, Socket } from 'node:net';
import { type handleUnaryCall, Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { csi } from '../csi/generated/csi.js';
import { google } from '../csi/generated/google/protobuf/wrappers.js';
import { StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { listen, socketPathOf } from './socket.js';

/** The driver's own name, as GetPluginInfo gives it. */
export const driverName = 'hostpath.csi.stagecraft';

export interface DriverOptions {
  /** `unix:///abs/path`, `unix:/abs/path` or `/abs/path`; at most 107 bytes of path. */
  endpoint: string;
  /** What NodeGetInfo answers: 1 to 256 bytes. */
  nodeId: string;
  /** What GetPluginInfo answers; default: the version of this package. */
  vendorVersion?: string;
  /** How long `stop` lets calls and connections end by themselves; default 5 s. */
  stopGraceMs?: number;
}

export interface RunningDriver {
  /** Removes the socket, lets calls in flight end, then cuts who is still connected. A second call is the first. */
  stop(): Promise<void>;
}

const maxNodeIdBytes = 256;
const maxMessageBytes = 64 * 1024 * 1024;

/**
 * Serves on the endpoint's socket (mode 0600), which it makes anew if a dead driver left it behind.
 * Resolves once calls are answered.
 * @throws {StagecraftError} INVALID_ARGUMENT: the endpoint or the node id; SOCKET_IN_USE: somebody answers there
 */
export async function startDriver(options: DriverOptions): Promise<RunningDriver> {
  const { endpoint, nodeId, vendorVersion = packageVersion(), stopGraceMs = 5_000 } = options;
  checkNodeId(nodeId);
  const listener = await listen(socketPathOf(endpoint));
  const server = new Server({
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.max_receive_message_length': maxMessageBytes,
  });
  server.addService(csi.v1.UnimplementedIdentityService.definition, identityService(vendorVersion));
  server.addService(csi.v1.UnimplementedNodeService.definition, nodeService(nodeId));
  const connections = serveOn(listener, server);
  let stopped: Promise<void> | undefined;
  return {
    stop: () => {
      stopped ??= stop({ listener, server, connections, graceMs: stopGraceMs });
      return stopped;
    },
  };
}

/** @returns the connections that are open, at any time */
function serveOn(listener: Listener, server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  listener.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    injector.injectConnection(connection);
  });
  return connections;
}

function identityService(vendorVersion: string): UntypedServiceImplementation {
  const { GetPluginInfoResponse, GetPluginCapabilitiesResponse, ProbeResponse } = csi.v1;
  const ready = (): google.protobuf.BoolValue => new google.protobuf.BoolValue({ value: true });
  return {
    GetPluginInfo: answering(() => new GetPluginInfoResponse({ name: driverName, vendor_version: vendorVersion })),
    GetPluginCapabilities: answering(() => new GetPluginCapabilitiesResponse()),
    Probe: answering(() => new ProbeResponse({ ready: ready() })),
  };
}

function nodeService(nodeId: string): UntypedServiceImplementation {
  const { NodeGetInfoResponse, NodeGetCapabilitiesResponse } = csi.v1;
  return {
    NodeGetInfo: answering(() => new NodeGetInfoResponse({ node_id: nodeId })),
    NodeGetCapabilities: answering(() => new NodeGetCapabilitiesResponse()),
  };
}

function answering<TResponse>(answer: () => TResponse): handleUnaryCall<unknown, TResponse> {
  return (_call, callback) => callback(null, answer());
}

function checkNodeId(nodeId: string): void {
  const bytes = Buffer.byteLength(nodeId);
  if (bytes >= 1 && bytes <= maxNodeIdBytes) return;
  throw new StagecraftError('INVALID_ARGUMENT', `the node id must have 1 to ${maxNodeIdBytes} bytes, not ${bytes}`);
}

interface Serving {
  listener: Listener;
  server: Server;
  connections: ReadonlySet<Socket>;
  graceMs: number;
}

async function stop({ listener, server, connections, graceMs }: Serving): Promise<void> {
  const closed = once(listener, 'close');
  listener.close(); // removes the socket at once, so that nobody else comes
  // grpc-js's own forceShutdown waits for a peer that never reads.
  const cut = setTimeout(() => {
    for (const connection of connections) connection.destroy();
  }, graceMs);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await closed;
  clearTimeout(cut);
}
