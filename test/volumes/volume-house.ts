/** Fixture with a runtime for volumes: simulated clock, seeded randomness, a plugin in this process, reported nodes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/engine/store.js';
import type { RuntimeOptions } from '../../src/runtime/options.js';
import { createRuntime, type Runtime, type Volumes } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import type { VolumeSpec } from '../../src/volumes/spec.js';
import type { VolumeEvent } from '../../src/volumes/volume-view.js';
import { unmountBelow } from '../mounts/unmount-below.js';
import { FakePlugin } from './fake-plugin.js';

export const pluginName = 'disk';
/** CSI node ids of the reported nodes, by node. */
export const nodes = { a: 'csi-a', b: 'csi-b', c: 'csi-c' };

export const spec = (id: string, more: Partial<VolumeSpec> = {}): VolumeSpec => ({
  id,
  plugin: pluginName,
  capabilities: [
    { accessMode: 'single-node-writer', attachmentMode: 'file-system' },
    { accessMode: 'multi-node-multi-writer', attachmentMode: 'file-system' },
  ],
  ...more,
});

export class VolumeHouse {
  readonly clock = simulatedClock();
  readonly plugin = new FakePlugin();
  readonly directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  store: Store = memoryStore();
  options: Partial<RuntimeOptions> = {};
  #runtime: Runtime | undefined;
  #runs = 0;

  /** Starts the runtime, also again after `close`. */
  async open(options: Partial<RuntimeOptions> = {}): Promise<this> {
    Object.assign(this.options, options);
    this.#runs += 1;
    this.#runtime = await createRuntime({
      nodeId: 'controller-1',
      dataDir: join(this.directory, 'data'),
      store: this.store,
      clock: this.clock,
      random: seededRandom(this.#runs),
      dispensers: { 'csi-controller': this.plugin },
      ...this.options,
    });
    return this;
  }

  /** Starts the runtime with a healthy plugin and all nodes reported. */
  async furnish(options: Partial<RuntimeOptions> = {}): Promise<this> {
    await this.open(options);
    await this.register();
    for (const [id, nodeId] of Object.entries(nodes))
      await this.runtime.nodes.report({ id, plugins: [{ name: pluginName, nodeId }] });
    await this.rest();
    return this;
  }

  register(options?: Record<string, string>): Promise<void> {
    const connection = { socketPath: '/nowhere/disk.sock' };
    const info = { type: 'csi-controller', name: pluginName, allocId: 'disk-1', connection };
    return this.runtime.plugins.register({ ...info, ...(options && { options }) });
  }

  /** Closes the runtime and starts another one on the same store. */
  async restart(): Promise<this> {
    await this.runtime.close();
    await this.open();
    await this.rest();
    return this;
  }

  async dispose(): Promise<void> {
    try {
      await this.#runtime?.close();
    } finally {
      unmountBelow(this.directory);
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  get volumes(): Volumes {
    return this.runtime.volumes;
  }

  /** Waits until all present work rests, without letting time pass. */
  rest(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Reads all events of volumes after an id. */
  async events(from = '0'): Promise<VolumeEvent[]> {
    const seen: VolumeEvent[] = [];
    const ended = new AbortController();
    const reading = (async () => {
      for await (const event of this.volumes.updates({ from, signal: ended.signal })) seen.push(event);
    })();
    await this.rest();
    ended.abort();
    await reading.catch(() => {});
    return seen;
  }
}
