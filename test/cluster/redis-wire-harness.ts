/** Wires in Redis under the contract of all wires. */
import type { Store, Wire } from '../../src/engine/store.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { RedisKeys } from '../../src/stores/redis/redis-keys.js';
import type { RedisStoreOptions } from '../../src/stores/redis/redis-options.js';
import type { RedisProcess } from '../redis/servers.js';
import { freshPrefix, sweep } from '../redis/shared.js';
import { eventually } from '../until.js';
import type { WireHarness } from './wire-suite.js';

/** @param servers every master that holds keys of the store */
export async function redisWireHarness(options: RedisStoreOptions, servers: RedisProcess[]): Promise<WireHarness> {
  const prefix = freshPrefix();
  const [, beats = ''] = new RedisKeys(prefix).roster();
  const stores: Store[] = [];
  const clients = servers.map((server) => server.client());
  return {
    async wire() {
      const store = redisStore({ ...options, prefix });
      stores.push(store);
      await store.open();
      return wireOf(store);
    },
    async elapse(ms) {
      for (const client of clients) {
        // In a cluster one server has the key, and the others say so.
        const nodes = await client.zrange(beats, '0', '-1').catch(() => []);
        for (const node of nodes) await client.zincrby(beats, String(-ms), node);
      }
    },
    nowMs: () => performance.now(),
    until: eventually,
    async flush() {
      for (const client of clients) await sweep(client, prefix);
    },
    async dispose() {
      for (const client of clients) {
        await sweep(client, prefix);
        client.disconnect();
      }
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

export function wireOf({ wire }: Store): Wire {
  if (!wire) throw new Error('there is no wire');
  return wire;
}
