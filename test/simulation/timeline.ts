/**
 * Simulated time, made for many short runs: one turn of the event loop between two timers lets all promises come to
 * rest; where a store really waits (a disk, a server), as many turns as that takes.
 * Each life looks at it through a clock of its own, that ends or stands still with it.
 */
import type { Clock } from '../../src/engine/clock.js';

interface Timer {
  dueAtMs: number;
  order: number;
  callback: () => void;
}

/** What is due later than this from now keeps nobody from rest: the renewal of a long lease, a look at the store now and then. */
const farMs = 200_000;
/** Timers in one rest, beyond which it counts as endless. */
const mostTimers = 20_000;
const startMs = Date.UTC(2026, 0, 1);

export class Timeline {
  /** Since the beginning; counts from 0, so that fractions of a millisecond are not lost. */
  monotonicMs = 0;
  readonly #timers: Timer[] = [];
  readonly #isBusy: () => boolean;
  #orders = 0;

  /** @param isBusy whether something outside of this process is under way */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy;
  }

  /** Milliseconds since the epoch. */
  get nowMs(): number {
    return startMs + this.monotonicMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    this.#orders += 1;
    const timer: Timer = { dueAtMs: this.monotonicMs + Math.max(delayMs, 0), order: this.#orders, callback };
    const before = this.#timers.findLastIndex(({ dueAtMs }) => dueAtMs <= timer.dueAtMs);
    this.#timers.splice(before + 1, 0, timer);
    return () => {
      const at = this.#timers.indexOf(timer);
      if (at >= 0) this.#timers.splice(at, 1);
    };
  }

  /** Lets time pass until nothing is due soon, or `until` holds; at most for `atMostMs`. Answers whether it is at rest. */
  async rest(until: () => boolean = () => false, atMostMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    const lastMs = this.monotonicMs + atMostMs;
    for (let fired = 0; fired < mostTimers; fired += 1) {
      await this.#settle();
      const next = this.#timers[0];
      if (until()) return false;
      if (!next || next.dueAtMs > this.monotonicMs + farMs) return true;
      if (next.dueAtMs > lastMs) {
        this.monotonicMs = lastMs;
        return false;
      }
      this.#timers.shift();
      this.monotonicMs = Math.max(this.monotonicMs, next.dueAtMs);
      next.callback();
    }
    throw new Error('this never comes to rest');
  }

  async #settle(): Promise<void> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#isBusy());
  }
}

/** Time as one process sees it: nothing of it happens once that is dead, and while it is frozen, nothing yet. */
export class MortalClock implements Clock {
  readonly #timeline: Timeline;
  #isAlive = true;
  #thawing: (() => void)[] | undefined;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  now(): number {
    return this.#timeline.nowMs;
  }

  monotonicMs(): number {
    return this.#timeline.monotonicMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#timeline.after(delayMs, () => this.whenAwake(() => isCancelled || callback()));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Runs this now, after the thaw, or never. */
  whenAwake(work: () => void): void {
    if (!this.#isAlive) return;
    if (this.#thawing) this.#thawing.push(work);
    else work();
  }

  /** Resolves now, after the thaw, or never. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.whenAwake(resolve));
  }

  freeze(): void {
    this.#thawing ??= [];
  }

  thaw(): void {
    const works = this.#thawing ?? [];
    this.#thawing = undefined;
    for (const work of works) this.whenAwake(work);
  }

  kill(): void {
    this.#isAlive = false;
    this.#thawing = undefined;
  }
}
