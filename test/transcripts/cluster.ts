/**
 * A small cluster in simulated time for transcripts: the real engine with volumes, nodes, mounts and allocs on a store in memory,
 * and a plugin that does what its transcript says. Chance always falls in the middle: every pause is half of the longest one.
 */
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { Random } from '../../src/engine/random.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { messageOf, StagecraftError } from '../../src/errors.js';
import { localClaims } from '../../src/runtime/local-claims.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { lifeStore } from '../simulation/life-store.js';
import { PluginObservations } from '../simulation/plugin-observations.js';
import { memory, type Subject } from '../simulation/stores.js';
import { Timeline } from '../simulation/timeline.js';
import { VolumesLife } from '../simulation/volumes-life.js';
import type { Traits } from '../simulation/volumes-plan.js';
import { type Committed, linesOf } from './lines.js';
import { Output } from './output.js';
import { ScriptedPlugin } from './plugin.js';
import { Worker } from './worker.js';

export const pluginName = 'disk';
const seed = 1;
const startLimitMs = 30_000;

const traits: Traits = {
  ...{ modes: {}, secret: [], lacks: [], isLocking: false, isRetried: false },
  ...{ faults: 0, storeOutages: 0, storeLatencyMs: 0, maxInFlight: 64, leaseTtlMs: 15_000 },
};

interface Running {
  life: VolumesLife;
  /** Absent: a runtime that mounts nothing. */
  worker?: Worker;
}

export class Cluster {
  readonly plugin: ScriptedPlugin;
  readonly output: Output;
  readonly #timeline: Timeline;
  readonly #observations: PluginObservations;
  readonly #subject: Subject;
  /** By address, as committed last. */
  readonly #committed = new Map<string, Committed>();
  readonly #runs: Running[] = [];
  #fencingAfterMs: number | undefined;

  private constructor(timeline: Timeline, output: Output, subject: Subject) {
    this.#timeline = timeline;
    this.#subject = subject;
    this.output = output;
    this.plugin = new ScriptedPlugin({
      timeline,
      begun: (call) => output.callBegun(call),
      ended: (call, outcome, isHeard) => output.callEnded(call, isHeard ? outcome : `${outcome}, which nobody hears`),
    });
    this.#observations = new PluginObservations(timeline, this.plugin.capabilities);
  }

  static async make(): Promise<Cluster> {
    const output: Output = new Output(() => timeline);
    const timeline: Timeline = new Timeline(() => output.isBusy());
    return new Cluster(timeline, output, await memory.make(() => timeline.monotonicMs));
  }

  async dispose(): Promise<void> {
    for (const { life } of this.#runs) life.kill();
    this.#observations.end();
    await this.#subject.dispose();
  }

  /** The runtime that is up. */
  get running(): Running {
    const running = this.#runs.at(-1);
    if (running?.life.state !== 'up') throw new Error('no runtime is up: start one');
    return running;
  }

  /** The node side of the runtime that is up. */
  get worker(): Worker {
    const { worker } = this.running;
    if (!worker) throw new Error('the runtime mounts nothing: start it on a node');
    return worker;
  }

  /** Lets time pass; 0: all present work comes to rest. */
  async pass(ms: number): Promise<void> {
    await this.#timeline.rest(undefined, ms);
  }

  committed(address: string): Committed | undefined {
    return this.#committed.get(address);
  }

  /** Says what becomes of a request, whenever that is. */
  ask(what: string, work: (running: Running) => Promise<unknown>): void {
    const { running } = this;
    const said = (outcome: string): void => {
      if (running.life.isAlive) this.output.reply(`${what} → ${outcome}`);
    };
    work(running).then(
      () => said('OK'),
      (error: unknown) =>
        said(error instanceof StagecraftError ? `${error.code}: ${messageOf(error)}` : messageOf(error)),
    );
  }

  /** Calls under way are lost, and no call is answered until it is back. */
  pluginDies(forMs: number): void {
    this.plugin.die();
    this.#observations.worsen('dead', forMs, () => {
      this.plugin.isDead = false;
      this.output.line('the plugin answers again');
    });
  }

  /** Of runtimes that start from now on. */
  fenceAfter(ms: number): void {
    this.#fencingAfterMs = ms;
  }

  /** @param nodeId the node whose mounts it has; absent: none */
  async start(nodeId?: string): Promise<void> {
    const before = this.#runs.at(-1);
    if (before?.life.isAlive) throw new Error('a runtime is up: kill it first');
    if (before) await this.#subject.crash();
    const number = this.#runs.length + 1;
    const store = this.#seen(this.#subject.connect());
    const life = new VolumesLife({
      ...{ seed, number, store, timeline: this.#timeline, random: middling(number), logger: silentLogger },
      traits: { ...traits, ...(this.#fencingAfterMs !== undefined && { fencingAfterMs: this.#fencingAfterMs }) },
      plugins: (caller) => this.#observations.port(caller, () => this.plugin.line(caller.clock)),
      secrets: { resolve: async () => ({}) },
      tell: () => {},
    });
    const worker = nodeId === undefined ? undefined : this.#worker(nodeId, { life, number, store });
    this.#runs.push({ life, ...(worker && { worker }) });
    let isUp = false;
    const begun = life
      .begin(() => {}, worker ? ['volume/', 'node/'] : [''])
      .then(() => worker?.begin())
      .finally(() => {
        isUp = true;
      });
    await this.#timeline.rest(() => isUp, startLimitMs);
    await begun;
  }

  /** The runtime ends as by SIGKILL: nothing of it happens any more. */
  kill(): void {
    this.running.life.kill();
  }

  #worker(nodeId: string, { life, number, store }: { life: VolumesLife; number: number; store: Store }): Worker {
    const { clock } = life;
    return new Worker({
      ...{ nodeId, clock, holder: life.name, random: middling(-number), kernel: this.plugin.kernel },
      store: lifeStore(store, { clock, seed, latencyMs: 0, outages: [], passed: () => {}, log: () => {} }),
      claims: localClaims(life.volumes),
      plugins: this.#observations.port(life, () => this.plugin.line(clock)),
    });
  }

  #seen(store: Store): Store {
    return {
      ...store,
      commit: async (items) => {
        this.output.stir();
        const results = await store.commit(items);
        for (const [at, item] of items.entries()) if (results[at]?.status === 'done') this.#saw(item);
        return results;
      },
    };
  }

  #saw({ address, text, seq, expectedSeq }: Commit): void {
    const { snapshot } = decodeRecord(text);
    const before = this.#committed.get(address);
    if (snapshot) this.#committed.set(address, { value: snapshot.value, context: snapshot.context });
    else this.#committed.delete(address);
    const after = this.#committed.get(address);
    if (after && address.startsWith('volume/') && 'name' in after.context)
      this.output.name(String(after.context.name), address.split('/').at(-1) ?? '');
    for (const line of linesOf(address, { seq: seq ?? expectedSeq + 1, before, after })) this.output.line(line);
  }
}

const middling = (number: number): Random => ({ ...seededRandom(number), next: () => 0.5 });
