/**
 * Leaves the event loop time for others: timers, sockets, the renewal of the lease. Work that goes on from promise to
 * promise, as with a store in memory, would keep them waiting until all of it is done; with very much of it, until the
 * lease has lapsed. Each kind of work has its own: none waits for its turn behind another.
 */
import type { Clock } from './clock.js';

/** So long it may go on at a time. */
const longestMs = 20;

export class Turns {
  readonly #clock: Clock;
  /** When the present turn of the event loop was first asked about, on the monotonic clock. */
  #beganMs: number | undefined;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined: go on. Else resolves in a later turn; who asked first goes on first. */
  next(): Promise<void> | undefined {
    if (this.#waiting.length === 0 && !this.#isOver()) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
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
    const waiting = this.#waiting;
    let gone = 0;
    while (gone < waiting.length && !this.#isOver()) {
      waiting[gone]?.();
      gone += 1;
      await undefined; // what goes on counts
    }
    this.#waiting = waiting.slice(gone);
  }
}
