/**
 * All timers of one runtime in one heap, behind a single timer of the clock for the earliest. Setting and cancelling
 * cost almost nothing. Counts on the monotonic clock, so that a clock set back delays no timer.
 */
import type { Clock } from './clock.js';

/** Handle of one timer, for `cancel`. */
export interface Timer {
  readonly dueAtMs: number;
  /** Timers of the same moment fire in this order. */
  readonly order: number;
  /** Absent once the timer has fired or was cancelled. */
  fire: (() => void) | undefined;
}

/** Cancelled timers stay in the heap until they come up, or until they are more than half of the heap. */
const fewTimers = 1_024;

export class TimerHeap {
  readonly #clock: Clock;
  #heap: Timer[] = [];
  #cancelled = 0;
  #order = 0;
  /** Moment of the clock's next call; Infinity: the clock's timer is not set. */
  #armedForMs = Number.POSITIVE_INFINITY;
  #disarm: () => void = () => {};
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#heap.length - this.#cancelled;
  }

  /** Calls `fire` after the delay, in a turn of its own. */
  after(delayMs: number, fire: () => void): Timer {
    if (this.#isStopped) return { dueAtMs: Number.POSITIVE_INFINITY, order: 0, fire: undefined };
    this.#order += 1;
    const timer: Timer = { dueAtMs: this.#clock.monotonicMs() + Math.max(delayMs, 0), order: this.#order, fire };
    this.#push(timer);
    if (timer.dueAtMs < this.#armedForMs) this.#arm(timer.dueAtMs);
    return timer;
  }

  /** Safe to repeat, also on a timer that has fired. */
  cancel(timer: Timer): void {
    if (!timer.fire) return;
    timer.fire = undefined;
    this.#cancelled += 1;
    if (this.#cancelled === this.#heap.length) this.#clear();
    else if (this.#cancelled > fewTimers && this.#cancelled > this.#heap.length / 2) this.#sweep();
  }

  /** Cancels all timers and accepts no more. */
  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  #clear(): void {
    this.#disarm();
    this.#armedForMs = Number.POSITIVE_INFINITY;
    for (const timer of this.#heap.splice(0)) timer.fire = undefined;
    this.#cancelled = 0;
  }

  #arm(atMs: number): void {
    this.#disarm();
    this.#armedForMs = atMs;
    this.#disarm = this.#clock.after(atMs - this.#clock.monotonicMs(), () => this.#run());
  }

  /** Fires due timers; timers set meanwhile wait for the next turn. */
  #run(): void {
    this.#armedForMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    const newest = this.#order;
    try {
      for (let first = this.#heap[0]; first; first = this.#heap[0]) {
        const { fire } = first;
        if (fire && (first.dueAtMs > nowMs || first.order > newest)) return;
        this.#pop();
        if (!fire) {
          this.#cancelled -= 1;
          continue;
        }
        first.fire = undefined;
        fire();
      }
    } finally {
      const [next] = this.#heap;
      if (next && next.dueAtMs < this.#armedForMs) this.#arm(next.dueAtMs);
    }
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (!above || isBefore(above, timer)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = timer;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last && this.#heap.length > 0) this.#sink(last, 0);
  }

  #sink(timer: Timer, from: number): void {
    const heap = this.#heap;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      let below = heap[child];
      const right = heap[child + 1];
      if (below && right && isBefore(right, below)) {
        child += 1;
        below = right;
      }
      if (!below || isBefore(timer, below)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = timer;
  }

  #sweep(): void {
    // A sorted list is a valid heap.
    this.#heap = this.#heap.filter(({ fire }) => fire).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }
}

const isBefore = (a: Timer, b: Timer): boolean =>
  a.dueAtMs < b.dueAtMs || (a.dueAtMs === b.dueAtMs && a.order < b.order);
