/**
 * A small cluster in simulated time for transcripts: the real engine with volumes and nodes on a store in memory, and a plugin
 * that does what its transcript says. Chance always falls in the middle, so that every pause is half of the longest.
 */

import { decodeEnvelope } from '../../src/engine/envelope.js';
import type { Random } from '../../src/engine/random.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { messageOf, StagecraftError } from '../../src/errors.js';
import { seededRandom } from '../../src/testing/seeded-random.js';
import { memory, type Subject } from '../simulation/stores.js';
import { Timeline } from '../simulation/timeline.js';
import { SimulatedDriver } from '../simulation/volumes-driver.js';
import { VolumesLife } from '../simulation/volumes-life.js';
import type { Traits } from '../simulation/volumes-plan.js';
import { PluginSights } from '../simulation/volumes-sights.js';
import type { Call, Step } from '../volumes/fake-plugin.js';
import { type Committed, linesOf } from './lines.js';

export const pluginName = 'disk';
const seed = 1;
/** Turns of the event loop without news, after which all present work has come to rest. */
const quietTurns = 10;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const traits: Traits = {
  ...{ modes: {}, secret: [], lacks: [], isLocking: false, isRetried: false },
  ...{ faults: 0, storeOutages: 0, storeLatencyMs: 0, maxInFlight: 64, leaseTtlMs: 15_000 },
};

/** How one call goes. Absent parts: it is done at once, and answered OK. */
export interface CallPlan extends Pick<Step, 'code' | 'work'> {
  takesMs?: number;
  /** No answer ever comes. */
  isSilent?: boolean;
}

export class Cluster {
  readonly #timeline: Timeline;
  readonly #driver: SimulatedDriver;
  readonly #sights: PluginSights;
  readonly #subject: Subject;
  readonly #plans = new Map<string, CallPlan[]>();
  /** By address, as committed last. */
  readonly #committed = new Map<string, Committed>();
  readonly #lives: VolumesLife[] = [];
  /** By the plugin's name of a volume: the name that its users know. */
  readonly #names = new Map<string, string>();
  #lines: string[] = [];
  #replies: string[] = [];
  /** Calls that the plugin is at. */
  readonly #open = new Set<() => void>();
  /** Time of the last line. */
  #saidAtMs = 0;
  #quiet = 0;
  #fencingAfterMs: number | undefined;

  private constructor(timeline: Timeline, subject: Subject) {
    this.#timeline = timeline;
    this.#subject = subject;
    const tell = (line: string): void => this.#tellCall(line);
    this.#driver = new SimulatedDriver({ ...{ seed, timeline, faults: 0, isLocking: false, denies: false }, tell });
    const { plugin } = this.#driver;
    plugin.script = (call) => this.#stepOf(call);
    this.#sights = new PluginSights(timeline, new Set(plugin.capabilities));
  }

  static async start(): Promise<Cluster> {
    const found: { cluster?: Cluster } = {};
    const timeline = new Timeline(() => found.cluster?.isBusy() === true);
    const cluster = new Cluster(timeline, await memory.make(() => timeline.monotonicMs));
    found.cluster = cluster;
    return cluster;
  }

