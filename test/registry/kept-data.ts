/** What outlives a runtime, in each of the stores: opened again and again on the same data, and damaged on purpose. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Store } from '../../src/engine/store.js';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { openEnvironment } from '../../src/stores/lmdb/lmdb-environment.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { RedisKeys } from '../../src/stores/redis/redis-keys.js';
import { freshPrefix, sharedUrl, sweep } from '../redis/shared.js';

export interface KeptData {
  /** A store for the next runtime. */
  store(): Store;
  /** A runtime is dead: its store is closed, and what it held of the data is let go at once. */
  bury(store: Store): Promise<void>;
  remove(): Promise<void>;
}

/** Data whose bytes can be reached without the store. */
export interface RawData extends KeptData {
  /** While no store is open: writes other bytes where the record of this address is. */
  damage(address: string, how: Damage): Promise<void>;
}

/** The text of the record is cut in half; or its row as a whole is nothing that the store has written. */
type Damage = 'text' | 'row';

export function inMemory(): KeptData {
  const store = memoryStore();
  return { store: () => store, bury: () => store.close(), remove: async () => {} };
}

/** @param root a directory, e.g. one in memory where a test flushes thousands of times */
export async function inLmdb(root = tmpdir()): Promise<RawData> {
  const directory = mkdtempSync(join(root, 'stagecraft-'));
  const path = join(directory, 'state');
  return {
    store: () => lmdbStore(path),
    bury: (store) => store.close(),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
    async damage(address, how) {
      const { root: environment, records } = await openEnvironment(path);
      const row = records.get(address);
      if (row === undefined) throw new Error(`there is no ${address}`);
      await records.put(address, how === 'text' ? row.slice(0, (row.length + row.indexOf('\n')) / 2) : '\u0000\u0001');
      await environment.close();
    },
  };
}

/** On the server that many tests share, under a prefix of its own. */
export async function inRedis(): Promise<RawData> {
  const url = await sharedUrl();
  const prefix = freshPrefix();
  const keys = new RedisKeys(prefix);
  const client = new Redis(url);
  return {
    store: () => redisStore({ url, prefix }),
    async bury(store) {
      await store.close();
      for await (const held of client.scanStream({ match: `${prefix}*:h:*`, count: 1_000 })) {
        if (held.length > 0) await client.unlink(held);
      }
    },
    async remove() {
      await sweep(client, prefix);
      client.disconnect();
    },
    async damage(address, how) {
      const key = keys.record(address);
      const text = await client.hget(key, 'text');
      if (text === null) throw new Error(`there is no ${address}`);
      if (how === 'text') await client.hset(key, 'text', text.slice(0, text.length / 2));
      else await client.hset(key, 'seq', 'seven');
    },
  };
}
