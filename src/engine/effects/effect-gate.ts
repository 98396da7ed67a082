/**
 * Decides when a committed effect may start: only while the lease is held and the store is trusted, and not before its
 * time. Effects of an earlier runtime start in batches, to avoid a stampede after a restart.
 */
import type { Clock } from '../clock.js';
import type { Timer, TimerHeap } from '../timer-heap.js';

export interface Entrance {
  recovered: boolean;
  /** Minimum wait in milliseconds. */
  delayMs: number;
  start(): void;
}

interface Waiting extends Entrance {
  /** On the monotonic clock. */
  notBeforeMs: number;
  timer?: Timer;
}

/** Batch size for effects of an earlier runtime, and the pause between batches. */
const recoveredAtOnce = 100;
const recoveryPauseMs = 100;

export class EffectGate {
  readonly #clock: Clock;
  readonly #timers: TimerHeap;
  readonly #mayOpen: () => boolean;
  /** Effects that wait, by the key that the caller gave to `admit`. */
  readonly #waiting = new Map<object, Waiting>();
  /** Effects of `#waiting` that wait only for their batch. */
  readonly #recovered = new Set<object>();
  /** Free places in this batch. */
  #left = recoveredAtOnce;
  #turn: Timer | undefined;

  /** @param mayOpen asked before each start; call `reopen` once its answer has become true */
  constructor(clock: Clock, timers: TimerHeap, mayOpen: () => boolean) {
    this.#clock = clock;
    this.#timers = timers;
    this.#mayOpen = mayOpen;
  }

  /** Calls `start` at once or later, unless `withdraw` comes first. */
  admit(live: object, entrance: Entrance): void {
    if (!entrance.recovered && entrance.delayMs <= 0 && this.#mayOpen()) {
      entrance.start();
      return;
    }
    this.#waiting.set(live, { ...entrance, notBeforeMs: this.#clock.monotonicMs() + entrance.delayMs });
    this.#try(live);
  }

  withdraw(live: object): void {
    if (this.#waiting.size === 0) return;
    const { timer } = this.#waiting.get(live) ?? {};
    if (timer) this.#timers.cancel(timer);
    this.#waiting.delete(live);
    this.#recovered.delete(live);
  }

  reopen(): void {
    for (const live of [...this.#waiting.keys()]) this.#try(live);
  }

  #try(live: object): void {
    const entrance = this.#waiting.get(live);
    if (!entrance || !this.#mayOpen()) return;
    const leftMs = entrance.notBeforeMs - this.#clock.monotonicMs();
    if (leftMs > 0) {
      if (entrance.timer) this.#timers.cancel(entrance.timer);
      entrance.timer = this.#timers.after(leftMs, () => this.#try(live));
    } else if (entrance.recovered) {
      this.#recovered.add(live);
      this.#startRecovered();
    } else {
      this.#start(live, entrance);
    }
  }

  #startRecovered(): void {
    for (const live of this.#recovered) {
      if (this.#left === 0 || !this.#mayOpen()) return;
      this.#left -= 1;
      this.#turn ??= this.#timers.after(recoveryPauseMs, () => this.#takeTurn());
      this.#recovered.delete(live);
      const entrance = this.#waiting.get(live);
      if (entrance) this.#start(live, entrance);
    }
  }

  #takeTurn(): void {
    this.#turn = undefined;
    this.#left = recoveredAtOnce;
    this.#startRecovered();
  }

  #start(live: object, { start }: Entrance): void {
    this.#waiting.delete(live);
    start();
  }
}
