/**
 * Reports this host's node with its csi-node plugins, and reports it again on each change.
 * Keeps a plugin in the report until it has been unhealthy or unregistered for `graceMs`. A restart takes only seconds, and
 * schedulers would move workloads without need.
 * Sends changes only: a node that is down or was removed stays so until a restart, a new term or a change of its plugins.
 * A fenced node reports again once nothing is mounted on it any more: its claims are gone, and others have its volumes.
 */

import { isSameData } from '../../machines/kit/same-data.js';
import type { NodePlugin } from '../../machines/node/node.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf, StagecraftError } from '../errors.js';
import type { NodeManager, NodeStatus } from './node-manager.js';
import { faultsOf } from './node-report.js';
import type { NodeReports } from './node-reports.js';

export interface NodePluginsPort {
  /** Returns each registered plugin's data of this node, by name; undefined while it is unhealthy or reports none. */
  present(): Map<string, NodePlugin | undefined>;
  /** Calls `changed` on every possible change. @returns function that ends it */
  watch(changed: () => void): () => void;
}

interface NodeReporterOptions {
  nodeId: string;
  plugins: NodePluginsPort;
  nodes: Pick<NodeManager, 'find'>;
  /** Volumes that are mounted on this host, or may be. */
  mounted(): VolumeKey[];
  reports: Pick<NodeReports, 'report'>;
  clock: Clock;
  logger: Logger;
}

/**
 * Time that a plugin may be away before it leaves the report. Controller calls for this node need no plugin here; but a
 * plugin that stays away can't mount the volumes that are sent here.
 */
const graceMs = 30_000;
const retryMs = 1_000;
/** Time between two looks at whether this node was fenced. */
const fenceLookMs = 15_000;
/** A refused report waits for somebody who changes another node. */
const refusedRetryMs = 10_000;
/** Number of volumes that the reason names. */
const mostNamed = 5;

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  /** Last valid data of each plugin, by name. */
  readonly #known = new Map<string, NodePlugin>();
  /** Time since a plugin is unhealthy or unregistered, by name, in ms of the monotonic clock. */
  readonly #awaySince = new Map<string, number>();
  /** Logged fault of each plugin that can't be reported, by name. */
  readonly #faults = new Map<string, string>();
  #reported: NodePlugin[] | undefined;
  #term = 0;
  /** Logged reason why the report fails now. */
  #trouble: string | undefined;
  #isReporting = false;
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  #cancelFenceLook: (() => void) | undefined;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** Plugins that this runtime reports for its own node; undefined if it reports none. */
  get report(): NodePlugin[] | undefined {
    return this.#known.size > 0 ? [...this.#known.values()] : this.#reported;
  }

  /** Starts after all actors are restored. Plugins of the committed report have `graceMs` to come up. */
  start(): void {
    this.#stopWatching = this.#options.plugins.watch(() => void this.#look());
    void this.#look();
    this.#lookAtFence();
  }

  /** Reports again as a term begins here: in the term before, another caller may have changed this node. */
  begin(): void {
    this.#term += 1;
    this.#reported = undefined;
    if (this.#stopWatching) void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
    this.#cancelTimer?.();
    this.#cancelFenceLook?.();
  }

  /** Looks at intervals: an agent that was frozen or cut off does not hear that its node was fenced. */
  #lookAtFence(): void {
    this.#cancelFenceLook = this.#options.clock.after(fenceLookMs, () => {
      if (this.#reported) void this.#look();
      this.#lookAtFence();
    });
  }

  async #look(): Promise<void> {
    if (this.#isReporting || this.#isStopped) return;
    this.#isReporting = true;
    try {
      const node = await this.#options.nodes.find(this.#options.nodeId);
      if (this.#isStopped || this.#isHeldBack(node)) return;
      const stored = node?.plugins;
      // Changes during a report go into the next one.
      for (let next = this.#next(stored); next && !this.#isStopped; next = this.#next(stored)) {
        const term = this.#term;
        await this.#options.reports.report({ id: this.#options.nodeId, plugins: next }, (reason) => {
          if (reason !== null) this.#warn(reason);
        });
        if (term === this.#term) this.#reported = next;
        this.#trouble = undefined;
      }
    } catch (error) {
      if (this.#isStopped) return;
      this.#warn(messageOf(error));
      const isRefused = error instanceof StagecraftError && error.code === 'NODE_EXISTS';
      this.#lookAfter(isRefused ? refusedRetryMs : retryMs);
    } finally {
      this.#isReporting = false;
    }
  }

  /** Whether a fence forbids the report now. After a fence that is done, the next report is a new one. */
  #isHeldBack(node: NodeStatus | undefined): boolean {
    if (node?.state !== 'down' || !node.fence) return false;
    const left = this.#options.mounted();
    if (left.length > 0) {
      const named = left.slice(0, mostNamed).map(({ namespace, id }) => `${namespace}/${id}`);
      const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : '';
      const what = `volumes are still mounted here, or may be: ${named.join(', ')}${more}`;
      this.#warn(`the node was fenced (${node.fence.reason}), and ${what}; see 'stagecraft mount list'`, 'warn');
      this.#lookAfter(retryMs);
      return true;
    }
    if (node.fence.isDone) this.#reported = undefined;
    return false;
  }

  #warn(trouble: string, level: 'info' | 'warn' = 'info'): void {
    if (this.#trouble !== trouble) this.#options.logger[level]({}, `cannot report this node now: ${trouble}`);
    this.#trouble = trouble;
  }

  /** Returns the plugins to report now; undefined if nothing has changed. @param stored report of an earlier runtime */
  #next(stored: NodePlugin[] | undefined): NodePlugin[] | undefined {
    const before = this.#reported ?? stored;
    if (!this.#reported) this.#recall(stored ?? []);
    this.#update();
    const plugins = [...this.#known.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    // A host that never had a node plugin is no node.
    if (!before && plugins.length === 0) return undefined;
    return this.#reported && isSameData(this.#reported, plugins) ? undefined : plugins;
  }

  /** Takes over the plugins of an earlier runtime's report. Each has `graceMs` to come up. */
  #recall(plugins: NodePlugin[]): void {
    for (const plugin of plugins) if (!this.#known.has(plugin.name)) this.#known.set(plugin.name, plugin);
  }

  #update(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const present = this.#options.plugins.present();
    for (const [name, plugin] of present) {
      if (!plugin || !this.#isSound(plugin)) continue;
      this.#known.set(name, plugin);
      this.#awaySince.delete(name);
    }
    for (const name of this.#known.keys()) {
      if (present.get(name)) continue;
      const sinceMs = this.#awaySince.get(name) ?? nowMs;
      this.#awaySince.set(name, sinceMs);
      if (nowMs - sinceMs < graceMs) continue;
      this.#known.delete(name);
      this.#awaySince.delete(name);
    }
    const first = Math.min(...this.#awaySince.values());
    if (this.#awaySince.size > 0) this.#lookAfter(first + graceMs - nowMs);
    else this.#cancelTimer?.();
  }

  /** Whether a plugin's data is valid. An invalid plugin is left out of the report. */
  #isSound(plugin: NodePlugin): boolean {
    const fault = faultsOf(plugin);
    if (fault === undefined) {
      this.#faults.delete(plugin.name);
    } else if (this.#faults.get(plugin.name) !== fault) {
      this.#faults.set(plugin.name, fault);
      this.#options.logger.warn(
        { plugin: plugin.name },
        `cannot report this plugin for the node, as its data is invalid: ${fault}`,
      );
    }
    return fault === undefined;
  }

  #lookAfter(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => void this.#look());
  }
}
