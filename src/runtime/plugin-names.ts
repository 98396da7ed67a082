/** Names the plugin of volumes, snapshots and mounts, for their events: those don't say it themselves. */
import { isClusterOwned } from '../../machines/kit/addresses.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { ElectedEngine } from '../engine/lease/elected-engine.js';

/** Names remembered, so that the last events of a deleted actor have them, too. */
const remembered = 10_000;

const prefixes = ['volume/', 'volume-snapshot/', 'group-snapshot/', 'mount/'];

export class PluginNames {
  readonly #own: Pick<ActorSystem, 'peek' | 'read'>;
  readonly #elected: ElectedEngine;
  readonly #names = new Map<string, string | undefined>();

  constructor(own: Pick<ActorSystem, 'peek' | 'read'>, elected: ElectedEngine) {
    this.#own = own;
    this.#elected = elected;
  }

  /** Undefined: the actor has no plugin, or it is not known. */
  readonly of = async (address: string): Promise<string | undefined> => {
    if (!prefixes.some((prefix) => address.startsWith(prefix))) return undefined;
    const now = nameIn(this.#peek(address)?.context);
    if (now !== undefined) return this.#remember(address, now);
    if (this.#names.has(address)) return this.#names.get(address);
    const system = isClusterOwned(address) ? this.#elected : this.#own;
    const read = await system.read(address).catch(() => undefined);
    return this.#remember(address, nameIn(read?.context));
  };

  #peek(address: string): ReturnType<ActorSystem['peek']> {
    return isClusterOwned(address) ? this.#elected.readNow(address)?.view : this.#own.peek(address);
  }

  #remember(address: string, name: string | undefined): string | undefined {
    this.#names.delete(address);
    this.#names.set(address, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > remembered && oldest !== undefined) this.#names.delete(oldest);
    return name;
  }
}

/** Contexts of volumes and snapshots have a spec, those of mounts the volume. */
function nameIn(context: object | undefined): string | undefined {
  const { spec, volume }: { spec?: { plugin?: string } | null; volume?: { plugin?: string } | null } = context ?? {};
  return spec?.plugin ?? volume?.plugin;
}
