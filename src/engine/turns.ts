/**
 * Leaves the event loop time for others: timers, sockets, the renewal of the lease. Work that goes on from promise to
 * promise, as with a store in memory, would keep them waiting until all of it is done; with very much of it, until the
 * lease has lapsed. Each kind of work has its own: none waits for its turn behind another.
 */
import type { Clock } from './clock.js';

/** So long it may go on at a time: what has begun goes as far as it can before more begins, as little at once as keeps all busy. */
const longestMs = 1;

export class Turns {
  readonly #clock: Clock;
  /** When the present turn of the event loop was first asked about, on the monotonic clock. */
  #beganMs: number | undefined;
  /** In the order in which they asked; those that have gone on, too. */
  #asked: (() => void)[] = [];
  #gone = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: go on. Else resolves in a later turn; who asked first goes on first. */
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
      await undefined; // what goes on counts
    }
    // Now and then, so that it costs each of them next to nothing, however many there are.
    if (this.#gone * 2 >= this.#asked.length) {
      this.#asked = this.#asked.slice(this.#gone);
      this.#gone = 0;
    }
  }
}
