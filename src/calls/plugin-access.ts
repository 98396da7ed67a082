/**
 * Admits calls to one side (controller or node) of each plugin: only once its capabilities are known, while it answers,
 * and up to a limit. After repeated transport failures, calls wait for the next successful probe. A plugin may have
 * instances on several nodes; each is admitted on its own.
 */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import { type Abortable, onAbort } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import { abortedBy, withDeadline } from '../engine/deadline.js';
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
  /** Only one instance of the plugin, of those on all nodes, may get calls. */
  isSole?: boolean;
}

/** Plugin to call. With `home`, its instance on that node is called if volumes of the plugin are separate per host. */
export interface Target {
  plugin: string;
  home?: string | undefined;
}

/**
 * One side (controller or node) of the plugins, by registered name. `node`: the instance on that node; undefined: the one of
 * this runtime.
 */
export interface PluginPort {
  isKnown(plugin: string): boolean;
  /** Lists the nodes with an instance, the preferred first; undefined stands for this node. Default: only this node. */
  nodes?(plugin: string): readonly (string | undefined)[];
  observation(plugin: string, node?: string): PluginObservation;
  client(plugin: string, node?: string): Promise<unknown>;
  /** Probes the plugin now, and reads its capabilities again. */
  lookAgain(plugin: string, node?: string): void;
  /** Calls back when an observation or the nodes may have changed. @returns a function that unsubscribes */
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
  /** Node of the instance; undefined: this node. */
  node?: string | undefined;
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

/** Admission state of one instance of a plugin. */
class Gate {
  readonly plugin: string;
  readonly node: string | undefined;
  inFlight = 0;
  failures = 0;
  /**
   * Time of the last successful probe before the gate closed (0: none). The gate opens at the next successful probe.
   */
  closedWellAtMs: number | undefined;
  readonly waiting = new OldestFirst<Waiting, true>();
  observation: PluginObservation | undefined;

  constructor(plugin: string, node: string | undefined) {
    this.plugin = plugin;
    this.node = node;
  }
}

/** Gates of one plugin, with the callers that wait for a change of any instance. */
interface Watched {
  /** By node; the empty name is this node. */
  gates: Map<string, Gate>;
  listeners: Set<() => void>;
  stop(): void;
}

const own: readonly undefined[] = Object.freeze([undefined]);

export class PluginAccess {
  readonly #plugins: PluginPort;
  readonly #clock: Clock;
  readonly #maxInFlight: number;
  readonly #watched = new Map<string, Watched>();

  constructor(plugins: PluginPort, { clock, maxInFlight }: { clock: Clock; maxInFlight: number }) {
    this.#plugins = plugins;
    this.#clock = clock;
    this.#maxInFlight = maxInFlight;
  }

  /**
   * Resolves once a call may be made.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enter(target: Target, admission: Admission): Promise<Admitted> {
    if (!this.#hasSeveral(target.plugin)) {
      const gate = this.#choose(target);
      if (this.#isOpen(gate)) gate.inFlight += 1;
      else await this.#wait(gate, admission);
      return this.#admitted(gate);
    }
    const { signal, waitMs } = admission;
    for (;;) {
      // An instance that fails while the call waits for a place there is left for another one.
      const entered = await this.#enterNow(await this.#open(target, admission), target, { signal, waitMs });
      if (!('reason' in entered)) return entered;
    }
  }

  /**
   * Waits only for a free place. Returns a refusal as soon as the plugin cannot be called.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enterNow(target: Target, admission: Omit<Admission, 'waits'>): Promise<Admitted | Refused> {
    return this.#enterNow(this.#choose(target), target, admission);
  }

  /** As `enterNow`, for the instance of this node only. */
  async enterHere(plugin: string, admission: Omit<Admission, 'waits'>): Promise<Admitted | Refused> {
    return this.#enterNow(this.#gate(plugin, undefined), { plugin }, admission);
  }

