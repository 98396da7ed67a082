/**
 * The bundled driver behind a socket, with a script in between: in a process of its own (process.ts), or in that of the
 * test (serve-faulty.ts).
 */
import { setTimeout } from 'node:timers/promises';
import type { CsiHandlers } from '../../csi/server.js';
import { type Driver, openDriver } from '../driver/driver.js';
import type { Director } from './call.js';
import { interposed } from './interposed.js';
import type { Offers } from './judge/violations.js';
import { driverOptionsOf, type PlainDriverOptions } from './plain-options.js';
import { Sockets } from './sockets.js';

interface Serving {
  socketPath: string;
  director: Director;
  /** Fires when the driver is stopped: see `Origin`. */
  ending: AbortSignal;
  /** Replaces the socket of a driver that still listens there. Default: such a start is refused. */
  takesOver?: boolean;
  /** Handlers in place of those of the bundled driver. */
  handlers?: CsiHandlers | undefined;
}

/** Limit for work in flight to end, when the driver is stopped. */
const patienceMs = 5_000;

export class ServedDriver {
  readonly offered: Offers;
  readonly sockets: Sockets;
  readonly #driver: Driver;
  readonly #works: ReadonlySet<Promise<unknown>>;

  private constructor(driver: Driver, sockets: Sockets, offered: Offers, works: ReadonlySet<Promise<unknown>>) {
    this.#driver = driver;
    this.sockets = sockets;
    this.offered = offered;
    this.#works = works;
  }

  /**
   * Resolves once calls are answered.
   * @throws {StagecraftError} the reason why it cannot serve: see `startDriver`
   */
  static async open(
    options: PlainDriverOptions,
    { socketPath, director, ending, takesOver = false, handlers }: Serving,
  ): Promise<ServedDriver> {
    const driver = await openDriver(driverOptionsOf(options));
    const works = new Set<Promise<unknown>>();
    const watch = <T>(work: Promise<T>): Promise<T> => {
      works.add(work);
      return work.finally(() => works.delete(work));
    };
    try {
      const all = { ...driver.handlers, ...handlers };
      const sockets = new Sockets(socketPath, (connected) =>
        interposed(all, director, { ...connected, watch, ending }),
      );
      const offered = await offersOf(all);
      await (takesOver ? sockets.replace() : sockets.open());
      return new ServedDriver(driver, sockets, offered, works);
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  /** Lets work in flight end, so that no mount stays half made, then gives the data directory back. */
  async close(): Promise<void> {
    const patience = new AbortController();
    const late = setTimeout(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#works), late]);
    patience.abort();
    this.#driver.close();
  }
}

/** Asks the handlers, without the script, for capabilities by service; none for a service that the driver lacks. */
async function offersOf(handlers: CsiHandlers): Promise<Offers> {
  const call = { signal: new AbortController().signal };
  const controller = await handlers.ControllerGetCapabilities?.({}, call);
  const group = await handlers.GroupControllerGetCapabilities?.({}, call);
  const node = await handlers.NodeGetCapabilities?.({}, call);
  return {
    Controller: namesOf(controller?.capabilities),
    GroupController: namesOf(group?.capabilities),
    Node: namesOf(node?.capabilities),
  };
}

const namesOf = (capabilities: readonly { rpc?: { type?: string | undefined } | undefined }[] = []): string[] =>
  capabilities.flatMap(({ rpc }) => rpc?.type ?? []);
