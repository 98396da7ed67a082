/**
 * Yields the event loop to timers, sockets and the renewal of the lease. A long chain of promises, as with a store in
 * memory, would otherwise delay them until the lease has lapsed. Each kind of work has Turns of its own.
 */
import type { Clock } from './clock.js';

/** Longest stretch of work in one turn. Short, so that work that has begun finishes before more work begins. */
const longestMs = 1;

export class Turns {
  readonly #clock: Clock;
  /** Start of this turn of the event loop, on the monotonic clock; absent until the first request of the turn. */
  #beganMs: number | undefined;
  /** Waiting calls in order; calls below `#gone` have continued. */
  #asked: (() => void)[] = [];
  #gone = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns undefined if the caller may go on at once. Otherwise resolves in a later turn, first come, first served.
   */
  next(): Promise<void> | undefined {
    if (this.#gone === this.#asked.length && !this.#isOver()) return undefined;
    return new Promise((resolve) => this.#asked.push(resolve));
  }

  #isOver(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.#beganMs !== undefined) return nowMs - this.#beganMs > longestMs;
    this.#beganMs = nowMs;
    setImmediate(() => void this.#turn());
    return false;
  }

  async #turn(): Promise<void> {
    this.#beganMs = undefined;
    while (this.#gone < this.#asked.length && !this.#isOver()) {
      this.#asked[this.#gone]?.();
      this.#gone += 1;
      await undefined; // lets the resumed work use its part of the turn
    }
    // Trims only when half of the list is used up, so the cost per call stays constant.
    if (this.#gone * 2 >= this.#asked.length) {
      this.#asked = this.#asked.slice(this.#gone);
      this.#gone = 0;
    }
  }
}
