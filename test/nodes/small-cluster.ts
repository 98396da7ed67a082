/**
 * Simulates a small cluster: slow plugins that sometimes fail, nodes that go down and come back, and workloads that start,
 * move and stop as under an orchestrator. Counts events by the hour.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StagecraftError } from '../../src/errors.js';
import { createRuntime, type Runtime } from '../../src/runtime/runtime.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import type { Volume, VolumeEvent } from '../../src/volumes/volume-view.js';
import { type Call, FakePlugin, type Step } from '../volumes/fake-plugin.js';

interface ClusterSize {
  plugins: number;
  nodes: number;
  volumes: number;
}

export interface Hour {
  created: number;
  published: number;
  unpublished: number;
  deleted: number;
  claims: number;
  calls: number;
  failures: number;
  nodesDown: number;
  fenced: number;
  outages: number;
  pending: number;
}

const noHour = (): Hour => ({
  created: 0,
  published: 0,
  unpublished: 0,
  deleted: 0,
  claims: 0,
  calls: 0,
  failures: 0,
  nodesDown: 0,
  fenced: 0,
  outages: 0,
  pending: 0,
});

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const fencedAfterMs = 30 * minute;
const accessMode = 'single-node-writer';
const attachmentMode = 'file-system';

interface Workload {
  id: string;
  plugin: string;
  node?: string;
  allocId: string;
  generation: number;
  runs: number;
  isGone: boolean;
}

export class SmallCluster {
  readonly clock = simulatedClock();
  readonly plugins = new Map<string, FakePlugin>();
  readonly hours: Hour[] = [noHour()];
  readonly #random = seededRandom(7);
  readonly #directory = mkdtempSync(join(tmpdir(), 'stagecraft-'));
  readonly #size: ClusterSize;
  readonly #workloads: Workload[] = [];
  readonly #down = new Set<string>();
  /** Allocs with an unreleased claim, by volume. */
  readonly #holders = new Map<string, string>();
  #secret = 0;
  /** Secrets that a call may still have: it may have begun before the last rotation. */
  readonly #valid = new Set<string>(['secret-0']);
  /** Secrets in calls that had been replaced long before. */
  readonly stale: string[] = [];
  /** Committed texts with a secret in them. */
  readonly leaked: string[] = [];
  /** Refusals that no orchestrator would expect. */
  readonly surprises: string[] = [];
  #runtime: Runtime | undefined;
  readonly #ended = new AbortController();

  constructor(size: ClusterSize) {
    this.#size = size;
  }

  get runtime(): Runtime {
    if (!this.#runtime) throw new Error('open it first');
    return this.#runtime;
  }

  get now(): Hour {
    return this.hours.at(-1) ?? noHour();
  }

  /** Starts the runtime with all plugins and nodes, and follows its events. */
  async open(): Promise<void> {
    for (let at = 0; at < this.#size.plugins; at += 1) this.plugins.set(`disk-${at}`, this.#plugin());
    const store = memoryStore();
    const commit = store.commit.bind(store);
    store.commit = (items) => {
      for (const { text, journal, outbox = '' } of items)
        if (/secret-\d/.test(text + journal + outbox)) this.leaked.push(text);
      return commit(items);
    };
    this.#runtime = await createRuntime({
      nodeId: 'controller',
      dataDir: join(this.#directory, 'data'),
      store,
      clock: this.clock,
      random: seededRandom(1),
      fencing: { afterMs: fencedAfterMs },
      secrets: {
        resolve: async (refs) => Object.fromEntries(Object.keys(refs).map((key) => [key, `secret-${this.#secret}`])),
      },
      dispensers: { 'csi-controller': this.#dispenser() },
    });
    for (const name of this.plugins.keys()) {
      const connection = { socketPath: `/nowhere/${name}.sock` };
      await this.runtime.plugins.register({ type: 'csi-controller', name, allocId: `${name}-1`, connection });
    }
    for (let at = 0; at < this.#size.nodes; at += 1) await this.#report(`node-${at}`);
    void this.#follow();
    await this.clock.advance(0);
  }

  async close(): Promise<void> {
    this.#ended.abort();
    try {
      await this.#runtime?.close();
    } finally {
      rmSync(this.#directory, { recursive: true, force: true });
    }
  }

  /** Simulates the day: volumes are created in its first third, are used and moved, and some are deleted. */
  async live(hours: number): Promise<void> {
    const minutes = hours * 60;
    const coming = Math.ceil(this.#size.volumes / (minutes / 3));
    for (let at = 0; at < minutes; at += 1) {
      for (let more = 0; more < coming && this.#workloads.length < this.#size.volumes; more += 1) this.#come();
      for (const workload of this.#some(this.#workloads, coming)) this.#move(workload);
      if (at % 20 === 10) this.#nodeFails();
      if (at % 95 === 50) this.#pluginFails();
      if (at % 60 === 30) this.#rotate();
      await this.clock.advance(minute);
      if (at % 60 === 59) await this.#turnHour();
    }
  }

  /** Stops all faults, brings every node back, and lets hours pass. */
  async settle(): Promise<void> {
    for (const plugin of this.plugins.values()) plugin.health = { healthy: true, description: 'ready' };
    for (const node of [...this.#down]) await this.#comeBack(node);
    for (const plugin of this.plugins.values()) plugin.script = () => undefined;
    await this.clock.advance(3 * hour);
    await this.#turnHour();
  }

  async all(): Promise<Volume[]> {
    const found = await Promise.all(this.#workloads.map(({ id }) => this.runtime.volumes.get({ id })));
    return found.filter((volume) => volume !== undefined);
  }

  #dispenser(): FakePlugin {
    const one = new FakePlugin();
    one.connect = ({ name }) => this.plugins.get(name) ?? one;
    return one;
  }

  #plugin(): FakePlugin {
    const plugin = new FakePlugin();
    plugin.script = (call) => this.#stepFor(plugin, call);
    return plugin;
  }

  /** Scripts a call: slow, and one of twenty fails, some of these after their work. */
  #stepFor(plugin: FakePlugin, { rpc, request }: Call): Step {
    this.now.calls += 1;
    this.#checkSecret(request);
    const isOut = !plugin.health.healthy;
    const takes = (ms: number): Promise<void> =>
      new Promise((resolve) => this.clock.after(ms * this.#random.next(), resolve));
    if (rpc === 'ListVolumes') return isOut ? { code: 'UNAVAILABLE' } : {};
    if (!isOut && this.#random.next() > 0.05) return { after: takes(2 * second) };
    this.now.failures += 1;
    const codes = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'ABORTED', 'INTERNAL'] as const;
    const code = isOut ? 'UNAVAILABLE' : (codes[Math.floor(this.#random.next() * codes.length)] ?? 'ABORTED');
    return { code, work: code !== 'ABORTED' && this.#random.next() < 0.5, after: takes(2 * second) };
  }

  #checkSecret(request: object): void {
    const { secrets } = request as { secrets?: Record<string, string> };
    const given = secrets?.token;
    if (given !== undefined && !this.#valid.has(given)) this.stale.push(given);
  }

  #rotate(): void {
    const before = `secret-${this.#secret}`;
    this.#secret += 1;
    this.#valid.add(`secret-${this.#secret}`);
    // A call under way during the rotation may still use the old secret.
    this.clock.after(minute, () => this.#valid.delete(before));
  }

  #come(): void {
    const at = this.#workloads.length;
    const workload: Workload = {
      id: `v${at}`,
      plugin: `disk-${at % this.#size.plugins}`,
      allocId: `alloc-${at}`,
      generation: 0,
      runs: 0,
      isGone: false,
    };
    this.#workloads.push(workload);
    const capabilities = [{ accessMode, attachmentMode } as const];
    void this.#tries(async () => {
      await this.runtime.volumes.create(
        {
          id: workload.id,
          plugin: workload.plugin,
          capabilities,
          secrets: { token: 'file:token' },
        },
        { wait: true },
      );
      await this.#start(workload);
    });
  }

  #move(workload: Workload): void {
    if (workload.node === undefined || workload.isGone) return;
    void this.#tries(async () => {
      await this.#stop(workload);
      if (workload.runs > 3) await this.#delete(workload);
      else await this.#start(workload);
    });
  }

  async #start(workload: Workload): Promise<void> {
    const ready = this.#nodes().filter((node) => !this.#down.has(node));
    const node = ready[Math.floor(this.#random.next() * ready.length)];
    if (node === undefined) return;
    const allocId = `${workload.allocId}-${workload.runs}`;
    workload.runs += 1;
    const { volumes } = this.runtime;
    const key = { id: workload.id };
    const { generation } = await volumes.claim(key, {
      allocId,
      nodeId: node,
      mode: 'write',
      accessMode,
      attachmentMode,
      wait: true,
    });
    Object.assign(workload, { node, generation });
    await volumes.publish(key, node, { wait: true });
  }

  /** Ends a workload. Its node reports the volume as unmounted once the node is up. */
  async #stop(workload: Workload): Promise<void> {
    const { node = '', generation, id } = workload;
    delete workload.node;
    await this.runtime.volumes.release({ id }, `${workload.allocId}-${workload.runs - 1}`);
    if (!this.#down.has(node)) await this.runtime.nodes.reportUnstaged(node, { id }, { claimGeneration: generation });
  }

  async #delete(workload: Workload): Promise<void> {
    workload.isGone = true;
    const { id } = workload;
    for (;;) {
      try {
        return await this.runtime.volumes.delete({ id });
      } catch (error) {
        // The claim is being released: its node has to report or be fenced first.
        if (!(error instanceof StagecraftError && error.code === 'VOLUME_IN_USE')) throw error;
        await new Promise<void>((resolve) => this.clock.after(5 * minute, resolve));
      }
    }
  }

  /** Takes a node down for five minutes to an hour. After half an hour it is fenced. */
  #nodeFails(): void {
    const [node] = this.#some(this.#nodes(), 1);
    if (node === undefined || this.#down.has(node)) return;
    this.#down.add(node);
    this.now.nodesDown += 1;
    void this.#tries(() => this.runtime.nodes.down(node));
    this.clock.after((5 + 55 * this.#random.next()) * minute, () => void this.#tries(() => this.#comeBack(node)));
  }

  /** Brings a node back. It reports the volumes that it has unmounted. */
  async #comeBack(node: string): Promise<void> {
    if (!this.#down.delete(node)) return;
    await this.#report(node);
    for (const { id } of this.#workloads) {
      const volume = await this.runtime.volumes.get({ id });
      for (const claim of volume?.claims ?? []) {
        if (claim.nodeId !== node || claim.state !== 'unpublishing') continue;
        await this.runtime.nodes.reportUnstaged(node, { id }, { claimGeneration: claim.generation });
      }
    }
  }

  async #report(id: string): Promise<void> {
    const plugins = [...this.plugins.keys()].map((name) => ({ name, nodeId: `${name}@${id}` }));
    await this.runtime.nodes.report({ id, plugins });
  }

  /** Restarts a plugin, which does not answer for ten minutes. */
  #pluginFails(): void {
    const [name] = this.#some([...this.plugins.keys()], 1);
    const plugin = this.plugins.get(name ?? '');
    if (!plugin) return;
    this.now.outages += 1;
    plugin.health = { healthy: false, description: 'restarting' };
    this.clock.after(10 * minute, () => {
      plugin.health = { healthy: true, description: 'ready' };
    });
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ended;
    for await (const event of this.runtime.volumes.updates({ from: '0', signal })) this.#count(event);
  }

  #count(event: VolumeEvent): void {
    const { now } = this;
    if (event.kind === 'created') now.created += 1;
    if (event.kind === 'deleted') now.deleted += 1;
    if (event.kind === 'publication' && event.state === 'published') now.published += 1;
    if (event.kind === 'publication' && event.state === 'removed') now.unpublished += 1;
    if (event.kind === 'claim') this.#countClaim(event);
  }

  /** Counts the claims of a volume. The access mode allows one. */
  #countClaim({ key, allocId, state, fenced }: Extract<VolumeEvent, { kind: 'claim' }>): void {
    const holder = this.#holders.get(key.id);
    if (state === 'taken') {
      this.now.claims += 1;
      if (holder !== undefined) this.surprises.push(`${key.id} was claimed by ${allocId}, but ${holder} has it`);
      this.#holders.set(key.id, allocId);
    }
    if (state === 'released' && holder === allocId) this.#holders.delete(key.id);
    if (state === 'node-detached' && fenced !== undefined) this.now.fenced += 1;
  }

  async #turnHour(): Promise<void> {
    for (const { id, isGone } of this.#workloads) {
      const volume = await this.runtime.volumes.get({ id });
      const publications = Object.values(volume?.publications ?? {});
      const isPending = volume?.state.startsWith('pending') || publications.some(({ state }) => state !== 'published');
      if (isPending || (isGone && volume)) this.now.pending += 1;
    }
    this.hours.push(noHour());
  }

  #nodes(): string[] {
    return Array.from({ length: this.#size.nodes }, (_, at) => `node-${at}`);
  }

  #some<T>(all: T[], count: number): T[] {
    if (all.length === 0) return [];
    return Array.from({ length: count }, () => all[Math.floor(this.#random.next() * all.length)]).filter(
      (one) => one !== undefined,
    );
  }

  /**
   * Runs a request, and ignores refusals that state changes explain. An orchestrator would try again, as happens in the
   * next minute.
   */
  async #tries(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      const refusals = [
        'NODE_NOT_READY',
        'VOLUME_IN_USE',
        'CLAIM_CONFLICT',
        'VOLUME_NOT_FOUND',
        'VOLUME_DELETING',
        'ABORTED',
        'RUNTIME_CLOSED',
      ];
      if (!(error instanceof StagecraftError && refusals.includes(error.code))) this.surprises.push(String(error));
    }
  }
}
