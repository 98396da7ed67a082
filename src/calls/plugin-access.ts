/**
 * Lets calls to one side of plugins, that of controllers or that of nodes, through: once it is known what a plugin offers, while it answers, and
 * only so many at a time. After repeated transport failures its calls wait for its next good probe.
 */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import { type Abortable, onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { OldestFirst } from '../engine/delivery/oldest-first.js';
import { StagecraftError } from '../errors.js';

/** How a plugin is, as far as its calls need to know. */
export interface PluginObservation {
  /** Absent: it answers. */
  trouble?: string;
  /** Of what kind that is: it is not registered at all, or is not known to be well; default: it is not well. */
  troubleKind?: 'absent' | 'unseen';
  /** What the service that is called offers; empty where the plugin has none. Absent: not known. */
  capabilities?: ReadonlySet<string>;
  /** What the plugin as a whole offers. */
  pluginCapabilities: ReadonlySet<string>;
  /** It has the service that is called, and that is registered. */
  hasService: boolean;
  /** When it was last seen well, milliseconds since the epoch. */
  wellAtMs: number;
  /** The own name of its driver. Absent: not known yet. */
  driver?: string;
  /** Scope of the volumes that the plugin can work on. Absent: not known yet. */
  scope?: PluginScope;
}

/** One side of the plugins of this runtime, by their registered names. */
export interface PluginPort {
  isKnown(plugin: string): boolean;
  sight(plugin: string): PluginObservation;
  /** The client of that side. */
  client(plugin: string): Promise<unknown>;
  /** Has it looked at now, and all that it offers read again. */
  lookAgain(plugin: string): void;
  /** Calls back when something may be new about it; the answer ends that. */
  watch(plugin: string, changed: () => void): () => void;
}

export interface Admission {
  signal: Abortable;
  /** Fails with PLUGIN_UNAVAILABLE after this time; default: waits for as long as it takes. */
  waitMs?: number | undefined;
  /**
   * Told that it waits, and why; again where that is of another kind, not where only its words change. Only in its turn, as
   * there are enough calls already, it waits without a word.
   */
  waits(reason: string): void;
}

/** One call that was let through. `leave` once, with what the plugin has answered, as far as it has: `OK`, or its error. */
export interface Admitted {
  sight: PluginObservation & { capabilities: ReadonlySet<string> };
  client(): Promise<unknown>;
  /** The same of now: it may be seen otherwise since. */
  seen(): PluginObservation;
  leave(answer?: PluginAnswer): void;
  /** The same place, with the plugin as it is seen now; or why it can't be called any more: then the place is left. */
  renew(): Admitted | Refused;
}

/** No call may be made now, for another reason than that there are enough of them. */
export interface Refused {
  reason: string;
}

export interface PluginAnswer {
  grpcCode?: string | undefined;
}

/** Why the plugin can't be called. */
interface Trouble {
  kind: 'absent' | 'unseen' | 'unwell' | 'unread' | 'closed';
  reason: string;
}

interface Waiting {
  admit(): void;
  /** Told why it waits. */
  tell(trouble: Trouble): void;
}

/** Without `waits`: refused as soon as the plugin can't be called. */
type Coming = Omit<Admission, 'waits'> & Partial<Pick<Admission, 'waits'>>;

/** So many in a row, and calls wait for the next good probe. */
const failuresInARow = 3;
const isTransportFailure = (grpcCode: string): boolean => grpcCode === 'UNAVAILABLE';
/** These may be our own: they are no word of the plugin's. */
const isSilence = (grpcCode: string): boolean => grpcCode === 'DEADLINE_EXCEEDED' || grpcCode === 'CANCELLED';

/** One plugin, by name. */
class Door {
  inFlight = 0;
  failures = 0;
  /** Closed until the plugin is seen well another time than this one; 0: it was not. */
  closedWellAtMs: number | undefined;
  readonly waiting = new OldestFirst<Waiting, true>();
  sight: PluginObservation | undefined;
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
   * Resolves when a call may be made.
   * @throws StagecraftError PLUGIN_UNAVAILABLE after `waitMs`, with why; the reason of the signal
   */
  async enter(plugin: string, admission: Admission): Promise<Admitted> {
    const door = this.#door(plugin);
    if (this.#isOpen(plugin, door)) door.inFlight += 1;
    else await this.#wait(plugin, door, admission);
    return this.#admitted(plugin, door);
  }

  /**
   * The same for a call that waits for its turn only: it is refused as soon as the plugin can't be called.
   * @throws StagecraftError PLUGIN_UNAVAILABLE after `waitMs`, with why; the reason of the signal
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

  /** Why a call would have to wait now; undefined where it would not. */
  obstacle(plugin: string): string | undefined {
    return this.#obstacle(plugin, this.#door(plugin));
  }

  /** Whether it can't be called now, for another reason than that it has enough to do. */
  isClosed(plugin: string): boolean {
    return this.#trouble(plugin, this.#door(plugin)) !== undefined;
  }

  /** Scope of the volumes that the plugin can work on, as far as known. */
  scope(plugin: string): PluginScope | undefined {
    return this.#sight(plugin, this.#door(plugin)).scope;
  }

  /** Whether it is known to offer something. */
  offers(plugin: string, capability: string): boolean {
    return this.#sight(plugin, this.#door(plugin)).capabilities?.has(capability) ?? false;
  }

  close(): void {
    for (const door of this.#doors.values()) door.stopWatching?.();
  }

  /** Whether a call may be made at once, without overtaking another. */
  #isOpen(plugin: string, door: Door): boolean {
    return door.waiting.size === 0 && this.#obstacle(plugin, door) === undefined;
  }

  #admitted(plugin: string, door: Door): Admitted {
    const sight = this.#sight(plugin, door);
    let isIn = true;
    const leave = (answer?: PluginAnswer): void => {
      if (!isIn) return;
      isIn = false;
      door.inFlight -= 1;
      // A failure of what was begun before it was seen well says nothing of how it is since.
      const isOld = this.#sight(plugin, door).wellAtMs !== sight.wellAtMs;
      if (answer?.grpcCode !== undefined) this.#judge(plugin, door, { grpcCode: answer.grpcCode, isOld });
      this.#open(plugin, door);
    };
    return {
      sight: isRead(sight) ? sight : { ...sight, capabilities: new Set() },
      client: () => this.#plugins.client(plugin),
      seen: () => this.#sight(plugin, door),
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
    // Whether it is another time, moments tell; which is later, they do not: the clock may be set back.
    door.closedWellAtMs = this.#sight(plugin, door).wellAtMs;
    door.failures = 0;
  }

  #wait(plugin: string, door: Door, { signal, waitMs, waits }: Coming): Promise<Refused | undefined> {
    return new Promise((resolve, reject) => {
      let told: Trouble['kind'] | undefined;
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
        tell: ({ kind, reason }) => {
          if (!waits) {
            end();
            resolve({ reason });
          } else if (told !== kind) waits(reason);
          told = kind;
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
      // The others have been told.
      if (trouble) waiting.tell(trouble);
      else this.#open(plugin, door);
    });
  }

  /** Lets in who waits, in order, as many as may; tells the others why they wait, where that is for the plugin. */
  #open(plugin: string, door: Door): void {
    for (let next = door.waiting.oldest; next; next = door.waiting.oldest) {
      const trouble = this.#trouble(plugin, door);
      if (trouble) {
        for (const waiting of [...door.waiting.keys()]) waiting.tell(trouble);
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
    const { trouble, troubleKind: kind = 'unwell', capabilities, wellAtMs } = this.#sight(plugin, door);
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
        watched.sight = undefined;
        if (watched.waiting.size > 0) this.#open(plugin, watched);
      });
    }
    return door;
  }

  #sight(plugin: string, door: Door): PluginObservation {
    door.sight ??= this.#plugins.sight(plugin);
    return door.sight;
  }
}

const isRead = (sight: PluginObservation): sight is Admitted['sight'] => sight.capabilities !== undefined;
