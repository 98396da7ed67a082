/** One runtime on the store of a world, from its begin to whatever end it has. */
import type { EffectCall } from '../../src/engine/effects/effects.js';
import { Engine } from '../../src/engine/engine.js';
import { silentLogger } from '../../src/engine/logger.js';
import type { Store } from '../../src/engine/store.js';
import { seededRandom } from '../../src/testing/index.js';
import { chance, mixed } from './dice.js';
import { type HostedSystem, kindsOf } from './hosted-system.js';
import { lifeStore } from './life-store.js';
import { effectsOf } from './outside.js';
import type { Boundary, LifePlan } from './plan.js';
import { MortalClock } from './timeline.js';
import type { EffectRun, Known, World } from './world.js';

const unknown: Known = { surely: 0, perhaps: 0 };
/** An answer that came later may have been heard by nobody; it is asked for again then. */
const patienceMs = 5_000;

interface LifeOptions {
  world: World;
  store: Store;
  hosted: HostedSystem;
  plan: LifePlan;
  leaseTtlMs: number;
  /** Counted from 1. */
  number: number;
}

export class Life {
  readonly world: World;
  readonly number: number;
  readonly clock: MortalClock;
  /** As it is. */
  readonly store: Store;
  readonly engine: Engine;
  /** `up`: restored, and at work. */
  state: 'opening' | 'up' | 'frozen' | 'stopped' | 'dead' | 'failed' = 'opening';
  failure: unknown;
  /** Whether it was at work when it was asked to stop. */
  wasStoppedWell = false;
  storeCalls = 0;
  effects = 0;
  readonly #plan: LifePlan;
  readonly #known = new Map<string, Known>();
  #owner = '';

  constructor({ world, store, hosted, plan, leaseTtlMs, number }: LifeOptions) {
    this.world = world;
    this.number = number;
    this.#plan = plan;
    this.clock = new MortalClock(world.timeline);
    const { seed } = world.system;
    this.store = store;
    const seen = lifeStore(world.witness.before(store), {
      clock: this.clock,
      seed: mixed(seed, number),
      latencyMs: world.system.latencyMs,
      outages: plan.outages ?? [],
      passed: (at, moment) => {
        this.storeCalls = Math.max(this.storeCalls, at);
        this.pass({ of: 'store', at, moment });
      },
      log: (line) => world.tell(`${this.name}: ${line}`),
    });
    this.engine = new Engine({
      store: this.#watched(seen),
      clock: this.clock,
      random: seededRandom(mixed(seed, 'life', number)),
      logger: silentLogger,
      lease: { name: 'node/n1', holder: this.name, ttlMs: leaseTtlMs },
      // Marks go as soon as they may: the judge keeps them all.
      policy: { marksKeptMs: 0 },
    }).host(kindsOf(hosted, effectsOf(this)));
  }

  get name(): string {
    return `life ${this.number}`;
  }

  get isOver(): boolean {
    return this.state === 'dead' || this.state === 'stopped' || this.state === 'failed';
  }

  /** Opens, restores, and takes requests; what fails in between ends it. */
  async begin(): Promise<void> {
    try {
      await this.engine.open();
      const restored = this.engine.restore(['']);
      const isImpatient = chance(this.world.system.seed, this.number, 'impatient') < 0.5;
      if (isImpatient) this.world.visit(this); // asks while actors are on their way back
      await restored;
      if (!isImpatient) this.world.visit(this);
    } catch (error) {
      this.failure = error;
      this.kill('failed');
      return;
    }
    if (this.state === 'opening') this.state = 'up';
  }

  /** Ends at once, as a power cut does: nothing that it still holds has any influence. */
  kill(state: 'dead' | 'stopped' | 'failed' = 'dead'): void {
    if (this.isOver) return;
    this.world.tell(`${this.name} is ${state}${this.failure ? `: ${this.failure}` : ''}`);
    this.state = state;
    this.clock.kill();
  }

  thaw(): void {
    this.world.tell(`${this.name} goes on`);
    if (this.state === 'frozen') this.state = 'up';
    this.clock.thaw();
  }

  /** Runs what this process does outside, unless it is dead already. */
  living<T>(work: () => Promise<T>): Promise<T> {
    return this.clock.isAlive ? work() : new Promise(() => {});
  }

  /** A boundary is passed; perhaps its plan says that this is the end. */
  pass({ of, at, moment }: Boundary): void {
    const isAt = (planned: Boundary | undefined): boolean =>
      planned?.of === of && planned.at === at && planned.moment === moment;
    const { end, freeze } = this.#plan;
    if (this.isOver) return;
    if (isAt(end?.at)) {
      if (end?.how === 'dies') this.kill();
      else void this.#stop();
    }
    if (isAt(freeze?.at)) {
      this.world.tell(`${this.name} stands still`);
      this.state = 'frozen';
      this.clock.freeze();
    }
  }

  /** An effect has begun. */
  began({ address, id, seq, attempt, signal }: EffectCall): { number: number; end(): void } {
    this.effects += 1;
    const { world, number: life } = this;
    const known = this.#known.get(address) ?? unknown;
    const begunAtMs = world.timeline.nowMs;
    const run: EffectRun = { life, address, id, seq, attempt, known, begunAtMs, signal, isOver: false };
    world.tell(`${this.name}: effect ${address}#${id}#${seq} begins, attempt ${attempt}`);
    if (!world.witness.isOwner(this.#owner)) world.faults.push(`${address}#${id}#${seq} was begun without a lease`);
    const twin = world.runs.find(
      (one) =>
        one.life === life && one.address === address && one.id === id && one.seq === seq && one.attempt === attempt,
    );
    if (twin) world.faults.push(`attempt ${attempt} of ${address}#${id}#${seq} was begun twice in ${this.name}`);
    world.runs.push(run);
    return {
      number: this.effects,
      end: () => {
        run.isOver = true;
        world.tell(`${this.name}: effect ${address}#${id}#${seq} ends`);
      },
    };
  }

  async #stop(): Promise<void> {
    this.world.tell(`${this.name} is asked to stop`);
    this.wasStoppedWell = this.state === 'up';
    await Promise.resolve();
    await this.engine.stop().catch((error) => {
      this.world.faults.push(`stop() threw ${error}`);
    });
    this.kill('stopped');
  }

  /** Notes what this life is told of its actors. */
  #watched(store: Store): Store {
    const know = (address: string, seq: number, isHeard: boolean): void => {
      const { surely, perhaps } = this.#known.get(address) ?? unknown;
      this.#known.set(address, { surely: isHeard ? Math.max(seq, surely) : surely, perhaps: Math.max(seq, perhaps) });
    };
    // One in memory may be on its way to what is read of it, or not heed that.
    const read = (address: string, seq: number): void => know(address, seq, !this.#known.has(address));
    return {
      ...store,
      acquireLease: (request) => {
        this.#owner = request.owner;
        return store.acquireLease(request);
      },
      commit: async (items) => {
        const askedAtMs = this.world.timeline.monotonicMs;
        const results = await store.commit(items);
        const isHeard = this.world.timeline.monotonicMs - askedAtMs < patienceMs;
        for (const [at, { address, expectedSeq, seq }] of items.entries())
          if (results[at]?.status === 'done') know(address, seq ?? expectedSeq + 1, isHeard);
        return results;
      },
      load: async (address) => {
        const record = await store.load(address);
        if (record) read(address, record.seq);
        return record;
      },
      list: async (range) => {
        const page = await store.list(range);
        for (const { address, seq } of page.rows) read(address, seq);
        return page;
      },
    };
  }
}
