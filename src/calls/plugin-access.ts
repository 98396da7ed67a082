/**
 * Admits calls to one side (controller or node) of each plugin, and chooses the instance where a plugin has several: each is
 * admitted on its own (instance-gate.ts). The port: plugin-port.ts
 */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import { onAbort } from '../abort.js';
import { withDeadline } from '../engine/deadline.js';
import { chosenInstance, offers, speakers } from './instance-choice.js';
import { type GateLimits, InstanceGate, tookNone } from './instance-gate.js';
import type { Admission, AdmittedCall, PluginPort, PluginTarget, Refused } from './plugin-port.js';

/** Instances of one plugin, with the callers that wait for a change of any. */
interface Watched {
  /** By node; the empty name is this node. */
  gates: Map<string, InstanceGate>;
  listeners: Set<() => void>;
}

const own: readonly undefined[] = Object.freeze([undefined]);

export class PluginAccess {
  readonly #port: PluginPort;
  readonly #limits: GateLimits;
  readonly #watched = new Map<string, Watched>();

  constructor(port: PluginPort, limits: GateLimits) {
    this.#port = port;
    this.#limits = limits;
  }

  /**
   * Resolves once a call may be made.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enter(target: PluginTarget, admission: Admission): Promise<AdmittedCall> {
    if (!this.#hasSeveral(target.plugin)) return this.#choose(target).enter(admission);
    const { signal, waitMs } = admission;
    for (;;) {
      // An instance that fails while the call waits for a place there is left for another one.
      const gate = await this.#callable(target, admission);
      const entered = await gate.enterNow({ signal, waitMs });
      if (!('reason' in entered)) return entered;
    }
  }

  /**
   * Waits only for a free place. Returns a refusal as soon as the plugin cannot be called.
   * @throws {StagecraftError} PLUGIN_UNAVAILABLE after `waitMs`, with the reason; or the abort reason of the signal
   */
  async enterNow(target: PluginTarget, admission: Omit<Admission, 'waits'>): Promise<AdmittedCall | Refused> {
    const entered = await this.#choose(target).enterNow(admission);
    return 'reason' in entered && this.#hasSeveral(target.plugin) ? { reason: this.#reason(target) } : entered;
  }

  /** Admits a call at once; undefined if it would have to wait, or the plugin cannot be called. */
  enterIfOpen(target: PluginTarget): AdmittedCall | undefined {
    return this.#choose(target).enterIfOpen();
  }

  /** As `enterNow`, for the instance of this node only. */
  async enterHere(plugin: string, admission: Omit<Admission, 'waits'>): Promise<AdmittedCall | Refused> {
    return this.#gate(plugin, undefined).enterNow(admission);
  }

  /** Returns why a call would have to wait now; undefined if it would not. */
  obstacle(target: PluginTarget): string | undefined {
    const gate = this.#choose(target);
    return gate.trouble ? this.#reason(target) : gate.crowd;
  }

  /** Tells whether the plugin cannot be called now; a full plugin is not closed. */
  isClosed(target: PluginTarget): boolean {
    return this.#choose(target).trouble !== undefined;
  }

  /** Returns why the instance on a node cannot be called; undefined if it can. @param node undefined: this node */
  troubleAt(plugin: string, node: string | undefined): string | undefined {
    const gate = this.#gates(plugin).find((one) => one.node === node);
    return gate ? gate.trouble?.reason : `node ${node} has no plugin '${plugin}' that is known here`;
  }

  /** Tells whether a node has an instance of the plugin. @param node undefined: this node */
  hasInstance(plugin: string, node: string | undefined): boolean {
    return this.#gates(plugin).some((one) => one.node === node && one.observation.troubleKind !== 'absent');
  }

  /** Returns the node whose instance would be called now; undefined: this node. */
  nodeFor(target: PluginTarget): string | undefined {
    return this.#choose(target).node;
  }

  /** Nodes that have an instance of the plugin. Undefined: this node. */
  nodes(plugin: string): (string | undefined)[] {
    return this.#gates(plugin).flatMap(({ node, observation }) => (observation.troubleKind === 'absent' ? [] : [node]));
  }

