/** What a test has started, so that it is all gone after it, whatever became of the test. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Commit, CommitResult, Store } from '../../src/engine/store.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import { plainCommit } from '../../src/tools/store-suite/subject.js';
import { RedisProcess, type ServerOptions } from './servers.js';

interface OpenStore {
  store: Store;
  warnings: string[];
  /** What was heard and answered, in order: `suspect: <reason>`, and what a test notes itself. */
  heard: string[];
}

export class RedisLab {
  readonly #servers: RedisProcess[] = [];
  readonly #stores: Store[] = [];

  async server(options?: ServerOptions): Promise<RedisProcess> {
    return this.keep(await RedisProcess.start(options));
  }

  keep(server: RedisProcess): RedisProcess {
    this.#servers.push(server);
    return server;
  }

  async store(options: string | RedisStoreOptions): Promise<OpenStore> {
    const store = redisStore(options);
    this.#stores.push(store);
    const warnings: string[] = [];
    const heard: string[] = [];
    await store.open({
      warn: (message) => void warnings.push(message),
      suspect: (reason) => void heard.push(`suspect: ${reason}`),
    });
    return { store, warnings, heard };
  }

  async clear(): Promise<void> {
    await Promise.all(this.#stores.splice(0).map((store) => store.close()));
    await Promise.all(this.#servers.splice(0).map((server) => server.remove()));
  }
}

/** Repeats what rejects, as the engine does, until the store is closed. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Error && error.message.includes('is closed: open() it first')) throw error;
      await sleep(5);
    }
  }
}

/** Writes some actors, commit by commit, repeating each until it is done. */
export class Writer {
  /** By actor, the last seq that was acknowledged. */
  readonly acknowledged: number[];
  readonly #store: Store;

  constructor(store: Store, actors: number) {
    this.#store = store;
    this.acknowledged = Array<number>(actors).fill(0);
  }

  address(actor: number): string {
    return `actor/${actor}`;
  }

  /** Every actor in a loop of its own. */
  async writeUpTo(seq: number): Promise<void> {
    await Promise.all(this.acknowledged.map((_, actor) => this.#writeOne(actor, seq)));
  }

  /** Each was written once, and nothing that was acknowledged is missing. */
  async check(): Promise<void> {
    for (const [actor, seq] of this.acknowledged.entries()) {
      const address = this.address(actor);
      expect(await insist(() => this.#store.load(address))).to.include({ seq, commitId: `${address}@${seq}` });
      const journal = await insist(() => this.#store.readJournal(address, 0, 10_000));
      expect(journal.map((row) => row.text)).to.deep.equal(Array.from({ length: seq }, (_, i) => `j${i + 1}`));
    }
    const { rows } = await insist(() => this.#store.list({ prefix: 'actor/', limit: 10_000 }));
    expect(rows).to.have.lengthOf(this.acknowledged.length);
  }

  async #writeOne(actor: number, upTo: number): Promise<void> {
    for (let seq = this.acknowledged[actor] ?? 0; seq < upTo; seq = this.acknowledged[actor] ?? 0) {
      const commit = plainCommit(this.address(actor), seq);
      const result = await insist(() => this.#store.commit([commit]));
      if (result[0]?.status === 'conflict') throw new Error(`conflict: ${JSON.stringify([commit, result])}`);
      if (result[0]?.status === 'done') this.acknowledged[actor] = seq + 1;
      else await sleep(5);
    }
  }
}

export async function commitOne(store: Store, commit: Commit): Promise<CommitResult | undefined> {
  const [result] = await store.commit([commit]);
  return result;
}
