/**
 * Reports this very node from its own csi-node plugins, and again whenever what they say of it changes.
 *
 * A plugin is reported from when it is first healthy until it has been away for a while (`graceMs`): unhealthy, or not
 * registered. One that is restarted or replaced is away for seconds, and what the controller side does for this node
 * needs no plugin here; to call the node unfit for that long would make schedulers move work for nothing. One that stays
 * away can't mount what is sent here, so it leaves the report then. What it said last holds meanwhile.
 *
 * Nothing but a change is reported: a node that somebody has called down, fenced or removed is so until this runtime
 * starts again, or leads again, or its plugins change.
 */

import { isSameData } from '../../machines/kit/same-data.js';
import type { NodePlugin } from '../../machines/node/node.js';
import type { Clock } from '../engine/clock.js';
import type { Logger } from '../engine/logger.js';
import { messageOf } from '../errors.js';
import { faultsOf, type NodeManager } from './node-manager.js';
import type { NodeReports } from './node-reports.js';

/** The node plugins of this host. */
export interface NodePluginsPort {
  /** By registered name: what each says of this node; undefined while it is not healthy, or says nothing. */
  present(): Map<string, NodePlugin | undefined>;
  /** Calls back when something may be new; the answer ends that. */
  watch(changed: () => void): () => void;
}

export interface NodeReporterOptions {
  nodeId: string;
  plugins: NodePluginsPort;
  nodes: Pick<NodeManager, 'reported'>;
  reports: Pick<NodeReports, 'report'>;
  clock: Clock;
  logger: Logger;
}

const graceMs = 30_000;
const retryMs = 1_000;

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  /** By name: what was last known to be right. */
  readonly #known = new Map<string, NodePlugin>();
  /** By name: since when it is away, by the monotonic clock. */
  readonly #awaySince = new Map<string, number>();
  /** What is wrong with those that can't be reported, as it was logged. */
  readonly #faults = new Map<string, string>();
  /** In this term. */
  #reported: NodePlugin[] | undefined;
  #term = 0;
  /** Why it can't be reported now, as it was logged. */
  #trouble: string | undefined;
  #isReporting = false;
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  /** Plugins that this runtime reports of its own node. Undefined: no report. */
  get report(): NodePlugin[] | undefined {
    return this.#known.size > 0 ? [...this.#known.values()] : this.#reported;
  }

  /** Once all is restored: what was reported before counts as known, so that plugins have time to come up. */
  start(): void {
    this.#stopWatching = this.#options.plugins.watch(() => void this.#look());
    void this.#look();
  }

  /** A term begins: in the one before somebody may have said something else of this node. */
  begin(): void {
    this.#term += 1;
    this.#reported = undefined;
    // Before its start there is nothing to look for.
    if (this.#stopWatching) void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
    this.#cancelTimer?.();
  }

  async #look(): Promise<void> {
    if (this.#isReporting || this.#isStopped) return;
    this.#isReporting = true;
    try {
      const stored = this.#reported ?? (await this.#options.nodes.reported(this.#options.nodeId));
      if (this.#isStopped) return;
      // What changes while a report is on its way is told by the next one.
      for (let next = this.#next(stored); next && !this.#isStopped; next = this.#next(stored)) {
        const term = this.#term;
        await this.#options.reports.report({ id: this.#options.nodeId, plugins: next });
        if (term === this.#term) this.#reported = next;
        this.#trouble = undefined;
      }
    } catch (error) {
      if (this.#isStopped) return;
      this.#tell(messageOf(error));
      this.#lookAfter(retryMs);
    } finally {
      this.#isReporting = false;
    }
  }

  #tell(trouble: string): void {
    if (this.#trouble !== trouble) this.#options.logger.info({}, `this node can't be reported now: ${trouble}`);
    this.#trouble = trouble;
  }

  /** What is to be reported now; absent: nothing. @param stored what was reported by a runtime before this one */
  #next(stored: NodePlugin[] | undefined): NodePlugin[] | undefined {
    const before = this.#reported ?? stored;
    if (!this.#reported) this.#recall(stored ?? []);
    this.#update();
    const plugins = [...this.#known.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
    // A host that never had a node plugin is none.
    if (!before && plugins.length === 0) return undefined;
    return this.#reported && isSameData(this.#reported, plugins) ? undefined : plugins;
  }

  /** Reported by a runtime before this one: each has as long to come up as one that goes away now. */
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

  /** One that says what can't be is left out, and the others are reported. */
  #isSound(plugin: NodePlugin): boolean {
    const fault = faultsOf(plugin);
    if (fault === undefined) {
      this.#faults.delete(plugin.name);
    } else if (this.#faults.get(plugin.name) !== fault) {
      this.#faults.set(plugin.name, fault);
      this.#options.logger.warn({ plugin: plugin.name }, `what it says of this node can't be reported: ${fault}`);
    }
    return fault === undefined;
  }

  #lookAfter(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.after(delayMs, () => void this.#look());
  }
}