  /** Returns why a call would have to wait now; undefined if it would not. */
  obstacle(target: Target): string | undefined {
    const gate = this.#choose(target);
    if (this.#trouble(gate)) return this.#reason(target, gate);
    return this.#crowd(gate);
  }

  /** Tells whether the plugin cannot be called now; a full plugin is not closed. */
  isClosed(target: Target): boolean {
    return this.#trouble(this.#choose(target)) !== undefined;
  }

  /** Returns why the instance on a node cannot be called; undefined if it can. */
  troubleAt(plugin: string, node: string | undefined): string | undefined {
    const gate = this.#gates(plugin).find((one) => one.node === node);
    return gate ? this.#trouble(gate)?.reason : `node ${node} has no plugin '${plugin}' that is known here`;
  }

  /** Tells whether a node has an instance of the plugin. @param node undefined: this node */
  hasInstance(plugin: string, node: string | undefined): boolean {
    return this.#gates(plugin).some((one) => one.node === node && this.#observation(one).troubleKind !== 'absent');
  }

  /** Returns the node whose instance would be called now; undefined: this node. */
  nodeFor(target: Target): string | undefined {
    return this.#choose(target).node;
  }

  /** Returns the scope that the first instance with a known one has. */
  scope(plugin: string): PluginScope | undefined {
    for (const gate of this.#gates(plugin)) {
      const { scope } = this.#observation(gate);
      if (scope) return scope;
    }
    return undefined;
  }

  offers(plugin: string, capability: string): boolean {
    return this.#observation(this.#choose({ plugin })).capabilities?.has(capability) ?? false;
  }

  driver(plugin: string): string | undefined {
    return this.#observation(this.#choose({ plugin })).driver;
  }

  /** Calls back when an instance of the plugin may have changed. @returns a function that unsubscribes */
  watch(plugin: string, changed: () => void): () => void {
    const { listeners } = this.#of(plugin);
    listeners.add(changed);
    return () => listeners.delete(changed);
  }

  close(): void {
    for (const { stop } of this.#watched.values()) stop();
  }

  /**
   * Chooses the instance for a call: that at the volume's home, if volumes of the plugin are separate per host; else the
   * first that can be called.
   */
  #choose({ plugin, home }: Target): Gate {
    if (!this.#plugins.nodes) return this.#gate(plugin, undefined);
    const gates = this.#gates(plugin);
    const [first = this.#gate(plugin, undefined)] = gates;
    const atHome = home === undefined ? undefined : gates.find(({ node }) => node === home);
    if (atHome && this.#observation(atHome).scope !== 'shared' && !this.#trouble(atHome)) return atHome;
    return gates.find((gate) => !this.#trouble(gate)) ?? first;
  }

  /** Returns why no instance of the plugin can be called. */
  #reason({ plugin }: Target, chosen: Gate): string {
    const reasons = this.#gates(plugin).map((gate) => this.#trouble(gate)?.reason);
    return reasons.length > 1 ? reasons.join('; ') : (this.#trouble(chosen)?.reason ?? '');
  }

  #hasSeveral(plugin: string): boolean {
    return this.#plugins.nodes !== undefined && this.#gates(plugin).length > 1;
  }

  /** Resolves with an instance that can be called. */
  async #open(target: Target, { signal, waitMs, waits }: Admission): Promise<Gate> {
    let reported: string | undefined;
    const late = (): StagecraftError => this.#late(target, waitMs);
    return withDeadline({ clock: this.#clock, timeoutMs: waitMs, late, ends: [abortedBy(signal)] }, async (limit) => {
      for (;;) {
        const chosen = this.#choose(target);
        if (!this.#trouble(chosen)) return chosen;
        const reason = this.#reason(target, chosen);
        if (reason !== reported) waits(reason);
        reported = reason;
        await this.#change(target.plugin, limit);
      }
    });
  }

  #change(plugin: string, limit: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        unsubscribe();
        unwatch();
      };
      const unwatch = this.watch(plugin, () => {
        end();
        resolve();
      });
      const unsubscribe = onAbort(limit, (reason) => {
        unwatch();
        reject(reason);
      });
    });
  }

  async #enterNow(gate: Gate, target: Target, admission: Omit<Admission, 'waits'>): Promise<Admitted | Refused> {
    if (this.#isOpen(gate)) gate.inFlight += 1;
    else {
      const refused = await this.#wait(gate, admission);
      if (refused) return this.#hasSeveral(target.plugin) ? { reason: this.#reason(target, gate) } : refused;
    }
    return this.#admitted(gate);
  }

  /** Tells whether a call may be made at once, without overtaking another. */
  #isOpen(gate: Gate): boolean {
    return gate.waiting.size === 0 && !this.#trouble(gate) && !this.#crowd(gate);
  }

