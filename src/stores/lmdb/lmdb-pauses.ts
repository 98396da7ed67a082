/**
 * Spaces the attempts to write while the disk takes nothing: LMDB's C code prints to stderr at each one that fails, past every
 * log. The pauses double; room on the disk ends them.
 */
import { statfs } from 'node:fs/promises';

const firstPauseMs = 1_000;
const lastPauseMs = 300_000;
/** Time without a failure after which the next one begins a new outage. */
const calmMs = 600_000;
/** Least room that may take what a disk did not take. */
const roomBytes = 65_536;

export interface WritePausesOptions {
  /** Directory of the store. */
  path: string;
  monotonicMs(): number;
}

export class WritePauses {
  readonly #options: WritePausesOptions;
  /** Failure of the last attempt; undefined: it was no failure. */
  #failure: Error | undefined;
  #failedAtMs = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  /** Most room that did not do, in bytes. */
  #tooLittle = 0;

  constructor(options: WritePausesOptions) {
    this.#options = options;
  }

  /** Whether the last attempt failed. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Notes that an attempt has failed. */
  async failed(failure: Error): Promise<void> {
    const nowMs = this.#options.monotonicMs();
    if (nowMs - this.#failedAtMs > calmMs) {
      this.#pauseMs = 0;
      this.#tooLittle = 0;
    }
    this.#failure = failure;
    this.#failedAtMs = nowMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2 || firstPauseMs, lastPauseMs);
    this.#tooLittle = Math.max(this.#tooLittle, await this.#room());
  }

  /** Notes that an attempt has succeeded. */
  written(): void {
    this.#failure = undefined;
  }

  /** Failure of the last attempt; undefined: the next one may be made. */
  async reason(): Promise<Error | undefined> {
    if (this.#options.monotonicMs() - this.#failedAtMs >= this.#pauseMs) return undefined;
    return (await this.#room()) >= 2 * this.#tooLittle + roomBytes ? undefined : this.#failure;
  }

  /** Free bytes of the disk; 0 if that can't be known. */
  async #room(): Promise<number> {
    return statfs(this.#options.path).then(
      // Some blocks are for root only.
      ({ bavail, bfree, bsize }) => (process.getuid?.() === 0 ? bfree : bavail) * bsize,
      () => 0,
    );
  }
}
