/** One history: a system lives through a plan, life after life, until all has come to rest. What is left is judged. */
import { chance } from './dice.js';
import type { HostedSystem } from './hosted-system.js';
import { Life } from './life.js';
import type { LifePlan, Plan } from './plan.js';
import type { Subject, SubjectKind } from './stores.js';
import { Timeline } from './timeline.js';
import { type Witness, witness } from './witness.js';
import { World } from './world.js';

/** How a history ended. */
export interface History {
  world: World;
  /** All that there were; the last one is up and at rest. */
  lives: Life[];
}

/** Long enough for the longest backoff of a system in good order. */
const aWhileMs = 60_000;
/** Timers fall due meanwhile, and requests pile up. */
const downtimeMs = 400;
const mostLives = 8;

interface HistoryOptions {
  hosted: HostedSystem;
  plan: Plan;
  stores: SubjectKind;
  isTold?: boolean;
}

/** Hands the end to `judge` before the store goes. */
export async function history<T>(options: HistoryOptions, judge: (end: History) => Promise<T> | T): Promise<T> {
  const calls = { now: 0 };
  const timeline = new Timeline(() => calls.now > 0);
  const subject = await options.stores.make(() => timeline.monotonicMs);
  const seen = witness(timeline, calls);
  const world = new World({ system: options.hosted.system, timeline, witness: seen, isTold: options.isTold ?? false });
  const run = new Run(options, { world, subject, witness: seen });
  try {
    await run.run();
    return await judge({ world, lives: run.lives });
  } finally {
    for (const life of run.lives) life.kill();
    await subject.dispose();
  }
}

class Run {
  readonly lives: Life[] = [];
  readonly #options: HistoryOptions;
  readonly #world: World;
  readonly #subject: Subject;
  readonly #witness: Witness;

  constructor(options: HistoryOptions, given: { world: World; subject: Subject; witness: Witness }) {
    this.#options = options;
    this.#world = given.world;
    this.#subject = given.subject;
    this.#witness = given.witness;
  }

  async run(): Promise<void> {
    for (const plan of this.#options.plan.lives) await this.#live(plan);
    // Whatever has happened: in the end there is one that nothing happens to.
    while (this.lives.at(-1)?.state !== 'up') {
      if (this.lives.length === mostLives) throw new Error(`no life comes up: ${this.lives.at(-1)?.failure}`);
      await this.#live({});
    }
  }

  async #live(plan: LifePlan): Promise<void> {
    await this.#endAll();
    const life = this.#begin(plan);
    await this.#rest(() => life.isOver || life.state === 'frozen');
    if (life.state === 'failed' && this.lives.at(-2)?.wasStoppedWell)
      this.#world.faults.push(`nothing comes up after a stop: ${life.failure}`);
    if (life.state === 'frozen') await this.#outlive(life, plan);
  }

  #begin(plan: LifePlan): Life {
    const { hosted, plan: whole } = this.#options;
    const number = this.lives.length + 1;
    const store = this.#subject.connect();
    const life = new Life({ world: this.#world, store, hosted, plan, leaseTtlMs: whole.leaseTtlMs, number });
    this.lives.push(life);
    void life.begin();
    return life;
  }

  /** While it stands still, its lease lapses; then it goes on. */
  async #outlive(frozen: Life, { freeze }: LifePlan): Promise<void> {
    const { leaseTtlMs } = this.#options.plan;
    await this.#pass(leaseTtlMs + 1);
    if (freeze?.until === 'its lease lapses') {
      frozen.thaw();
      return this.#pass(aWhileMs);
    }
    const successor = this.#begin({});
    if (freeze?.until === 'it is taken over') {
      await this.#pass(aWhileMs);
      frozen.thaw();
      await this.#pass(aWhileMs);
    } else {
      await this.#pass(200);
      successor.kill();
      frozen.thaw();
      await this.#pass(aWhileMs);
      frozen.kill();
    }
  }

  /** No process is left, and what it held of the store is gone. */
  async #endAll(): Promise<void> {
    if (this.lives.length === 0) return;
    for (const life of this.lives) life.kill();
    const isStopped = this.lives.at(-1)?.state === 'stopped' && this.lives.at(-1)?.wasStoppedWell;
    await this.#pass(chance(this.#world.system.seed, this.lives.length, 'downtime') < 0.5 ? 0 : downtimeMs);
    if (isStopped) return; // it has given back all that it held
    await this.#subject.crash();
    if (this.#subject.losesLeases) this.#witness.forgetLeases();
    else await this.#pass(this.#options.plan.leaseTtlMs + 1);
  }

  async #rest(until: () => boolean): Promise<void> {
    const isShort = this.#options.plan.leaseTtlMs < aWhileMs;
    await this.#world.timeline.rest(until, isShort ? aWhileMs : undefined);
  }

  async #pass(ms: number): Promise<void> {
    await this.#world.timeline.rest(undefined, ms);
  }
}
