/**
 * Admits calls to one side (controller or node) of each plugin: only once its capabilities are known, while it answers,
 * and up to a limit. After repeated transport failures, calls wait for the next successful probe.
 */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import { type Abortable, onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { OldestFirst } from '../engine/delivery/oldest-first.js';
import { StagecraftError } from '../errors.js';

/** State of a plugin, as far as its calls need it. */
export interface PluginObservation {
  /** Why the plugin cannot be called; absent: it answers. */
  trouble?: string;
  /** `absent`: not registered; `unseen`: not probed yet. Default: the plugin is unhealthy. */
  troubleKind?: 'absent' | 'unseen';
  /** Capabilities of the called service; empty if the plugin lacks it. Absent: not known. */
  capabilities?: ReadonlySet<string>;
  /** Capabilities of the plugin as a whole. */
  pluginCapabilities: ReadonlySet<string>;
  /** True if the plugin has the called service and is registered for it. */
  hasService: boolean;
  /** Moment of the last successful probe, milliseconds since the epoch. */
  wellAtMs: number;
  /** Own name of the driver. Absent: not known yet. */
  driver?: string;
  /** Scope of the volumes that the plugin can work on. Absent: not known yet. */
  scope?: PluginScope;
}

/** One side (controller or node) of the plugins of this runtime, by registered name. */
export interface PluginPort {
  isKnown(plugin: string): boolean;
  observation(plugin: string): PluginObservation;
  client(plugin: string): Promise<unknown>;
  /** Probes the plugin now, and reads its capabilities again. */
  lookAgain(plugin: string): void;
  /** Calls back when the observation may have changed. @returns a function that unsubscribes */
  watch(plugin: string, changed: () => void): () => void;
}

export interface Admission {
  signal: Abortable;
  /** Milliseconds until PLUGIN_UNAVAILABLE; default: no limit. */
  waitMs?: number | undefined;
  /**
   * Called with the reason when the call has to wait for the plugin, and again when the kind of reason changes. Not
   * called when the call only waits for a free place.
   */
  waits(reason: string): void;
}

/** Admitted call. Call `leave` once, with the plugin's answer if there is one: `OK`, or its error. */
export interface Admitted {
  observation: PluginObservation & { capabilities: ReadonlySet<string> };
  client(): Promise<unknown>;
  /** Returns the present observation of the plugin. */
  seen(): PluginObservation;
  leave(answer?: PluginAnswer): void;
  /**
   * Keeps the place with a fresh observation. If the plugin cannot be called any more, returns the reason and leaves
   * the place.
   */
  renew(): Admitted | Refused;
}

/** The plugin cannot be called now; a full plugin is no such case. */
export interface Refused {
  reason: string;
}

export interface PluginAnswer {
  grpcCode?: string | undefined;
}

/** Why the plugin cannot be called. */
interface Trouble {
  kind: 'absent' | 'unseen' | 'unwell' | 'unread' | 'closed';
  reason: string;
}

interface Waiting {
  admit(): void;
  blocked(trouble: Trouble): void;
}

/** Without `waits`, the call is refused as soon as the plugin cannot be called. */
type Coming = Omit<Admission, 'waits'> & Partial<Pick<Admission, 'waits'>>;

/** Number of consecutive transport failures after which calls wait for the next successful probe. */
const failuresInARow = 3;
const isTransportFailure = (grpcCode: string): boolean => grpcCode === 'UNAVAILABLE';
/** These codes may come from our own deadline or abort, so they say nothing about the plugin. */
const isSilence = (grpcCode: string): boolean => grpcCode === 'DEADLINE_EXCEEDED' || grpcCode === 'CANCELLED';

/** Admission state of one plugin. */
class Door {
  inFlight = 0;
  failures = 0;
  /**
   * Time of the last successful probe before the door closed (0: none). The door opens at the next successful probe.
   */
  closedWellAtMs: number | undefined;
  readonly waiting = new OldestFirst<Waiting, true>();
  observation: PluginObservation | undefined;
  stopWatching: (() => void) | undefined;
}

export class PluginAccess {
  readonly #plugins: PluginPort;
  readonly #clock: Clock;
  readonly #maxInFlight: number;
  readonly #doors = new Map<string, Door>();

  constructor(plugins: PluginPort, { clock, maxInFlight }: { clock: Clock; maxInFlight: number }) {
    this.#plugins = plugins;
    this.#clock = clock;
    this.#maxInFlight = maxInFlight;
  }

  /**
   * Resolves once a call may be made.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enter(plugin: string, admission: Admission): Promise<Admitted> {
    const door = this.#door(plugin);
    if (this.#isOpen(plugin, door)) door.inFlight += 1;
    else await this.#wait(plugin, door, admission);
    return this.#admitted(plugin, door);
  }

  /**
   * Waits only for a free place. Returns a refusal as soon as the plugin cannot be called.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enterNow(plugin: string, admission: Omit<Admission, 'waits'>): Promise<Admitted | Refused> {
    const door = this.#door(plugin);
    if (this.#isOpen(plugin, door)) door.inFlight += 1;
    else {
      const refused = await this.#wait(plugin, door, admission);
      if (refused) return refused;
    }
    return this.#admitted(plugin, door);
  }

  /** Returns why a call would have to wait now; undefined if it would not. */
  obstacle(plugin: string): string | undefined {
    return this.#obstacle(plugin, this.#door(plugin));
  }

  /** Tells whether the plugin cannot be called now; a full plugin is not closed. */
  isClosed(plugin: string): boolean {
    return this.#trouble(plugin, this.#door(plugin)) !== undefined;
  }

  scope(plugin: string): PluginScope | undefined {
    return this.#observation(plugin, this.#door(plugin)).scope;
  }

  offers(plugin: string, capability: string): boolean {
    return this.#observation(plugin, this.#door(plugin)).capabilities?.has(capability) ?? false;
  }

  close(): void {
    for (const door of this.#doors.values()) door.stopWatching?.();
  }

  /** Tells whether a call may be made at once, without overtaking another. */
  #isOpen(plugin: string, door: Door): boolean {
    return door.waiting.size === 0 && this.#obstacle(plugin, door) === undefined;
  }

  #admitted(plugin: string, door: Door): Admitted {
    const observation = this.#observation(plugin, door);
    let isIn = true;
    const leave = (answer?: PluginAnswer): void => {
      if (!isIn) return;
      isIn = false;
      door.inFlight -= 1;
      // A failure of a call that began before the last successful probe says nothing about the present plugin.
      const isOld = this.#observation(plugin, door).wellAtMs !== observation.wellAtMs;
      if (answer?.grpcCode !== undefined) this.#judge(plugin, door, { grpcCode: answer.grpcCode, isOld });
      this.#open(plugin, door);
    };
    return {
      observation: isRead(observation) ? observation : { ...observation, capabilities: new Set() },
      client: () => this.#plugins.client(plugin),
      seen: () => this.#observation(plugin, door),
      leave,
      renew: () => {
        const trouble = this.#trouble(plugin, door);
        if (trouble) {
          leave();
          return { reason: trouble.reason };
        }
        isIn = false;
        return this.#admitted(plugin, door);
      },
    };
  }

  #judge(plugin: string, door: Door, { grpcCode, isOld }: { grpcCode: string; isOld: boolean }): void {
    if (grpcCode === 'UNIMPLEMENTED') this.#plugins.lookAgain(plugin);
    if (!isTransportFailure(grpcCode)) door.failures = isSilence(grpcCode) ? door.failures : 0;
    else if (!isOld) door.failures += 1;
    if (door.failures < failuresInARow) return;
    // Compares for inequality only: the clock may be set back, so a later probe can have an earlier time.
    door.closedWellAtMs = this.#observation(plugin, door).wellAtMs;
    door.failures = 0;
  }

  #wait(plugin: string, door: Door, { signal, waitMs, waits }: Coming): Promise<Refused | undefined> {
    return new Promise((resolve, reject) => {
      let reported: Trouble['kind'] | undefined;
      let unsubscribe: (() => void) | undefined;
      const end = (): void => {
        door.waiting.delete(waiting);
        unsubscribe?.();
        cancel?.();
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          door.inFlight += 1;
          resolve(undefined);
        },
        blocked: ({ kind, reason }) => {
          if (!waits) {
            end();
            resolve({ reason });
          } else if (reported !== kind) waits(reason);
          reported = kind;
        },
      };
      const fail = (error: unknown): void => {
        end();
        reject(error);
      };
      const late = (): void => {
        const why = this.#obstacle(plugin, door) ?? 'its turn did not come';
        fail(new StagecraftError('PLUGIN_UNAVAILABLE', `plugin '${plugin}' took no call within ${waitMs} ms: ${why}`));
      };
      const cancel = waitMs === undefined ? undefined : this.#clock.after(waitMs, late);
      door.waiting.add(waiting, true);
      unsubscribe = onAbort(signal, fail);
      if (!door.waiting.has(waiting)) return;
      const trouble = this.#trouble(plugin, door);
      // Calls that waited before know the reason already.
      if (trouble) waiting.blocked(trouble);
      else this.#open(plugin, door);
    });
  }

  /** Admits waiting calls in order, up to the limit. If the plugin cannot be called, tells them the reason. */
  #open(plugin: string, door: Door): void {
    for (let next = door.waiting.oldest; next; next = door.waiting.oldest) {
      const trouble = this.#trouble(plugin, door);
      if (trouble) {
        for (const waiting of [...door.waiting.keys()]) waiting.blocked(trouble);
        return;
      }
      if (door.inFlight >= this.#maxInFlight) return;
      next.admit();
    }
  }

  #obstacle(plugin: string, door: Door): string | undefined {
    const trouble = this.#trouble(plugin, door);
    if (trouble) return trouble.reason;
    return door.inFlight >= this.#maxInFlight ? `${door.inFlight} calls to it are in flight` : undefined;
  }

  #trouble(plugin: string, door: Door): Trouble | undefined {
    const { trouble, troubleKind: kind = 'unwell', capabilities, wellAtMs } = this.#observation(plugin, door);
    if (trouble !== undefined) return { kind, reason: `plugin '${plugin}' can't be called: ${trouble}` };
    if (!capabilities) return { kind: 'unread', reason: `what plugin '${plugin}' offers is not known yet` };
    if (door.closedWellAtMs === undefined) return undefined;
    if (wellAtMs !== 0 && wellAtMs !== door.closedWellAtMs) {
      door.closedWellAtMs = undefined;
      return undefined;
    }
    const reason = `plugin '${plugin}' did not answer ${failuresInARow} calls in a row: they wait for its next good probe`;
    return { kind: 'closed', reason };
  }

  #door(plugin: string): Door {
    let door = this.#doors.get(plugin);
    if (!door) {
      door = new Door();
      this.#doors.set(plugin, door);
      const watched = door;
      door.stopWatching = this.#plugins.watch(plugin, () => {
        watched.observation = undefined;
        if (watched.waiting.size > 0) this.#open(plugin, watched);
      });
    }
    return door;
  }

  #observation(plugin: string, door: Door): PluginObservation {
    door.observation ??= this.#plugins.observation(plugin);
    return door.observation;
  }
}

const isRead = (observation: PluginObservation): observation is Admitted['observation'] =>
  observation.capabilities !== undefined;
