/**
 * The bundled host-path CSI driver: a real plugin for first runs and tests. A volume is a directory below its data
 * directory, or the image of a block device. A program of its own: of the house it shares the CSI messages only.
 * What it remembers: state.ts. Its socket: serve.ts
 */
import { type CsiHandlers, CsiStatus, type ServerCall } from '../../csi/server.js';
import { StagecraftError } from '../../errors.js';
import { packageVersion } from '../../host/version.js';
import { type ControllerOptions, openController } from './controller.js';
import { checkNodeId, identityHandlers } from './identity.js';
import { type NodeOptions, nodeHandlers } from './node.js';
import { type Serving, serveDriver } from './serve.js';
import { openState } from './state.js';

export interface Driver {
  /** Handlers of all calls. */
  handlers: CsiHandlers;
  /** Gives the data directory back once work under way has ended: its callers may have gone before. */
  close(): Promise<void>;
}

export interface DriverOptions extends ControllerOptions, NodeOptions {
  /** Answer of NodeGetInfo: 1 to 256 bytes. */
  nodeId: string;
  /** Directory of all volumes and records; created if missing. One driver at a time. */
  dataDir: string;
  /**
   * Whether each of several hosts has a driver on this directory, which is on storage that they share. Needs `attach`. Each
   * call then takes the directory for itself. Default: one driver has the directory.
   */
  isShared?: boolean;
  /** Answer of GetPluginInfo; default: the version of this package. */
  vendorVersion?: string;
}

export interface ServedDriverOptions extends DriverOptions {
  /** `unix:///abs/path`, `unix:/abs/path` or `/abs/path`; at most 107 bytes of path. */
  endpoint: string;
  /** Time that `stop` gives calls and connections to end; default 5 s. */
  stopGraceMs?: number;
}

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
    const serving = await serveDriver(endpoint, driver.handlers, stopGraceMs);
    let stopped: Promise<void> | undefined;
    return {
      stop: () => {
        stopped ??= serving.stop().finally(driver.close);
        return stopped;
      },
    };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** Opens the driver without a socket. */
export async function openDriver(options: DriverOptions): Promise<Driver> {
  checkNodeId(options.nodeId);
  return options.isShared ? openShared(options) : openAlone(options);
}

async function openAlone({ vendorVersion = packageVersion(), ...options }: DriverOptions): Promise<Driver> {
  const { isShared = false } = options;
  const { state, lockFile, close } = await openState(options);
  try {
    const controller = await openController(state, lockFile, options);
    const node = nodeHandlers(state, lockFile, options);
    return {
      handlers: {
        ...identityHandlers(vendorVersion, { isForPeers: (options.peerNodes ?? []).length > 0, isShared }),
        ...controller.handlers,
        ...node,
      },
      close: () => {
        controller.stop();
        return state.pending.idle().then(close);
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

type Work = (request: object, call: ServerCall) => object | Promise<object>;

/**
 * Opens a driver on a directory that several hosts share. Each call takes the directory, reads what the drivers of other
 * hosts have done, does its work, and gives the directory back.
 * @throws {StagecraftError} INVALID_ARGUMENT: without `attach` nothing keeps two hosts from using a volume; as `openAlone`
 */
async function openShared(options: DriverOptions): Promise<Driver> {
  if (!options.attach)
    throw new StagecraftError('INVALID_ARGUMENT', 'a shared data directory needs attach: ask for that too');
  const first = await openAlone(options);
  await first.close();
  const queue = new Queue();
  const handlers = Object.keys(first.handlers).map((rpc) => {
    const work: Work = (request, call) =>
      queue.run(async () => {
        const driver = await openAlone(options).catch((error: unknown) => {
          throw isLocked(error) ? new CsiStatus('ABORTED', `${error.message}, or ask again`) : error;
        });
        const handler = Object.entries(driver.handlers).find(([name]) => name === rpc)?.[1] as Work;
        try {
          return await handler(request, call);
        } finally {
          await driver.close();
        }
      });
    return [rpc, work];
  });
  return { handlers: Object.fromEntries(handlers) satisfies CsiHandlers, close: () => queue.idle() };
}

const isLocked = (error: unknown): error is StagecraftError =>
  error instanceof StagecraftError && error.code === 'DATA_DIR_LOCKED';

/** Calls of this process, one after the other. */
class Queue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }

  async idle(): Promise<void> {
    await this.#last;
  }
}
