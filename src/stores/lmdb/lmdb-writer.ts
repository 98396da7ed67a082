/**
 * Group commit: everything asked for while one transaction goes to disk is written by the next one, and all of it
 * resolves with that. What may wait a moment begins none by itself, so that what comes meanwhile need not wait for it.
 * One transaction is in flight at a time, because lmdb-js never answers one that could not begin: what follows a
 * failure is tried with an empty one first. What is written is in lmdb-rows.ts
 */

import type { Environment } from './lmdb-environment.js';

interface Job {
  /** Within the transaction; never throws. */
  run(env: Environment): void;
  /** After the transaction: the caller gets what `run` came to. */
  answer(): void;
  reject(error: unknown): void;
}

/** Most of what follows a commit is asked for by then. */
const companyMs = 2;

export class LmdbWriter {
  readonly #env: Environment;
  readonly #path: string;
  #waiting: Job[] = [];
  /** A transaction is to begin; else what waits has time. */
  #isDue = false;
  #later: NodeJS.Timeout | undefined;
  #draining: Promise<void> | undefined;
  #hasFailed = false;

  constructor(env: Environment, path: string) {
    this.#env = env;
    this.#path = path;
  }

  /** Runs `work` in a write transaction. Resolves with its result once all of that transaction is on disk. */
  write<T>(work: (env: Environment) => T): Promise<T> {
    const written = this.#wait(work);
    this.#begin();
    return written;
  }

  /** The same in the next transaction, which may begin a moment later. */
  writeSoon<T>(work: (env: Environment) => T): Promise<T> {
    this.#later ??= setTimeout(() => this.#begin(), companyMs);
    return this.#wait(work);
  }

  /** Resolves when nothing waits or is under way. */
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
      if (this.#hasFailed) this.#probe();
      await this.#env.root.transaction(() => {
        // Only now, so that it takes along what came since the transaction was asked for.
        group = this.#takeWaiting();
        for (const job of group) job.run(this.#env);
      });
      for (const job of group) job.answer();
    } catch (error) {
      this.#hasFailed = true;
      const failure = await this.#explained(error);
      for (const job of group.length > 0 ? group : this.#takeWaiting()) job.reject(failure);
    }
  }

  #takeWaiting(): Job[] {
    const jobs = this.#waiting;
    this.#waiting = [];
    this.#isDue = false;
    clearTimeout(this.#later);
    this.#later = undefined;
    return jobs;
  }

  /** @throws {Error} when LMDB gave the environment up, as it does after a failed write of its meta page */
  #probe(): void {
    try {
      this.#env.root.transactionSync(() => undefined);
    } catch (cause) {
      throw new Error('it writes no more; close it and open it again', { cause });
    }
    this.#hasFailed = false;
  }

  async #explained(error: unknown): Promise<Error> {
    const cause = await causeOf(error);
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new Error(`The store in ${this.#path} could not write: ${reason}`, { cause });
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

/** lmdb-js says "Commit failed" and hands the reason over in a promise that rejects. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  return Promise.resolve(error.commitError).catch((reason: unknown) => reason);
}
