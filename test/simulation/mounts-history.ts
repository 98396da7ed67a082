/** One history of mounts: users, a plugin, a kernel and a store with their troubles, runtime after runtime; then peace. */
import type { Logger } from '../../src/engine/logger.js';
import type { Store } from '../../src/engine/store.js';
import { MountsAllocs } from './mounts-allocs.js';
import { pluginName } from './mounts-claims.js';
import { type CommittedSnapshot, MountsJudge } from './mounts-judgement.js';
import { type MountsHost, MountsLife } from './mounts-life.js';
import type { MountsPlan, MountsStep } from './mounts-plan.js';
import { MountUsers } from './mounts-users.js';
import { MountsWorld } from './mounts-world.js';
import { memory, type Subject } from './stores.js';
import { Timeline } from './timeline.js';
import { type Witness, witness } from './witness.js';

const chunkMs = 5_000;
const startAgainMs = 1_000;
/** Longest: a hung call, what it undoes, a look at everything; then backoff. */
const peaceMs = 150_000;
/** The same where all that waits says why. */
const explainedMs = 50_000;

export interface MountsEnd {
  faults: string[];
  transcript: string[];
}

export interface MountsHistoryOptions {
  /** Keeps the transcript. */
  isTold?: boolean;
  /** Called with each commit of a mount. */
  committed?(snapshot: CommittedSnapshot): void;
}

export async function mountsHistory(plan: MountsPlan, options: MountsHistoryOptions = {}): Promise<MountsEnd> {
  return new MountsRun(plan, options).run();
}

type StepOf<Do extends MountsStep['do']> = Extract<MountsStep, { do: Do }>;

class MountsRun {
  readonly #plan: MountsPlan;
  readonly #timeline = new Timeline(() => false);
  readonly #lines: string[] = [];
  readonly #isTold: boolean;
  readonly #world: MountsWorld;
  readonly #users: MountUsers;
  readonly #judge: MountsJudge;
  readonly #witness: Witness;
  readonly #host: MountsHost;
  readonly #lives: MountsLife[] = [];
  #subject: Subject | undefined;
  #isOver = false;

