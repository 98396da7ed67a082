/**
 * How each instance is: what its machine has committed, and what was seen of it in this run of the runtime.
 * As long as its machine has not taken what it was registered as, nothing that was known before counts.
 */
import { addressParts, pluginAddress } from '../../machines/kit/addresses.js';
import type { PluginScope } from '../../machines/kit/csi-types.js';
import { type Fingerprint, type PluginInfo, pluginMachine } from '../../machines/plugin/plugin.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Engine } from '../engine/engine.js';

/** Status of the active instance of a plugin. */
export interface PluginStatus {
  info: PluginInfo;
  state: 'registering' | 'fingerprinting' | 'healthy' | 'unhealthy' | 'shutdown';
  healthy: boolean;
  /** Reason of its health, in words. */
  description: string;
  fingerprint: {
    pluginName?: string;
    vendorVersion?: string;
    /** Absent: not known yet; never: none. */
    capabilities: string[] | undefined;
    pluginCapabilities?: string[];
    nodeId?: string;
    maxVolumes?: number;
    topology?: Record<string, string>;
    /** Scope that the driver reports. Absent: none reported. */
    scope?: PluginScope;
  };
  /** End of the last look in this run of the runtime, milliseconds since the epoch. */
  checkedAt?: number;
}

/** End of a look and its finding, which the machine may not know yet. */
export interface Look {
  atMs: number;
  healthy: boolean;
}

const beingRegistered: Fingerprint = { healthy: false, description: 'being registered' };

export class PluginStatuses {
  readonly #node: string;
  readonly #engine: Engine;
  readonly #plugins: ActorsOf<typeof pluginMachine>;
  /** Last look, by the address of the instance. */
  readonly #looks = new Map<string, Look>();

  constructor({ node, engine }: { node: string; engine: Engine }) {
    this.#node = node;
    this.#engine = engine;
    this.#plugins = new ActorsOf(engine, pluginMachine);
  }

  of(info: PluginInfo): PluginStatus {
    const address = this.#addressOf(info);
    const view = this.#isBeingMade(address) ? undefined : this.#plugins.peek(address);
    const fingerprint = view?.context.fingerprint ?? beingRegistered;
    const state = view?.state ?? 'registering';
    const checkedAt = view && this.#looks.get(address)?.atMs;
    return {
      info,
      state,
      healthy: state === 'healthy',
      description: fingerprint.description,
      fingerprint: { ...fingerprint.basic, capabilities: fingerprint.capabilities },
      ...(checkedAt === undefined ? {} : { checkedAt }),
    };
  }

  /** Whether it is healthy, and was seen healthy in this run. */
  isSeenHealthy(info: PluginInfo): boolean {
    return this.of(info).healthy && this.#looks.get(this.#addressOf(info))?.healthy === true;
  }

  looked(address: string, look: Look): void {
    this.#looks.set(address, look);
  }

  /** Forgets the last look: it may have been at another process. */
  forget(address: string): void {
    this.#looks.delete(address);
  }

  /** Forgets the last looks at all instances of a type. */
  forgetAll(type: string): void {
    for (const address of [...this.#looks.keys()]) {
      if (addressParts(address)[2] === type) this.#looks.delete(address);
    }
  }

  /** Number of instances that still have to leave an address before the registered one comes. */
  leaving(address: string): number {
    return this.#engine.unread(address).filter(({ event }) => event?.type === 'plugin.shutdown').length;
  }

  /** Whether it was registered or defined anew, and its machine has still to take that. */
  #isBeingMade(address: string): boolean {
    return this.#engine.unread(address).some(({ input, event }) => input || event?.type === 'plugin.restart');
  }

  #addressOf({ type, name, allocId }: PluginInfo): string {
    return pluginAddress(this.#node, type, name, allocId);
  }
}