  #admitted(gate: Gate): Admitted {
    const { plugin, node } = gate;
    const observation = this.#observation(gate);
    let isIn = true;
    const leave = (answer?: PluginAnswer): void => {
      if (!isIn) return;
      isIn = false;
      gate.inFlight -= 1;
      // A failure of a call that began before the last successful probe says nothing about the present plugin.
      const isOld = this.#observation(gate).wellAtMs !== observation.wellAtMs;
      if (answer?.grpcCode !== undefined) this.#judge(gate, { grpcCode: answer.grpcCode, isOld });
      this.#admitWaiting(gate);
    };
    return {
      node,
      observation: isRead(observation) ? observation : { ...observation, capabilities: new Set() },
      client: () => this.#plugins.client(plugin, node),
      seen: () => this.#observation(gate),
      leave,
      renew: () => {
        const trouble = this.#trouble(gate);
        if (trouble) {
          leave();
          return { reason: trouble.reason };
        }
        isIn = false;
        return this.#admitted(gate);
      },
    };
  }

  #judge(gate: Gate, { grpcCode, isOld }: { grpcCode: string; isOld: boolean }): void {
    if (grpcCode === 'UNIMPLEMENTED') this.#plugins.lookAgain(gate.plugin, gate.node);
    if (!isTransportFailure(grpcCode)) gate.failures = isSilence(grpcCode) ? gate.failures : 0;
    else if (!isOld) gate.failures += 1;
    if (gate.failures < failuresInARow) return;
    // Compares for inequality only: the clock may be set back, so a later probe can have an earlier time.
    gate.closedWellAtMs = this.#observation(gate).wellAtMs;
    gate.failures = 0;
  }

  #wait(gate: Gate, { signal, waitMs, waits }: Coming): Promise<Refused | undefined> {
    return new Promise((resolve, reject) => {
      let reported: Trouble['kind'] | undefined;
      let unsubscribe: (() => void) | undefined;
      const end = (): void => {
        gate.waiting.delete(waiting);
        unsubscribe?.();
        cancel?.();
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          gate.inFlight += 1;
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
      const cancel = waitMs === undefined ? undefined : this.#clock.after(waitMs, () => fail(this.#late(gate, waitMs)));
      gate.waiting.add(waiting, true);
      unsubscribe = onAbort(signal, fail);
      if (!gate.waiting.has(waiting)) return;
      const trouble = this.#trouble(gate);
      // Calls that waited before know the reason already.
      if (trouble) waiting.blocked(trouble);
      else this.#admitWaiting(gate);
    });
  }

  #late(target: Target, waitMs: number | undefined): StagecraftError {
    const why = this.obstacle(target) ?? 'its turn did not come';
    return new StagecraftError(
      'PLUGIN_UNAVAILABLE',
      `plugin '${target.plugin}' took no call within ${waitMs} ms: ${why}`,
    );
  }

  /** Admits waiting calls in order, up to the limit. If the plugin cannot be called, tells them the reason. */
  #admitWaiting(gate: Gate): void {
    for (let next = gate.waiting.oldest; next; next = gate.waiting.oldest) {
      const trouble = this.#trouble(gate);
      if (trouble) {
        for (const waiting of [...gate.waiting.keys()]) waiting.blocked(trouble);
        return;
      }
      if (gate.inFlight >= this.#maxInFlight) return;
      next.admit();
    }
  }

  #crowd({ inFlight }: Gate): string | undefined {
    return inFlight >= this.#maxInFlight ? `${inFlight} calls to it are in flight` : undefined;
  }

  #trouble(gate: Gate): Trouble | undefined {
    const { trouble, troubleKind: kind = 'unwell', capabilities, wellAtMs } = this.#observation(gate);
    const name = gate.node === undefined ? `plugin '${gate.plugin}'` : `plugin '${gate.plugin}' of node ${gate.node}`;
    if (trouble !== undefined) return { kind, reason: `${name} can't be called: ${trouble}` };
    if (!capabilities) return { kind: 'unread', reason: `what ${name} offers is not known yet` };
    if (gate.closedWellAtMs === undefined) return undefined;
    if (wellAtMs !== 0 && wellAtMs !== gate.closedWellAtMs) {
      gate.closedWellAtMs = undefined;
      return undefined;
    }
    const reason = `${name} did not answer ${failuresInARow} calls in a row: they wait for its next good probe`;
    return { kind: 'closed', reason };
  }

  /** Gates of all instances of a plugin, the preferred first. */
  #gates(plugin: string): Gate[] {
    const nodes = this.#plugins.nodes?.(plugin) ?? [];
    return (nodes.length > 0 ? nodes : own).map((node) => this.#gate(plugin, node));
  }

  #gate(plugin: string, node: string | undefined): Gate {
    const { gates } = this.#of(plugin);
    const name = node ?? '';
    const known = gates.get(name);
    if (known) return known;
    const gate = new Gate(plugin, node);
    gates.set(name, gate);
    return gate;
  }

  #of(plugin: string): Watched {
    const known = this.#watched.get(plugin);
    if (known) return known;
    const gates = new Map<string, Gate>();
    const listeners = new Set<() => void>();
    const stop = this.#plugins.watch(plugin, () => {
      for (const gate of gates.values()) {
        gate.observation = undefined;
        if (gate.waiting.size > 0) this.#admitWaiting(gate);
      }
      for (const listener of [...listeners]) listener();
    });
    const watched = { gates, listeners, stop };
    this.#watched.set(plugin, watched);
    return watched;
  }

  #observation(gate: Gate): PluginObservation {
    gate.observation ??= this.#plugins.observation(gate.plugin, gate.node);
    return gate.observation;
  }
}

const isRead = (observation: PluginObservation): observation is Admitted['observation'] =>
  observation.capabilities !== undefined;
