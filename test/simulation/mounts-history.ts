/** One history of mounts: users, a plugin, a kernel and a store with their troubles, runtime after runtime; then peace. */
import { isDeepStrictEqual } from 'node:util';
import { mountAddress } from '../../machines/kit/addresses.js';
import type { MountContext } from '../../machines/mount/types.js';
import { decodeRecord } from '../../src/engine/actor/actor-record.js';
import type { ActorPolicy } from '../../src/engine/actor/policy.js';
import type { Logger } from '../../src/engine/logger.js';
import type { Commit, Store } from '../../src/engine/store.js';
import { HistoryTranscript, type TranscriptOptions } from './history-transcript.js';
import { MountsAllocs } from './mounts-allocs.js';
import { pluginName } from './mounts-claims.js';
import { type CommittedSnapshot, MountsJudge } from './mounts-judgement.js';
import { type MountsHost, MountsLife, nodeId } from './mounts-life.js';
import { type MountsMoment, takeUpWorld, worldNow } from './mounts-moment.js';
import type { MountsPlan, MountsStep } from './mounts-plan.js';
import { MountUsers } from './mounts-users.js';
import { MountsWorld } from './mounts-world.js';
import { memory, type Subject, type SubjectKind } from './stores.js';
import { Timeline } from './timeline.js';
import { type Witness, witness } from './witness.js';
import { type Write, withWrites, writeAgain } from './writes.js';

const chunkMs = 5_000;
const startAgainMs = 1_000;
/** Longest: a hung call, what it undoes, a look at everything; then backoff. */
const peaceMs = 150_000;
/** The same where all that waits says why. */
const explainedMs = 50_000;

interface MountsEnd {
  faults: string[];
  transcript: string[];
}

interface MountsHistoryOptions extends TranscriptOptions {
  /** Called with each commit of a mount. */
  committed?(snapshot: CommittedSnapshot): void;
  /** Called with each commit that was written, in order. */
  wrote?(commit: Commit, run: MountsRun): void;
  /** Called with each write that the store has taken, in order. */
  written?(write: Write): void;
  /** Where it goes on from another history; default: it begins. Then no step of its plan is done. */
  from?: MountsMoment;
  /** Default: memory. */
  stores?: SubjectKind;
  /** Limits that differ from those of an engine by default. */
  policy?: Partial<ActorPolicy>;
  /** Plays a history that was recorded with version 3, or an earlier one: asked-as-before.ts */
  isAskedAsBefore?: boolean;
}

export async function mountsHistory(plan: MountsPlan, options: MountsHistoryOptions = {}): Promise<MountsEnd> {
  return new MountsRun(plan, options).run();
}

type StepOf<Do extends MountsStep['do']> = Extract<MountsStep, { do: Do }>;

class MountsRun {
  readonly #plan: MountsPlan;
  readonly #calls = { now: 0 };
  readonly #timeline = new Timeline(() => this.#calls.now > 0);
  readonly #transcript: HistoryTranscript;
  readonly #options: MountsHistoryOptions;
  readonly #world: MountsWorld;
  readonly #users: MountUsers;
  readonly #judge: MountsJudge;
  readonly #witness: Witness;
  readonly #host: MountsHost;
  readonly #lives: MountsLife[] = [];
  #subject: Subject | undefined;
  #isOver = false;

