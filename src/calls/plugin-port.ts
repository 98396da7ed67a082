/** Plugins as their callers see them: the port to them, and admission of calls. Implementation: plugin-access.ts */
import type { PluginScope } from '../../machines/kit/csi-types.js';
import type { Abortable } from '../abort.js';

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
  /** Alloc id of the instance. Absent: there is none. */
  instance?: string;
  /** Capabilities that this instance lacks, each with the alloc id of another one on the same node that offers it. */
  offeredBy?: Readonly<Record<string, string>>;
}

/** Plugin to call. With `home`, its instance on that node is called if volumes of the plugin are separate per host. */
export interface PluginTarget {
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
export interface AdmittedCall {
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
  renew(): AdmittedCall | Refused;
}

/** The plugin cannot be called now; a full plugin is no such case. */
export interface Refused {
  reason: string;
}

export interface PluginAnswer {
  grpcCode?: string | undefined;
}