  constructor(plan: MountsPlan, { isTold = false, committed }: MountsHistoryOptions) {
    const { seed, traits } = plan;
    const timeline = this.#timeline;
    const tell = (line: string): void => this.#tell(line);
    this.#plan = plan;
    this.#isTold = isTold;
    const world = new MountsWorld({
      ...{ plan, timeline, tell },
      publishing: (caller, name) => {
        const fencedAtMs = world.claims.fencedAtMs.get(name);
        const life = this.#lives.find((one) => one === caller);
        if (fencedAtMs !== undefined && life && fencedAtMs < life.begunAtMs)
          this.#judge.faults.push(`${caller.name} published ${name}, which had lost its hold or claim before`);
      },
      released: (volume, alloc, isLast) => this.#judge.released(volume, alloc, isLast),
      disturbed: () => this.#judge.disturbed(timeline.monotonicMs),
      back: () => this.#life?.pluginBack(pluginName),
    });
    this.#world = world;
    const { kernel, paths, places, claims, plugin } = world;
    const allocs = new MountsAllocs(claims);
    this.#users = new MountUsers({
      ...{ timeline, traits, claims, allocs, tell },
      life: () => (this.#life?.state === 'up' ? this.#life : undefined),
    });
    this.#judge = new MountsJudge({
      ...{ kernel, paths, traits, claims, committed },
      users: this.#users,
      tell: (line) => this.#tell(line),
    });
    this.#witness = witness(timeline, { now: 0 });
    this.#host = {
      ...{ seed, timeline, traits, kernel, paths, places, claims, allocs, tell },
      processes: {
        of: () => ({ process: plugin.process }),
        // Whoever is recorded is what `of` has named.
        hasEnded: async (process) => (process as { process: number }).process < plugin.process,
      },
      logger: silent,
    };
  }

  async run(): Promise<MountsEnd> {
    this.#subject = await memory.make(() => this.#timeline.monotonicMs);
    try {
      await this.#live();
    } catch (error) {
      this.#judge.faults.push(`the history broke off: ${error instanceof Error ? error.stack : error}`);
    }
    this.#isOver = true;
    for (const life of this.#lives) life.kill();
    this.#world.end();
    await this.#subject.dispose();
    const { plugin, driver } = this.#world;
    const judges = [plugin, driver, this.#judge, this.#witness, this.#users];
    return { faults: judges.flatMap(({ faults }) => faults), transcript: this.#lines };
  }

  async #live(): Promise<void> {
    const { steps, traits } = this.#plan;
    await this.#passing(this.#up());
    for (const step of steps) this.#timeline.after(step.atMs, () => this.#do(step));
    await this.#timeline.rest(undefined, (steps.at(-1)?.atMs ?? 0) + 1_000);
    await this.#makePeace();
    await this.#untilSettled();
    this.#judge.rest({ isRetried: false });
    if (traits.isRetried) {
      for (const volume of Object.keys(traits.capabilities)) this.#users.do({ atMs: 0, do: 'retry', volume });
      await this.#untilSettled();
      this.#judge.rest({ isRetried: true });
    }
    this.#users.unmountAll();
    await this.#untilSettled();
    const { plugin, directories } = this.#world;
    // A plugin that takes the place of another does not know what that was at.
    const wasReplaced = steps.some((step) => step.do === 'replace');
    this.#judge.end(wasReplaced ? [] : [...plugin.recorded, ...directories]);
  }

  get #life(): MountsLife | undefined {
    return this.#lives.at(-1);
  }

  /** Nothing goes wrong from here on, and a runtime is up. */
  async #makePeace(): Promise<void> {
    this.#tell('peace');
    this.#world.makePeace();
    this.#isOver = true;
    this.#life?.spare();
    if (this.#life?.state !== 'up' && this.#life?.state !== 'opening') {
      for (const life of this.#lives) life.kill();
      await this.#passing(this.#up());
    }
    await this.#timeline.rest(() => this.#life?.state === 'up', chunkMs);
    this.#life?.pluginBack(pluginName);
    this.#users.do({ atMs: 0, do: 'compare' });
    this.#life?.fenced();
    await this.#timeline.rest(undefined, chunkMs);
    this.#users.do({ atMs: 0, do: 'compare' });
  }

  async #untilSettled(): Promise<void> {
    const begunMs = this.#timeline.monotonicMs;
    const isLate = (): boolean =>
      this.#timeline.monotonicMs >= begunMs + (this.#judge.isExplained ? explainedMs : peaceMs);
    do {
      await this.#timeline.rest(undefined, chunkMs);
      await this.#passing(this.#users.clean());
    } while (!isLate() && !this.#judge.isSettled);
  }

  /** Time passes until it is done. */
  async #passing<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    await this.#timeline.rest(() => isDone, peaceMs);
    return done;
  }

  async #up(): Promise<void> {
    const before = this.#life;
    if (!this.#subject || before?.state === 'opening' || before?.state === 'up') return;
    if (before?.state === 'dead') await this.#subject.crash();
    const others = [...this.#lives];
    const life = new MountsLife({
      host: this.#host,
      number: this.#lives.length + 1,
      store: this.#seen(this.#witness.before(this.#subject.connect())),
      plugins: (caller) => this.#world.port(caller),
    });
    this.#lives.push(life);
    if (this.#isOver) life.spare();
    this.#tell(`${life.name} begins`);
    this.#world.driver.excuse();
    try {
      await life.begin(() => {
        for (const other of others) other.isReplaced = true;
      });
    } catch (error) {
      // As a runtime that can't start: whoever started it tries again.
      this.#tell(`${life.name} does not come up: ${error}`);
      life.kill();
      this.#timeline.after(startAgainMs, () => void this.#up());
    }
  }

  #seen(store: Store): Store {
    return {
      ...store,
      commit: async (items) => {
        const results = await store.commit(items);
        for (const [at, item] of items.entries())
          if (results[at]?.status === 'done') this.#judge.committed(item, this.#timeline.monotonicMs);
        return results;
      },
      appendTopic: (topic, entries) => {
        for (const { text } of entries) this.#tell(`  broadcast: ${text}`);
        return store.appendTopic(topic, entries);
      },
    };
  }

  #do(step: MountsStep): void {
    if (this.#isOver) return;
    switch (step.do) {
      case 'fence':
        this.#fence();
        break;
      case 'crash':
      case 'freeze':
        if (this.#life?.state === 'up') this.#end(this.#life, step);
        break;
      case 'reboot':
        this.#reboot(step);
        break;
      case 'spell':
      case 'plugin':
      case 'replace':
      case 'unreadable':
      case 'claims':
      case 'by-hand':
        this.#world.do(step);
        break;
      default:
        this.#world.driver.excuse();
        this.#users.do(step);
    }
  }

  #fence(): void {
    const { claims } = this.#world;
    this.#tell('the node is fenced');
    claims.fence();
    this.#users.fenced();
    if (claims.trouble === undefined) this.#life?.fenced();
  }

  #end(life: MountsLife, { do: how, of, calls, moment, downMs }: StepOf<'crash' | 'freeze'>): void {
    const { leaseTtlMs } = this.#plan.traits;
    life.endAt({
      ...{ how, of, calls, moment },
      ended: () => {
        this.#users.forget();
        if (how === 'crash') {
          this.#later(downMs, () => void this.#up());
          return;
        }
        this.#later(leaseTtlMs + 1, () => void this.#up());
        this.#later(leaseTtlMs + 1 + downMs, () => life.thaw());
      },
    });
  }

  #reboot({ downMs }: StepOf<'reboot'>): void {
    if (this.#life?.state !== 'up') return;
    this.#tell(`the host goes down for ${downMs} ms`);
    for (const life of this.#lives) life.kill();
    this.#users.forget();
    const isBack = this.#world.goDown();
    this.#later(downMs, () => {
      isBack();
      void this.#up();
    });
  }

  #later(ms: number, work: () => void): void {
    this.#timeline.after(ms, () => {
      if (!this.#isOver) work();
    });
  }

  #tell(line: string | (() => string)): void {
    if (!this.#isTold) return;
    const text = typeof line === 'string' ? line : line();
    this.#lines.push(`${String(this.#timeline.monotonicMs).padStart(8)} ms  ${text}`);
  }
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
