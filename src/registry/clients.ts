/**
 * The client of each instance: connected once, closed once. Calls that others have in flight on one may end first, for
 * a time; whoever asks meanwhile gets another. Why: docs/decisions/0009-calls-in-flight-at-a-stop.md
 */
import { addressParts } from '../../machines/kit/addresses.js';
import type { Fingerprint, PluginInfo } from '../../machines/plugin/plugin.js';
import { onAbort, unlessAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import { placeFault } from '../host/socket-path.js';
import { type Dispenser, type FingerprintRequest, fingerprintOf, type Looked } from './dispenser.js';
import { Replacement } from './replacement.js';
import { noDispenser } from './validate.js';

interface Connection {
  client: unknown;
  dispenser: Dispenser;
}

/** Client in use. */
interface Handed extends Connection {
  definition: string;
  /** How many instances at its address are to leave before the one that it is for comes. */
  before: number;
}

/** Owner of a client, for logs. A plugin that is not registered has no address. */
type Owner = { address: string } | { address?: never; type: string; name: string; allocId: string };

/** Clients and dispenser of one type of plugin. */
interface Kind {
  /** The last one counts; those before it are replaced for the time being. */
  dispensers: { dispenser: Dispenser }[];
  /** Happens when another one counts. */
  change: Replacement;
}

interface ClientsOptions {
  clock: Clock;
  logger: Logger;
}

/** How long calls in flight have when their client is closed. */
const drainMs = 30_000;

const definitions = new WeakMap<PluginInfo, string>();

/** Defined anew, an instance needs another client: the old one speaks to the old socket. Once it is made, none is changed. */
function definitionOf(info: PluginInfo): string {
  let definition = definitions.get(info);
  if (definition === undefined) {
    definition = JSON.stringify(info);
    definitions.set(info, definition);
  }
  return definition;
}

export class Clients {
  readonly #kinds = new Map<string, Kind>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** By address. */
  readonly #handed = new Map<string, Handed[]>();
  /** Closing clients, by the controller that ends their calls in flight. */
  readonly #closings = new Map<AbortController, Owner>();
  readonly #onSettled = new Set<(address: string) => void>();
  readonly #onReplaced = new Set<(type: string) => void>();

  constructor(dispensers: Record<string, Dispenser>, { clock, logger }: ClientsOptions) {
    for (const [type, dispenser] of Object.entries(dispensers)) {
      this.#kinds.set(type, { dispensers: [{ dispenser }], change: new Replacement() });
    }
    this.#clock = clock;
    this.#logger = logger;
  }

  /** At how many addresses clients are handed out. */
  get size(): number {
    return this.#handed.size;
  }

  /** The types of plugin that can be spoken to. */
  get types(): string[] {
    return [...this.#kinds.keys()];
  }

  /** @throws StagecraftError NO_DISPENSER */
  dispenser(type: string): Dispenser {
    const dispenser = this.#kind(type).dispensers.at(-1)?.dispenser;
    if (!dispenser) throw noDispenser(type, this.types);
    return dispenser;
  }

  /** Happens when another dispenser takes the place of the one that speaks to plugins of this type. */
  changeOf(type: string): Replacement | undefined {
    return this.#kinds.get(type)?.change;
  }

  /** Calls back with a type whose plugins another dispenser speaks to from now on. */
  onReplaced(callback: (type: string) => void): void {
    this.#onReplaced.add(callback);
  }

  /**
   * Puts a dispenser in the place of the present one, and closes the clients of that. The answer takes it out again, in
   * whatever order several are.
   * @throws StagecraftError NO_DISPENSER
   */
  replace(type: string, dispenser: Dispenser): () => void {
    const { dispensers } = this.#kind(type);
    const replacement = { dispenser };
    const change = (next: { dispenser: Dispenser }[]): void => {
      const present = dispensers.at(-1);
      dispensers.splice(0, dispensers.length, ...next);
      if (dispensers.at(-1) !== present) this.#renew(type);
    };
    change([...dispensers, replacement]);
    return () => change(dispensers.filter((one) => one !== replacement));
  }

  /**
   * The client of the instance at this address, as defined by `info`; connected now if it is not.
   * @param before how many instances there are still to leave until that one comes
   */
  get(address: string, info: PluginInfo, before = 0): unknown {
    const definition = definitionOf(info);
    const handed = this.#handed.get(address) ?? [];
    const present = handed.find((one) => one.before === before && one.definition === definition);
    if (present) return present.client;
    const connection = this.#connect(info);
    this.#handed.set(address, [...handed, { ...connection, definition, before }]);
    return connection.client;
  }

  /** Looks once at a plugin that is not registered, with a client of its own. Rejects once the signal is aborted. */
  async look(info: PluginInfo, signal: AbortSignal): Promise<Fingerprint> {
    const connection = this.#connect(info);
    const { client, dispenser } = connection;
    try {
      signal.throwIfAborted();
      return fingerprintOf(await unlessAborted(signal, fingerprintBy(dispenser, client, { info, signal })));
    } finally {
      const { type, name, allocId } = info;
      this.#close({ type, name, allocId }, connection);
    }
  }

  /** Never throws: a client that can't be closed is forgotten all the same. */
  close(address: string, info: PluginInfo): void {
    const definition = definitionOf(info);
    this.#closeThose(address, (one) => one.before === 0 && one.definition === definition);
  }

  /** The instance at this address has left: all clients of it are closed, none of who comes next. */
  left(address: string): void {
    this.#closeThose(address, ({ before }) => before === 0);
    for (const one of this.#handed.get(address) ?? []) one.before -= 1;
  }

  /** Whether calls may still be in flight on a client of this address that is closed. */
  isClosing(address: string): boolean {
    for (const owner of this.#closings.values()) if (owner.address === address) return true;
    return false;
  }

  /** Calls back when a client is closed on which calls were in flight. */
  onSettled(callback: (address: string) => void): void {
    this.#onSettled.add(callback);
  }

  /** Closes what is open, and ends all that is in flight. */
  end(): void {
    for (const address of [...this.#handed.keys()]) this.#closeThose(address, () => true);
    for (const limit of [...this.#closings.keys()]) limit.abort();
  }

  #kind(type: string): Kind {
    const kind = this.#kinds.get(type);
    if (!kind) throw noDispenser(type, this.types);
    return kind;
  }

  /** Makes later clients of this type with the present dispenser. */
  #renew(type: string): void {
    for (const address of [...this.#handed.keys()]) {
      if (addressParts(address)[2] === type) this.#closeThose(address, () => true);
    }
    const kind = this.#kind(type);
    const { change } = kind;
    kind.change = new Replacement();
    for (const tell of this.#onReplaced) tell(type);
    change.happen();
  }

  #connect(info: PluginInfo): Connection {
    const dispenser = this.dispenser(info.type);
    return { client: dispenser.connect(info), dispenser };
  }

  #closeThose(address: string, isMeant: (one: Handed) => boolean): void {
    const handed = this.#handed.get(address);
    if (!handed) return;
    const kept = handed.filter((one) => !isMeant(one));
    if (kept.length > 0) this.#handed.set(address, kept);
    else this.#handed.delete(address);
    for (const one of handed) if (isMeant(one)) this.#close({ address }, one);
  }

  #close(owner: Owner, { client, dispenser }: Connection): void {
    const limit = new AbortController();
    try {
      const closed = dispenser.close(client, { signal: limit.signal });
      if (closed) this.#settle(owner, Promise.resolve(closed), limit);
    } catch (error) {
      this.#tellFailed(owner, error);
    }
  }

  /** Until it is closed or its time is over, whichever comes first. */
  #settle(owner: Owner, closed: Promise<void>, limit: AbortController): void {
    this.#closings.set(limit, owner);
    const cancel = this.#clock.after(drainMs, () => {
      this.#logger.warn(owner, `calls were in flight ${drainMs} ms after their client was closed: given up`);
      limit.abort();
    });
    const end = (): void => {
      if (!this.#closings.delete(limit)) return;
      cancel();
      const { address } = owner;
      if (address !== undefined) for (const tell of this.#onSettled) tell(address);
    };
    onAbort(limit.signal, end);
    void closed.catch((error: unknown) => this.#tellFailed(owner, error)).then(end);
  }

  #tellFailed(owner: Owner, error: unknown): void {
    this.#logger.warn(owner, `a client could not be closed: ${messageOf(error)}`);
  }
}

/**
 * Asks a plugin how it is, unless another user may be behind its socket.
 * @throws Error with the reason
 */
export function fingerprintBy(dispenser: Dispenser, client: unknown, request: FingerprintRequest): Promise<Looked> {
  const fault = placeFault(request.info.connection.socketPath);
  if (fault !== undefined) throw new Error(`it is not called: ${fault}`);
  return dispenser.fingerprint(client, request);
}
