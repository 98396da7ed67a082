/**
 * Knows whether the store takes writes: it may answer reads while its disk or its memory is full. After a commit that failed it
 * tries to write, again and again until that succeeds, so that a store in order again is noticed although nobody writes.
 */
import { type Clock, pause } from '../clock.js';

interface WriteWatchOptions {
  clock: Clock;
  /** Writes something small. @throws {Error} if the store does not take it */
  write(): Promise<unknown>;
  stopped: AbortSignal;
}

const betweenTrialsMs = 5_000;

export class WriteWatch {
  readonly #options: WriteWatchOptions;
  #refusedSince: number | undefined;
  #isTrying = false;

  constructor(options: WriteWatchOptions) {
    this.#options = options;
  }

  /** Since when the store takes no writes, in milliseconds since the epoch; undefined: it takes them. */
  get refusedSince(): number | undefined {
    return this.#refusedSince;
  }

  /** Called when a commit was written. */
  written(): void {
    this.#refusedSince = undefined;
  }

  /** Called when a commit was refused, or got no answer. The reason may lie in that commit alone: a trial decides. */
  failed(): void {
    if (!this.#isTrying) void this.#try(this.#options.clock.now());
  }

  async #try(failedAt: number): Promise<void> {
    const { clock, write, stopped } = this.#options;
    this.#isTrying = true;
    while (!stopped.aborted) {
      const isTaken = await write().then(
        () => true,
        () => false,
      );
      if (isTaken) break;
      this.#refusedSince ??= failedAt;
      await pause(clock, betweenTrialsMs, stopped);
    }
    this.#refusedSince = undefined;
    this.#isTrying = false;
  }
}
