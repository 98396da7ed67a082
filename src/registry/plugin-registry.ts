/**
 * `runtime.plugins`: registers, lists and dispenses the plugins of this node, and their events. Reads committed
 * records; every change goes through the mailbox of the plugin name (machines/plugin/plugins.ts).
 */
import { addressParts, pluginAddress, pluginsAddress, pluginsAddressOf } from '../../machines/kit/addresses.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import { pluginsMachine } from '../../machines/plugin/plugins.js';
import type { PluginKey } from '../../machines/task/task-types.js';
import { onAbort } from '../abort.js';
import { ActorsOf } from '../engine/actors-of.js';
import type { Clock } from '../engine/clock.js';
import { Closing } from '../engine/closing.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import { type FollowOptions, followAs } from '../engine/topics/topic-reader.js';
import { Waiters } from '../engine/waiters.js';
import { type ErrorCode, messageOf, refuseNoObject, StagecraftError } from '../errors.js';
import type { Clients } from './clients.js';
import { askDependents, type Dependents } from './dependents.js';
import type { Dispenser } from './dispenser.js';
import { type PluginEvent, pluginEventOf, pluginsTopic } from './plugin-events.js';
import { type Look, type PluginStatus, PluginStatuses } from './plugin-statuses.js';
import { checkAddress, checkFollowed, checkKey, checkRegistration, checkWait } from './validate.js';

export interface WaitOptions {
  /** Default `healthy`. */
  until?: 'registered' | 'healthy';
  /** Default 60,000. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

interface PluginRegistryOptions {
  node: string;
  engine: Engine;
  clients: Clients;
  clock: Clock;
  logger: Logger;
  dependents?: Dependents | undefined;
  /** Names what depends on an instance within this runtime; known at once. Default: nothing. */
  needing?(info: PluginInfo): string[];
  /** Waiters by address: the loops that look at instances. */
  asked: Waiters;
}

/** Status of an instance, not to be changed, and whether it was seen healthy in this run. */
export interface SeenInstance {
  status: PluginStatus;
  isSeenHealthy: boolean;
}

const defaultWaitMs = 60_000;

export class PluginRegistry {
  readonly #node: string;
  readonly #engine: Engine;
  readonly #names: ActorsOf<typeof pluginsMachine>;
  readonly #clients: Clients;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #dependents: Dependents | undefined;
  readonly #needing: (info: PluginInfo) => string[];
  readonly #asked: Waiters;
  readonly #statuses: PluginStatuses;
  /** Waiters by the address of a plugin name: woken by commits, ended looks, ended calls and the end. */
  readonly #waiters = new Waiters();
  readonly #closing = new Closing();

