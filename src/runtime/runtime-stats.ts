/** Counts of a runtime since its start, for metrics: read when they are asked for, as far as that can be. */
import { shownPathOf } from '../../machines/catalog.js';
import { addressParts } from '../../machines/kit/addresses.js';
import { topState } from '../../machines/kit/parts.js';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { MessageCounts } from '../cluster/message-counts.js';
import type { EndedCall } from '../csi/csi-calls.js';
import type { CommitNotice } from '../engine/actor/actor-ports.js';
import type { ActorView } from '../engine/actor-system.js';
import type { Engine } from '../engine/engine.js';

/** A call to a plugin that has ended. */
interface PluginCall extends EndedCall {
  /** Registered name of the plugin. */
  plugin: string;
}

interface RuntimeCounts {
  /** Actors in memory, by machine and by the outermost state. */
  actors: { machine: string; state: string; count: number }[];
  /** Messages that wait in mailboxes. */
  queued: number;
  /** Effects that committed states ask for. */
  effects: number;
  /** Actors out of service. */
  quarantined: number;
  /** Since the start. */
  commits: number;
  crashes: number;
  /** Calls to plugins that failed, and are made again. */
  retries: number;
  /** Messages that other agents have sent, by what became of them: docs/metrics.md */
  messages: ReturnType<MessageCounts['list']>;
}

export interface RuntimeStats {
  counts(): RuntimeCounts;
  /** Calls back for each call to a plugin that has ended. @returns a function that ends it */
  onCall(listener: (call: PluginCall) => void): () => void;
}

export class RuntimeCounters {
  readonly #listeners = new Set<(call: PluginCall) => void>();
  #commits = 0;
  #crashes = 0;
  #retries = 0;
  readonly #messages: MessageCounts;

  constructor(messages: MessageCounts) {
    this.#messages = messages;
  }

  onCall(listener: (call: PluginCall) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes a call that has ended. */
  called({ name: plugin }: PluginInfo, call: EndedCall): void {
    for (const listener of this.#listeners) listener({ plugin, ...call });
  }

  /** Notes a commit. */
  committed({ entry }: CommitNotice): void {
    this.#commits += 1;
    if (entry.kind === 'crash') this.#crashes += 1;
    if (entry.source.kind === 'effect' && isRetried(entry.event?.output)) this.#retries += 1;
  }

  /** @param engines those that run actors now */
  counts(engines: readonly Engine[]): RuntimeCounts {
    const counts = new Map<string, RuntimeCounts['actors'][number]>();
    let queued = 0;
    let effects = 0;
    let quarantined = 0;
    for (const engine of engines) {
      for (const [address, view] of engine.views('')) add(counts, address, view);
      const load = engine.load();
      queued += load.queued;
      effects += load.effects;
      quarantined += engine.quarantined().length;
    }
    return {
      actors: [...counts.values()],
      ...{ queued, effects, quarantined, commits: this.#commits, crashes: this.#crashes, retries: this.#retries },
      messages: this.#messages.list(),
    };
  }
}

/** Whether the output of an effect is that of a call that failed, and not for good. */
const isRetried = (output: unknown): boolean => {
  const failure: unknown = output instanceof Object ? Reflect.get(output, 'failure') : undefined;
  return failure instanceof Object && Reflect.get(failure, 'final') === false;
};

function add(counts: Map<string, RuntimeCounts['actors'][number]>, address: string, view: ActorView): void {
  const [machine = ''] = addressParts(address);
  const state = topState({ at: shownPathOf(address, view.state, view.context) });
  const key = `${machine} ${state}`;
  const known = counts.get(key);
  if (known) known.count += 1;
  else counts.set(key, { machine, state, count: 1 });
}
