/** The client of each instance: connected once, closed once. */
import type { PluginInfo } from '../../machines/plugin.js';
import type { Dispenser } from './dispenser.js';
import { noDispenser } from './validate.js';

interface Connection {
  client: unknown;
  dispenser: Dispenser;
}

export class Clients {
  readonly #dispensers: Record<string, Dispenser>;
  readonly #connections = new Map<string, Connection>();

  constructor(dispensers: Record<string, Dispenser>) {
    this.#dispensers = dispensers;
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

  /** The client of the instance at this address, connected now if it is not. */
  get(address: string, info: PluginInfo): unknown {
    let connection = this.#connections.get(address);
    if (!connection) {
      const dispenser = this.dispenser(info.type);
      connection = { client: dispenser.connect(info), dispenser };
      this.#connections.set(address, connection);
    }
    return connection.client;
  }

  close(address: string): void {
    const connection = this.#connections.get(address);
    this.#connections.delete(address);
    connection?.dispenser.close(connection.client);
  }
}