  constructor({ node, engine, clients, clock, logger, dependents, needing, asked }: PluginRegistryOptions) {
    this.#node = node;
    this.#engine = engine;
    this.#names = new ActorsOf(engine, pluginsMachine);
    this.#clients = clients;
    this.#clock = clock;
    this.#logger = logger;
    this.#dependents = dependents;
    this.#needing = needing ?? (() => []);
    this.#asked = asked;
    this.#statuses = new PluginStatuses({ node, engine });
    clients.onSettled((address) => this.#wake(address));
    clients.onReplaced((type) => this.#statuses.forgetAll(type));
    engine.observe(({ address, entry }) => {
      const { type } = entry.event ?? {};
      // Also clients that no look has used: they may have been dispensed.
      if (type === 'plugin.shutdown') clients.left(address);
      if (type === 'plugin.shutdown' || type === 'plugin.restart') this.#statuses.forget(address);
      this.#wake(address);
    });
  }

  /**
   * Registers an instance, in front of those of the same name. The same definition again changes nothing; another one
   * under the same allocId replaces it and restarts the instance. Resolves after the commit.
   * @throws StagecraftError PLUGIN_TYPE_MISSING, PLUGIN_NAME_MISSING, PLUGIN_ALLOC_ID_MISSING, SOCKET_PATH_MISSING,
   *   SOCKET_PATH_RELATIVE, SOCKET_PATH_TOO_LONG, NO_DISPENSER, INVALID_ARGUMENT; nothing has changed then
   */
  async register(info: PluginInfo): Promise<void> {
    this.#closing.refuseIfClosed();
    checkRegistration(info, this.#clients.types);
    const { type, name, allocId, version, connection, options } = info;
    const known: PluginInfo = { type, name, allocId, connection: { socketPath: connection.socketPath } };
    if (version !== undefined) known.version = version;
    if (options !== undefined) known.options = { ...options };
    checkAddress(this.#addressOf(known));
    await this.#names.ask(pluginsAddress(this.#node, type, name), { type: 'plugins.register', info: known });
  }

  /**
   * Takes an instance out; one that is not there is no fault and changes nothing. What depends on it (see
   * `createRuntime({ dependents })`) does not hinder that: its event names them. One that is defined anew while that is
   * asked for stays: whoever did that wants it. Resolves after the commit.
   * @throws StagecraftError PLUGIN_NOT_FOUND for a type that has neither a dispenser nor this name
   */
  async deregister(type: string, name: string, allocId: string): Promise<void> {
    this.#closing.refuseIfClosed();
    checkKey(type, name, allocId);
    const address = pluginsAddress(this.#node, type, name);
    const info = this.#instancesAt(address).find((instance) => instance.allocId === allocId);
    // If nobody else has to be asked, calls are accepted in the order in which they come.
    const others = info && this.#dependents ? await this.#dependentsOf(info, this.#dependents) : [];
    this.#closing.refuseIfClosed();
    // Volumes that are mounted meanwhile need the plugin, too.
    const own = info ? this.#needing(info) : [];
    const asked = info && (this.#dependents || own.length > 0) && { info, dependents: together(own, others) };
    if (this.#names.has(address)) {
      await this.#names.ask(address, { type: 'plugins.deregister', allocId, ...asked });
    } else if (!this.#clients.types.includes(type)) {
      throw notFound(`no plugin is of type '${type}': known are ${this.#clients.types.join(', ')}`);
    }
  }

  /** For tests: static, so that a runtime does not offer it. @see replaceDispenser in testing/replace-dispenser.ts */
  static replaceDispenser(plugins: PluginRegistry, type: string, dispenser: Dispenser): () => void {
    return plugins.#clients.replace(type, dispenser);
  }

  /**
   * Active instance of each name.
   * @throws StagecraftError RUNTIME_CLOSED, as all methods below
   */
  list(type?: string): PluginInfo[] {
    this.#closing.refuseIfClosed();
    return structuredClone(this.#list(type));
  }

  /** As `list`, also while the runtime closes. */
  registered(type: string): PluginInfo[] {
    return structuredClone(this.#list(type));
  }

  /** All instances of a name, newest first. */
  instances(type: string, name: string): PluginInfo[] {
    this.#closing.refuseIfClosed();
    return structuredClone(this.#instances(type, name));
  }

  /** @throws StagecraftError PLUGIN_NOT_FOUND */
  forAlloc(type: string, name: string, allocId: string): PluginInfo {
    const info = this.instances(type, name).find((instance) => instance.allocId === allocId);
    if (!info) throw notFound(`${type} plugin '${name}' has no instance ${allocId}`);
    return info;
  }

  /** @throws StagecraftError PLUGIN_NOT_FOUND */
  status(type: string, name: string): PluginStatus {
    this.#closing.refuseIfClosed();
    return structuredClone(this.#statuses.of(this.#active(type, name)));
  }

  /**
   * Connected client of an instance. @param allocId default: the active one
   * @throws StagecraftError NO_DISPENSER, then PLUGIN_NOT_FOUND
   */
  async dispense<TClient = unknown>(type: string, name: string, allocId?: string): Promise<TClient> {
    this.#closing.refuseIfClosed();
    this.#clients.dispenser(type);
    const info = allocId === undefined ? this.#active(type, name) : this.forAlloc(type, name, allocId);
    // The caller knows the type of the client: CsiClient for the built-in dispensers.
    const address = this.#addressOf(info);
    return this.#clients.get(address, info, this.#statuses.leaving(address)) as TClient;
  }

  /**
   * Resolves when the plugin is registered, or was seen healthy in this run of the runtime.
   * @throws StagecraftError TIMEOUT, ABORTED or RUNTIME_CLOSED, each with what it waited for and the last health text;
   *   INVALID_ARGUMENT
   */
  async waitFor(type: string, name: string, options: WaitOptions = {}): Promise<PluginStatus> {
    this.#closing.refuseIfClosed();
    refuseNoObject(options, 'the options');
    const { until = 'healthy', timeoutMs = defaultWaitMs, signal } = options;
    checkWait(until, timeoutMs);
    const address = pluginsAddress(this.#node, type, name);
    const active = (): PluginInfo | undefined => this.#instancesAt(address)[0];
    const failed = (code: ErrorCode, why: string): StagecraftError => {
      const info = active();
      const last = info ? this.#statuses.of(info).description : 'not registered';
      return new StagecraftError(code, `${why} while waiting for ${type} plugin '${name}' to be ${until}: ${last}`);
    };
    const reached = (): PluginStatus | undefined => {
      const info = active();
      if (info && (until === 'registered' || this.#statuses.isSeenHealthy(info))) {
        return structuredClone(this.#statuses.of(info));
      }
      const { reason } = this.#closing;
      if (reason) throw failed(reason.code, reason.message);
      return undefined;
    };
    return this.#waiters.until(address, reached, { clock: this.#clock, timeoutMs, signal, failed });
  }

  /**
   * Follows the changes of plugins, in one order, none left out, from now or from after an event's id.
   * Ends with its signal, its iterator or the runtime.
   * @throws StagecraftError CURSOR_EXPIRED, EVENT_DAMAGED, INVALID_ARGUMENT
   */
  updates(type?: string, options?: FollowOptions): AsyncIterable<PluginEvent> {
    this.#closing.refuseIfClosed();
    checkFollowed(type);
    return followAs(this.#engine, pluginsTopic(this.#node), options).reading((row) => {
      const event = pluginEventOf(row);
      return type === undefined || event.info.type === type ? event : undefined;
    });
  }

  /** Whether there is an instance of this name. */
  has(type: string, name: string): boolean {
    return this.#instances(type, name).length > 0;
  }

  /** Observation of the active instance; undefined if there is none. */
  seen(type: string, name: string): SeenInstance | undefined {
    return this.allSeen(type, name)[0];
  }

  /** Observations of all instances of a name, newest first. */
  allSeen(type: string, name: string): SeenInstance[] {
    return this.#instances(type, name).map((info) => ({
      status: this.#statuses.of(info),
      isSeenHealthy: this.#statuses.isSeenHealthy(info),
    }));
  }

  /** Calls back when something may have changed about a plugin; the returned function ends it. */
  watch(type: string, name: string, changed: () => void): () => void {
    return this.#waiters.add(pluginsAddress(this.#node, type, name), changed);
  }

  /** Looks at all instances of a name now, and reads all their capabilities again. */
  lookAgain(type: string, name: string): void {
    for (const info of this.#instances(type, name)) this.#asked.wake(this.#addressOf(info));
  }

  /** Resolves when an instance has shut down and no call is under way on its client, or the signal is aborted. */
  gone({ type, name, allocId }: PluginKey, signal: AbortSignal): Promise<void> {
    const address = pluginAddress(this.#node, type, name, allocId);
    const isGone = (): boolean =>
      !this.#instances(type, name).some((instance) => instance.allocId === allocId) &&
      !this.#engine.peek(address) &&
      !this.#clients.isClosing(address);
    return new Promise((resolve) => {
      let unsubscribe: (() => void) | undefined;
      const look = (): void => {
        if (!signal.aborted && !isGone()) return;
        stopWaiting();
        unsubscribe?.();
        resolve();
      };
      const stopWaiting = this.#waiters.add(pluginsAddress(this.#node, type, name), look);
      unsubscribe = onAbort(signal, look);
      look();
    });
  }

  /**
   * What depends on any instance of the names of these, also while the runtime closes: an instance may be about to take
   * the place of another, or have just done so.
   * @throws StagecraftError DEPENDENTS_UNKNOWN
   */
  async dependentsOf(instances: PluginKey[]): Promise<string[]> {
    const infos = instances.flatMap(({ type, name }) => this.#instances(type, name));
    const { signal } = new AbortController();
    const others =
      this.#dependents && infos.length > 0
        ? await askDependents(this.#dependents, infos, { clock: this.#clock, signal })
        : [];
    const own = infos.flatMap((info) => this.#needing(info));
    return together(own, others) ?? [];
  }

  /** Called by the fingerprint loop at the end of each round. */
  checked(address: string, look: Look): void {
    this.#statuses.looked(address, look);
    this.#wake(address);
  }

  /** Ends all waiting; every later call is refused. */
  close(reason?: StagecraftError): void {
    this.#closing.close(reason);
    this.#waiters.wakeAll();
  }

  /** Undefined if it can't be told: the instance leaves all the same. */
  async #dependentsOf(info: PluginInfo, dependents: Dependents): Promise<string[] | undefined> {
    try {
      return await askDependents(dependents, [info], { clock: this.#clock, signal: this.#closing.signal });
    } catch (error) {
      const address = this.#addressOf(info);
      if (!this.#closing.reason) this.#logger.warn({ address }, `${messageOf(error)}; it is deregistered all the same`);
      return undefined;
    }
  }

  #list(type?: string): PluginInfo[] {
    const active: PluginInfo[] = [];
    for (const [address, { context }] of this.#names.views()) {
      const [first] = context.instances;
      if (first && (type === undefined || addressParts(address)[2] === type)) active.push(first);
    }
    return active;
  }

  #instances(type: string, name: string): PluginInfo[] {
    return this.#instancesAt(pluginsAddress(this.#node, type, name));
  }

  #instancesAt(address: string): PluginInfo[] {
    return this.#names.peek(address)?.context.instances ?? [];
  }

  #active(type: string, name: string): PluginInfo {
    const [info] = this.#instances(type, name);
    if (info) return info;
    if (this.#list(type).length === 0) throw notFound(`there is no plugin of type ${type}: register one first`);
    throw notFound(`there is no ${type} plugin '${name}': list them, or register it`);
  }

  #addressOf({ type, name, allocId }: PluginInfo): string {
    return pluginAddress(this.#node, type, name, allocId);
  }

  /** Wakes the waiters of a name, or of the name of an instance. */
  #wake(address: string): void {
    this.#waiters.wake(address);
    this.#waiters.wake(pluginsAddressOf(address));
  }
}

/** Each once, in order; undefined if nothing is known. */
const together = (own: string[], others: string[] | undefined): string[] | undefined =>
  others === undefined && own.length === 0 ? undefined : [...new Set([...own, ...(others ?? [])])].sort();

const notFound = (message: string): StagecraftError => new StagecraftError('PLUGIN_NOT_FOUND', message);