  async dispose(): Promise<void> {
    for (const life of this.#lives) life.kill();
    this.#sights.end();
    await this.#subject.dispose();
  }

  /** The runtime that is up. */
  get life(): VolumesLife {
    const life = this.#lives.at(-1);
    if (life?.state !== 'up') throw new Error('no runtime is up: start one');
    return life;
  }

  /** What was said since the last time. */
  taken(): string[] {
    this.#tellReplies();
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  tell(line: string): void {
    this.#quiet = 0;
    const nowMs = this.#timeline.monotonicMs;
    if (nowMs !== this.#saidAtMs) {
      this.#tellReplies();
      this.#lines.push(`at ${(nowMs / 1_000).toFixed(3)} s`);
    }
    this.#saidAtMs = nowMs;
    this.#lines.push(line);
  }

  /** Last of all that happens at a time, so that their place says nothing of promises in this process. */
  #tellReplies(): void {
    this.#lines.push(...this.#replies);
    this.#replies = [];
  }

  /** Lets time pass; 0: all present work comes to rest. */
  async pass(ms: number): Promise<void> {
    await this.#timeline.rest(undefined, ms);
  }

  committed(address: string): Committed | undefined {
    return this.#committed.get(address);
  }

  /** Whatever should not be at the end of a transcript: calls that break CSI's rules, plans for calls that never came. */
  faults(): string[] {
    const unused = [...this.#plans].flatMap(([rpc, plans]) =>
      plans.length > 0 ? [`no ${rpc} came for its plan`] : [],
    );
    return [...this.#driver.plugin.wrongs, ...this.#driver.faults, ...unused];
  }

  /** Says what becomes of a request, whenever that is. */
  ask(what: string, work: (life: VolumesLife) => Promise<unknown>): void {
    const { life } = this;
    const said = (outcome: string): void => {
      if (!life.isAlive) return;
      this.#quiet = 0;
      this.#replies.push(`reply  ${what} → ${outcome}`);
    };
    work(life).then(
      () => said('OK'),
      (error: unknown) =>
        said(error instanceof StagecraftError ? `${error.code}: ${messageOf(error)}` : messageOf(error)),
    );
  }

  plan(rpc: string, plan: CallPlan): void {
    this.#plans.set(rpc, [...(this.#plans.get(rpc) ?? []), plan]);
  }

  /** Calls under way fail, and all that come before it is back. */
  pluginDies(forMs: number): void {
    for (const fail of [...this.#open]) fail();
    this.#driver.die();
    this.#sights.worsen('dead', forMs, () => {
      this.#driver.isDead = false;
      this.tell('the plugin answers again');
    });
  }

  /** Of runtimes that start from now on. */
  fenceAfter(ms: number): void {
    this.#fencingAfterMs = ms;
  }

  async start(): Promise<void> {
    const before = this.#lives.at(-1);
    if (before?.isAlive) throw new Error('a runtime is up: kill it first');
    if (before) await this.#subject.crash();
    const number = this.#lives.length + 1;
    const life = new VolumesLife({
      ...{ seed, number, timeline: this.#timeline, random: middling(number), logger: silent },
      store: this.#seen(this.#subject.connect()),
      traits: { ...traits, ...(this.#fencingAfterMs !== undefined && { fencingAfterMs: this.#fencingAfterMs }) },
      plugins: (caller) => this.#sights.port(caller, () => this.#driver.line(caller)),
      secrets: { resolve: async () => ({}) },
      tell: () => {},
    });
    const others = [...this.#lives];
    this.#lives.push(life);
    let isUp = false;
    const begun = life
      .begin(() => {
        for (const other of others) other.isReplaced = true;
      })
      .then(() => {
        isUp = true;
      });
    await this.#timeline.rest(() => isUp, traits.leaseTtlMs * 2);
    await begun;
  }

  /** The runtime ends as by SIGKILL: nothing of it happens any more. */
  kill(): void {
    this.life.kill();
  }

  isBusy(): boolean {
    this.#quiet += 1;
    if (this.#quiet < quietTurns) return true;
    this.#quiet = 0;
    return false;
  }

  #stepOf({ rpc }: Call): Step {
    const { takesMs, isSilent, ...step } = this.#plans.get(rpc)?.shift() ?? {};
    if (isSilent) return { ...step, [step.work === false ? 'before' : 'after']: new Promise(() => {}) };
    return takesMs === undefined ? step : { ...step, before: this.#atWork(takesMs) };
  }

  /** Rejects where the plugin dies meanwhile. */
  #atWork(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => {
        cancel();
        this.#open.delete(fail);
        reject(new Error('the plugin has died'));
      };
      const cancel = this.#timeline.after(ms, () => {
        this.#open.delete(fail);
        resolve();
      });
      this.#open.add(fail);
    });
  }

  #seen(store: Store): Store {
    return {
      ...store,
      commit: async (items) => {
        this.#quiet = 0;
        const results = await store.commit(items);
        for (const [at, item] of items.entries()) if (results[at]?.status === 'done') this.#saw(item);
        return results;
      },
    };
  }

  #saw({ address, text, seq, expectedSeq }: Commit): void {
    const { snapshot } = decodeEnvelope(text);
    const before = this.#committed.get(address);
    if (snapshot) this.#committed.set(address, { value: snapshot.value, context: snapshot.context });
    else this.#committed.delete(address);
    const after = this.#committed.get(address);
    const [kind = '', namespace = '', id = ''] = address.split('/');
    if (after && kind === 'volume' && 'name' in after.context && typeof after.context.name === 'string')
      this.#names.set(after.context.name, namespace === 'default' ? id : `${namespace}/${id}`);
    for (const line of linesOf(address, { seq: seq ?? expectedSeq + 1, before, after })) this.tell(line);
  }

  /** `life 1: csi CreateVolume sc-… → OK`, in the names that users know; a call that is answered at once is one line. */
  #tellCall(line: string): void {
    const [, life, what = line, outcome] = line.match(/^life (\d+): csi (.*?)(?: → (.*))?$/) ?? [];
    const call = `csi  ${what.replace(/ (\S+)/, (_, name: string) => ` ${this.#names.get(name) ?? name}`)}`;
    if (outcome === undefined) {
      this.tell(call);
      return;
    }
    const isNow = this.#saidAtMs === this.#timeline.monotonicMs;
    const begun = this.#lines.indexOf(call, isNow ? this.#lines.findLastIndex(isTime) + 1 : this.#lines.length);
    if (begun >= 0) this.#lines.splice(begun, 1);
    const isHeard = this.#lives[Number(life) - 1]?.isAlive === true;
    this.tell(`${call} → ${outcome}${isHeard ? '' : ', which nobody hears'}`);
  }
}

const isTime = (line: string): boolean => line.startsWith('at ');

const middling = (number: number): Random => ({ ...seededRandom(number), next: () => 0.5 });
