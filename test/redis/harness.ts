/** Redis stores under the contract of all stores. */

import { Redis } from 'ioredis';
import type { Store } from '../../src/engine/store.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import type { StoreHarness } from '../../src/tools/store-suite/store-suite.js';
import { freshPrefix, sweep } from './shared.js';

/** So long that only `elapse` makes leases lapse: it turns their clocks on the server, which nobody else can. */
const leaseTtlMs = 30_000;

/** @param urls of every master that holds keys of the store */
export async function redisHarness(options: RedisStoreOptions, urls: string[]): Promise<StoreHarness> {
  const prefix = freshPrefix();
  const open = async (): Promise<Store> => {
    const store = redisStore({ ...options, prefix });
    await store.open();
    return store;
  };
  let store = await open();
  const clients = urls.map((url) => new Redis(url));
  return {
    store,
    leaseTtlMs,
    modelSeeds: Array.from({ length: 40 }, (_, i) => i + 1),
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    async dispose() {
      await store.close();
      await Promise.all(clients.map((client) => sweep(client, prefix)));
      for (const client of clients) client.disconnect();
    },
    async elapse(ms) {
      for (const kind of ['h', 'w', 's'])
        for (const client of clients) await hasten(client, `${prefix}*:${kind}:*`, ms);
    },
  };
}

async function hasten(client: Redis, pattern: string, ms: number): Promise<void> {
  for await (const keys of client.scanStream({ match: pattern, count: 1_000 })) {
    for (const key of keys) await client.pexpire(key, (await client.pttl(key)) - ms);
  }
}
