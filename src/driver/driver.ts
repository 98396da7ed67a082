/**
 * The bundled host-path CSI driver: a real plugin for first runs and tests. A volume is a directory below its data
 * directory, or the image of a block device. A program of its own: of the house it shares the CSI messages only.
 * What it remembers: state.ts. Its socket: serve.ts
 */
import type { CsiHandlers } from '../csi/server.js';
import { StagecraftError } from '../errors.js';
import { packageVersion } from '../host/version.js';
import { openController } from './controller.js';
import { identityHandlers } from './identity.js';
import { nodeHandlers } from './node.js';
import { type Serving, serve } from './serve.js';
import { openState } from './state.js';

export interface Driver {
  /** All that it answers. */
  handlers: CsiHandlers;
  /** Gives the data directory back. */
  close(): void;
}

export interface DriverOptions {
  /** What NodeGetInfo answers: 1 to 256 bytes. */
  nodeId: string;
  /** Holds all volumes, and what is known of them; made where it is missing. One driver at a time. */
  dataDir: string;
  /** What GetPluginInfo answers; default: the version of this package. */
  vendorVersion?: string;
  /** What all volumes may have together; default: the size of the file system that they are on. */
  capacityBytes?: number | undefined;
  /** Whether the controller publishes volumes to nodes before they are used there; default false. */
  attach?: boolean | undefined;
  /** With `attach`: the ids of nodes that there are besides `nodeId`. */
  peerNodes?: readonly string[] | undefined;
  /** How many volumes may be published to a node by the controller; default 0: as many as anybody likes. */
  maxVolumesPerNode?: number | undefined;
}

export interface ServedDriverOptions extends DriverOptions {
  /** `unix:///abs/path`, `unix:/abs/path` or `/abs/path`; at most 107 bytes of path. */
  endpoint: string;
  /** How long `stop` lets calls and connections end by themselves; default 5 s. */
  stopGraceMs?: number;
}

const maxNodeIdBytes = 256;

/**
 * Takes up the data directory and serves on the endpoint's socket.
 * @throws {StagecraftError} INVALID_ARGUMENT: the endpoint or a node id; SOCKET_IN_USE: somebody answers there;
 *   DATA_DIR_LOCKED: another driver holds the data directory; DRIVER_STATE_BROKEN: what is in there can't be read
 */
export async function startDriver({
  endpoint,
  stopGraceMs = 5_000,
  ...options
}: ServedDriverOptions): Promise<Serving> {
  const driver = await openDriver(options);
  try {
    const serving = await serve(endpoint, driver.handlers, stopGraceMs);
    let stopped: Promise<void> | undefined;
    return {
      stop: () => {
        stopped ??= serving.stop().finally(driver.close);
        return stopped;
      },
    };
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** The driver without a socket. */
export async function openDriver({
  nodeId,
  dataDir,
  vendorVersion = packageVersion(),
  capacityBytes,
  attach = false,
  peerNodes = [],
  maxVolumesPerNode = 0,
}: DriverOptions): Promise<Driver> {
  for (const id of [nodeId, ...peerNodes]) checkNodeId(id);
  if (!attach && peerNodes.length > 0)
    throw new StagecraftError('INVALID_ARGUMENT', 'there are peer nodes only with attach: ask for that too');
  const { state, close } = await openState(nodeId, dataDir);
  try {
    const nodes = attach ? { peerNodes, maxVolumesPerNode } : undefined;
    const controller = await openController(state, { capacityBytes, attach: nodes });
    return { handlers: { ...identityHandlers(vendorVersion), ...controller, ...nodeHandlers(state) }, close };
  } catch (error) {
    close();
    throw error;
  }
}

function checkNodeId(nodeId: string): void {
  const bytes = Buffer.byteLength(nodeId);
  if (bytes >= 1 && bytes <= maxNodeIdBytes) return;
  throw new StagecraftError('INVALID_ARGUMENT', `a node id must have 1 to ${maxNodeIdBytes} bytes, not ${bytes}`);
}
