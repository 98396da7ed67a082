/** A runtime to test the registry in: simulated clock, seeded chance, a store whose commits are counted, a fake kind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pluginAddress, pluginsAddress } from '../../machines/kit/addresses.js';
import type { NodeInfo, PluginInfo } from '../../machines/plugin/plugin.js';
import type { JournalEntry } from '../../src/engine/actor/actor-record.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { StagecraftError } from '../../src/errors.js';
import type { PluginEvent } from '../../src/registry/plugin-events.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Plugins, type Runtime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { Cable } from './cable.js';
import { FakeKind } from './fake-kind.js';

export const nodeId = 'worker-1';
/** Where no directory is, and none comes. */
export const nowhere = '/nowhere';

/** A device that may be registered. */
export function device(allocId: string, more: Partial<PluginInfo> = {}): PluginInfo {
  return { type: 'device', name: 'gpu', allocId, connection: { socketPath: `${nowhere}/${allocId}.sock` }, ...more };
}

export class House {
  readonly clock = simulatedClock();
  readonly kind = new FakeKind();
  readonly directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  /** Every commit that was handed to the store. */
  readonly commits: Commit[] = [];
  store: Store;
  options: Partial<RuntimeOptions> = {};
  #runtime: Runtime | undefined;
  #runs = 0;

  constructor(store: Store = memoryStore()) {
    this.store = store;
    this.#count();
  }

  /** Brings the runtime up, again after `close`. */
  async open(options: Partial<RuntimeOptions> = {}): Promise<this> {
    Object.assign(this.options, options);
    this.#runs += 1;
    this.#runtime = await createRuntime({
      nodeId,
      dataDir: join(this.directory, 'data'),
      store: this.store,
      clock: this.clock,
      random: seededRandom(this.#runs),
      dispensers: { device: this.kind },
      ...this.options,
    });
    return this;
  }

  /** Ends the runtime, takes another store object on the same data if there is one, and comes up again. */
  async restart(store?: Store): Promise<this> {
    await this.runtime.close();
    if (store) {
      this.store = store;
      this.#count();
    }
    return this.open();
  }

  async dispose(): Promise<void> {
    try {
      await this.#runtime?.close();
    } finally {
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  get plugins(): Plugins {
    return this.runtime.plugins;
  }

  /** Lets all present work come to rest, however long a store behind a cable takes for it; no time passes. */
  async rest(): Promise<void> {
    do await this.clock.advance(0);
    while (this.store instanceof Cable && !this.store.isQuiet && !this.store.isCut);
  }

  /** Registers one after the other, and lets the first looks come to rest. */
  async register(...infos: PluginInfo[]): Promise<void> {
    for (const info of infos) await this.plugins.register(info);
    await this.rest();
  }

  /** The allocIds of a name, newest first. */
  allocIds(type = 'device', name = 'gpu'): string[] {
    return this.plugins.instances(type, name).map(({ allocId }) => allocId);
  }

  /** All that was broadcast, in short. */
  async told(): Promise<string[]> {
    return (await this.events()).map(inShort);
  }

  /** All that was broadcast since the event with this id. */
  async events(from = '0'): Promise<PluginEvent[]> {
    const { rows, newest } = await this.store.readTopic(`plugins/${nodeId}`, Number(from), 10_000);
    return rows.length === 0 ? [] : take(this.plugins.updates(undefined, { from }), newest - Number(from));
  }

  /** What the actor of an instance was given, by type of event; `begun`, `crash` and `stale` where they are. */
  async history({ type, name, allocId }: PluginInfo): Promise<string[]> {
    return (await this.journal(pluginAddress(nodeId, type, name, allocId))).map(
      ({ kind, event, input }) =>
        `${kind === 'event' ? '' : `${kind} `}${event?.type ?? (input ? 'begun' : 'nothing')}`,
    );
  }

  async journal(address: string): Promise<JournalEntry[]> {
    const entries: JournalEntry[] = [];
    for await (const entry of this.runtime.journal.entries(address)) entries.push(entry);
    return entries;
  }

  #count(): void {
    const { store } = this;
    const commit = store.commit.bind(store);
    store.commit = (items) => {
      this.commits.push(...items);
      return commit(items);
    };
  }
}

export const gpus = pluginsAddress(nodeId, 'device', 'gpu');

export function inShort(event: PluginEvent): string {
  const { kind, info, from, healthy, was, description, before } = event;
  if (kind === 'promoted') return `promoted ${info.allocId} for ${from?.allocId}`;
  if (kind === 'node-info')
    return `${info.allocId} on ${nodeInShort(event)}${before ? `, was ${nodeInShort(before)}` : ''}`;
  return kind === 'health' ? `${info.allocId} ${was} → ${healthy}: ${description}` : `${kind} ${info.allocId}`;
}

/** E.g. `n-1 zone=z 5`. */
const nodeInShort = ({ nodeId, topology = {}, maxVolumes }: NodeInfo): string =>
  [nodeId ?? '-', ...Object.entries(topology).map(([key, value]) => `${key}=${value}`), maxVolumes ?? '']
    .join(' ')
    .trim();

/** The first so many of what is iterated. */
export async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  if (count === 0) return taken;
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

/** The error that this ends with. */
export async function refusal(work: () => unknown): Promise<StagecraftError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof StagecraftError) return error;
    throw error;
  }
  throw new Error('expected a StagecraftError, but all went well');
}