  constructor(plan: MountsPlan, options: MountsHistoryOptions) {
    const { committed, from } = options;
    const { seed, traits } = plan;
    const timeline = this.#timeline;
    const transcript = new HistoryTranscript(timeline, options);
    const tell = (line: string): void => transcript.call(line);
    this.#transcript = transcript;
    this.#plan = plan;
    this.#options = options;
    timeline.monotonicMs = from?.atMs ?? 0;
    const world = new MountsWorld({
      ...{ plan, timeline, transcript },
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
      ...{ timeline, traits, claims, allocs },
      tell: (line) => transcript.answer(line),
      life: () => (this.#life?.state === 'up' ? this.#life : undefined),
    });
    this.#judge = new MountsJudge({
      ...{ kernel, paths, traits, claims, committed },
      users: this.#users,
      tell: (line) => transcript.state(line),
    });
    this.#witness = witness(timeline, this.#calls);
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
    const { from, stores = memory } = this.#options;
    this.#subject = await stores.make(() => this.#timeline.monotonicMs);
    try {
      if (from) await this.#goOn(from);
      else await this.#live();
      await this.#end();
    } catch (error) {
      this.#judge.faults.push(`the history broke off: ${error instanceof Error ? error.stack : error}`);
    }
    this.#isOver = true;
    for (const life of this.#lives) life.kill();
    this.#world.end();
    await this.#subject.dispose();
    const { plugin, driver } = this.#world;
    const judges = [plugin, driver, this.#judge, this.#witness, this.#users];
    return { faults: judges.flatMap(({ faults }) => faults), transcript: this.#transcript.lines };
  }

  /** Since the beginning of the history. */
  get atMs(): number {
    return this.#timeline.monotonicMs;
  }

  /** What a runtime would find here, were this one to end now. */
  moment(shows: string[], writes: Write[]): MountsMoment {
    const atMs = this.#timeline.monotonicMs;
    return { shows, plan: this.#plan, atMs, writes, ...worldNow(this.#world, this.#host.allocs) };
  }

  /** Everything that was under way comes to its end. */
  async #goOn(from: MountsMoment): Promise<void> {
    if (!this.#subject) throw new Error('it has no store');
    takeUpWorld(from, this.#world, this.#host.allocs);
    this.#isOver = true;
    this.#judge.disturbed(this.#timeline.monotonicMs);
    this.#world.makePeace();
    const store = this.#witness.before(this.#subject.connect());
    await this.#passing(store.open().then(() => writeAgain(store, from.writes)));
    await this.#makePeace();
    for (const volume of Object.keys(from.plan.traits.capabilities)) {
      const address = mountAddress(nodeId, 'default', volume);
      const view = this.#life?.engine.peek(address);
      // What is at this address was made by the machine of mounts.
      if (view) this.#judge.sees({ address, value: view.state, context: view.context as MountContext });
    }
    await this.#untilSettled();
    await this.#readJournals();
  }

  /** The journal of each actor leads to what it is. */
  async #readJournals(): Promise<void> {
    const { engine } = this.#life ?? {};
    if (!engine) throw new Error('nobody is there');
    for (const [address, commits] of this.#witness.commits) {
      const { snapshot } = decodeRecord(commits.at(-1)?.text ?? '');
      const replayed = await this.#passing(engine.journals.replay(address));
      if (!isDeepStrictEqual(replayed.snapshot, snapshot))
        this.#judge.faults.push(`the journal of ${address} leads to ${JSON.stringify(replayed)}`);
    }
  }

  async #live(): Promise<void> {
    const { steps } = this.#plan;
    await this.#passing(this.#up());
    for (const step of steps) this.#timeline.after(step.atMs, () => this.#do(step));
    await this.#timeline.rest(undefined, (steps.at(-1)?.atMs ?? 0) + 1_000);
    await this.#makePeace();
    await this.#untilSettled();
  }

  /** All is as it should be, and all is unmounted. */
  async #end(): Promise<void> {
    const { steps, traits } = this.#plan;
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
    this.#transcript.call('peace');
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
      // None is called as one before the moment: names and chance come of the number.
      number: this.#lives.length + (this.#options.from ? 101 : 1),
      store: this.#seen(this.#witness.before(this.#written(this.#subject.connect()))),
      plugins: (caller) => this.#world.port(caller),
      policy: this.#options.policy ?? {},
      isAskedAsBefore: this.#options.isAskedAsBefore ?? false,
    });
    this.#lives.push(life);
    if (this.#isOver) life.spare();
    this.#transcript.call(`${life.name} begins`);
    this.#world.driver.excuse();
    try {
      await life.begin(() => {
        for (const other of others) other.isReplaced = true;
      });
    } catch (error) {
      // As a runtime that can't start: whoever started it tries again.
      this.#transcript.call(`${life.name} does not come up: ${error}`);
      life.kill();
      this.#timeline.after(startAgainMs, () => void this.#up());
    }
  }

  #written(store: Store): Store {
    const { written } = this.#options;
    return written ? withWrites(store, written) : store;
  }

  #seen(store: Store): Store {
    return {
      ...store,
      commit: async (items) => {
        const results = await store.commit(items);
        for (const [at, item] of items.entries()) {
          if (results[at]?.status !== 'done') continue;
          this.#judge.committed(item, this.#timeline.monotonicMs);
          this.#options.wrote?.(item, this);
        }
        return results;
      },
      appendTopic: (topic, entries) => {
        for (const { text } of entries) this.#transcript.answer(`  broadcast: ${text}`);
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
        if (this.#life?.state === 'up') this.#endLife(this.#life, step);
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
    this.#transcript.call('the node is fenced');
    claims.fence();
    this.#users.fenced();
    if (claims.trouble === undefined) this.#life?.fenced();
  }

  #endLife(life: MountsLife, { do: how, of, calls, moment, downMs }: StepOf<'crash' | 'freeze'>): void {
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
    this.#transcript.call(`the host goes down for ${downMs} ms`);
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
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
