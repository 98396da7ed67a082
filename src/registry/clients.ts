/** The client of each instance: connected once, closed once. */
import type { PluginInfo } from '../../machines/plugin.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import type { Dispenser } from './dispenser.js';
import { noDispenser } from './validate.js';

interface Connection {
  client: unknown;
  dispenser: Dispenser;
}

/** Defined anew, an instance needs another client: the old one speaks to the old socket. */
const nameOf = (address: string, info: PluginInfo): string => `${address}#${JSON.stringify(info)}`;

export class Clients {
  readonly #dispensers: Record<string, Dispenser>;
  readonly #logger: Logger;
  readonly #connections = new Map<string, Connection>();

  constructor(dispensers: Record<string, Dispenser>, logger: Logger) {
    this.#dispensers = dispensers;
    this.#logger = logger;
  }

  /** The types of plugin that can be spoken to. */
  get types(): string[] {
    return Object.keys(this.#dispensers);
  }

  /** @throws StagecraftError NO_DISPENSER */
  dispenser(type: string): Dispenser {
    const dispenser = Object.hasOwn(this.#dispensers, type) ? this.#dispensers[type] : undefined;
    if (!dispenser) throw noDispenser(type, this.types);
    return dispenser;
  }

  /** The client of the instance at this address, as defined by `info`; connected now if it is not. */
  get(address: string, info: PluginInfo): unknown {
    const name = nameOf(address, info);
    let connection = this.#connections.get(name);
    if (!connection) {
      const dispenser = this.dispenser(info.type);
      connection = { client: dispenser.connect(info), dispenser };
      this.#connections.set(name, connection);
    }
    return connection.client;
  }

  /** Never throws: a client that can't be closed is forgotten all the same. */
  close(address: string, info: PluginInfo): void {
    const name = nameOf(address, info);
    const connection = this.#connections.get(name);
    this.#connections.delete(name);
    try {
      connection?.dispenser.close(connection.client);
    } catch (error) {
      this.#logger.warn({ address }, `a client could not be closed: ${messageOf(error)}`);
    }
  }
}
