/**
 * Group commit: all writes requested while one transaction goes to disk share the next transaction. A write that may
 * wait starts no transaction for a moment, so that later writes can join it. At most one transaction is in flight,
 * because lmdb-js never answers a transaction that could not begin: after a failure, an empty transaction is tried
 * first, once the pause is over (lmdb-pauses.ts). The writes themselves: lmdb-rows.ts
 */

import type { Environment } from './lmdb-environment.js';
import { NotTried, WritePauses, type WritePausesOptions } from './lmdb-pauses.js';

interface Job {
  /** Writes within the transaction. Never throws. */
  run(env: Environment): void;
  /** Called after the transaction: passes the result of `run` to the caller. */
  answer(): void;
  reject(error: unknown): void;
}

/** Time in which most writes that follow a commit are requested. */
const companyMs = 2;

export class LmdbWriter {
  readonly #env: Environment;
  readonly #pauses: WritePauses;
  #waiting: Job[] = [];
  /** Whether a transaction must begin now. Otherwise the waiting writes have time. */
  #isDue = false;
  #later: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;

  constructor(env: Environment, options: WritePausesOptions) {
    this.#env = env;
    this.#pauses = new WritePauses(options);
  }

  /**
   * Runs `work` in a write transaction. Resolves with its result once the whole transaction is on disk.
   * @throws {NotTried} nothing was written
   */
  write<T>(work: (env: Environment) => T): Promise<T> {
    const written = this.#wait(work);
    this.#begin();
    return written;
  }

  /** Runs `work` like `write`, in a transaction that may begin a moment later. */
  writeSoon<T>(work: (env: Environment) => T): Promise<T> {
    this.#later ??= setTimeout(() => this.#begin(), companyMs);
    return this.#wait(work);
  }

  /** Resolves when no write waits or is in flight. */
  async idle(): Promise<void> {
    if (this.#waiting.length > 0) this.#begin();
    await this.#draining;
  }

  #wait<T>(work: (env: Environment) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => void this.#waiting.push(new Work(work, resolve, reject)));
  }

  #begin(): void {
    this.#isDue = true;
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#isDue) await this.#commitGroup();
    this.#draining = undefined;
  }

  async #commitGroup(): Promise<void> {
    let group: Job[] = [];
    try {
      if (this.#pauses.hasFailed) {
        const reason = await this.#pauses.reason();
        if (reason) return this.#refuse(reason);
        this.#probe();
      }
      await this.#env.root.transaction(() => {
        // Taken as late as possible, so that the transaction includes writes requested since it was started.
        group = this.#takeWaiting();
        for (const job of group) job.run(this.#env);
      });
      this.#pauses.written();
      for (const job of group) job.answer();
    } catch (error) {
      const failure = await this.#pauses.failed(error);
      for (const job of group) job.reject(failure);
      // Otherwise the transaction has run none of them.
      if (group.length === 0) this.#refuse(failure);
    }
  }

  /** Rejects what waits, and was not tried. */
  #refuse(cause: Error): void {
    const refusal = new NotTried(cause.message, { cause });
    for (const job of this.#takeWaiting()) job.reject(refusal);
  }

  #takeWaiting(): Job[] {
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#isDue = false;
    clearTimeout(this.#later);
    this.#later = undefined;
    return jobs;
  }

  /**
   * Runs an empty transaction.
   * @throws {Error} LMDB gave up the environment, as it does after a failed write of its meta page
   */
  #probe(): void {
    try {
      this.#env.root.transactionSync(() => undefined);
    } catch (cause) {
      throw new Error('LMDB begins no transaction any more: start the agent again', { cause });
    }
  }
}

class Work<T> implements Job {
  readonly #work: (env: Environment) => T;
  readonly #resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
  #outcome: { result: T } | { error: unknown } | undefined;

  constructor(work: (env: Environment) => T, resolve: (result: T) => void, reject: (error: unknown) => void) {
    this.#work = work;
    this.#resolve = resolve;
    this.reject = reject;
  }

  run(env: Environment): void {
    try {
      this.#outcome = { result: this.#work(env) };
    } catch (error) {
      this.#outcome = { error };
    }
  }

  answer(): void {
    if (this.#outcome === undefined) throw new Error('A transaction ended without having run its work.');
    if ('result' in this.#outcome) this.#resolve(this.#outcome.result);
    else this.reject(this.#outcome.error);
  }
}