  /** Returns the scope that the first instance with a known one has. */
  scope(plugin: string): PluginScope | undefined {
    for (const { observation } of this.#gates(plugin)) if (observation.scope) return observation.scope;
    return undefined;
  }

  offers(plugin: string, capability: string): boolean {
    return offers(this.#choose({ plugin }).observation, capability);
  }

  /**
   * Returns why the lack of a capability at one instance proves nothing: another instance of the plugin offers it. Undefined if
   * none is known to. @param node of the instance that lacks it
   */
  contradiction(plugin: string, node: string | undefined, capability: string): string | undefined {
    const lacking = this.#gate(plugin, node).instanceName;
    for (const gate of this.#gates(plugin)) {
      const { observation } = gate;
      const other = offers(observation, capability)
        ? gate.instanceName
        : gate.nameOf(observation.offeredBy?.[capability]);
      if (other !== undefined)
        return (
          `${lacking} does not offer ${capability}, but ${other} does: instances of one plugin must offer the same. ` +
          'The call waits: deregister the one that is wrong'
        );
    }
    return undefined;
  }

  driver(plugin: string): string | undefined {
    return this.#choose({ plugin }).observation.driver;
  }

  /** Calls back when an instance of the plugin may have changed. @returns a function that unsubscribes */
  watch(plugin: string, changed: () => void): () => void {
    const { listeners } = this.#of(plugin);
    listeners.add(changed);
    return () => listeners.delete(changed);
  }

  /**
   * Chooses the instance for a call: that at the volume's home, if volumes of the plugin are separate per host; else see
   * instance-choice.ts
   */
  #choose({ plugin, home }: PluginTarget): InstanceGate {
    if (!this.#port.nodes) return this.#gate(plugin, undefined);
    const gates = this.#gates(plugin);
    const atHome = home === undefined ? undefined : gates.find(({ node }) => node === home);
    if (atHome && atHome.observation.scope !== 'shared' && !atHome.trouble) return atHome;
    return chosenInstance(gates) ?? this.#gate(plugin, undefined);
  }

  #hasSeveral(plugin: string): boolean {
    return this.#port.nodes !== undefined && this.#gates(plugin).length > 1;
  }

  /** Returns why no instance of the plugin can be called. */
  #reason({ plugin }: PluginTarget): string {
    return speakers(this.#gates(plugin))
      .flatMap(({ trouble }) => trouble?.reason ?? [])
      .join('; ');
  }

  /** Resolves with an instance that can be called. */
  async #callable(target: PluginTarget, { signal, waitMs, waits }: Admission): Promise<InstanceGate> {
    let reported: string | undefined;
    const late = (): Error => tookNone(target.plugin, waitMs, this.obstacle(target));
    const { clock } = this.#limits;
    return withDeadline({ clock, timeoutMs: waitMs, late, ends: [signal] }, async (limit) => {
      for (;;) {
        const chosen = this.#choose(target);
        if (!chosen.trouble) return chosen;
        const reason = this.#reason(target);
        if (reason !== reported) waits(reason);
        reported = reason;
        await this.#change(target.plugin, limit);
      }
    });
  }

  #change(plugin: string, limit: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const unwatch = this.watch(plugin, () => {
        unwatch();
        unsubscribe();
        resolve();
      });
      const unsubscribe = onAbort(limit, (reason) => {
        unwatch();
        reject(reason);
      });
    });
  }

  /** Gates of all instances of a plugin, the preferred first. */
  #gates(plugin: string): InstanceGate[] {
    const nodes = this.#port.nodes?.(plugin) ?? [];
    return (nodes.length > 0 ? nodes : own).map((node) => this.#gate(plugin, node));
  }

  #gate(plugin: string, node: string | undefined): InstanceGate {
    const { gates } = this.#of(plugin);
    const name = node ?? '';
    const known = gates.get(name);
    if (known) return known;
    const gate = new InstanceGate(this.#port, { plugin, node }, this.#limits);
    gates.set(name, gate);
    return gate;
  }

  #of(plugin: string): Watched {
    const known = this.#watched.get(plugin);
    if (known) return known;
    const gates = new Map<string, InstanceGate>();
    const listeners = new Set<() => void>();
    this.#port.watch(plugin, () => {
      for (const gate of gates.values()) gate.changed();
      for (const listener of [...listeners]) listener();
    });
    const watched = { gates, listeners };
    this.#watched.set(plugin, watched);
    return watched;
  }
}
