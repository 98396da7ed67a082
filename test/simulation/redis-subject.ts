/** Histories on a Redis server: $REDIS_URL, or one of this process. A crash is a connection that is left behind. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Store } from '../../src/engine/store.js';
import { redisStore } from '../../src/stores/redis/redis.js';
import { RedisProcess } from '../redis/servers.js';
import type { SubjectKind } from './stores.js';

let server: Promise<RedisProcess> | undefined;

async function url(): Promise<string> {
  if (process.env.REDIS_URL !== undefined) return process.env.REDIS_URL;
  server ??= RedisProcess.start();
  return (await server).url;
}

/** Ends the server that was started here. */
export async function endServer(): Promise<void> {
  await (await server)?.remove();
}

export const redis: SubjectKind = {
  name: 'redis',
  keepsTime: false,
  async make() {
    const where = await url();
    const prefix = `simulation-${randomBytes(6).toString('hex')}:`;
    const client = new Redis(where);
    const stores: Store[] = [];
    const closeAll = async (): Promise<void> => {
      for (const store of stores.splice(0)) await store.close();
    };
    const sweep = async (pattern: string): Promise<void> => {
      for await (const keys of client.scanStream({ match: pattern, count: 1_000 })) {
        if (keys.length > 0) await client.unlink(keys);
      }
    };
    return {
      connect() {
        const store = redisStore({ url: where, prefix });
        stores.push(store);
        return store;
      },
      async crash() {
        await closeAll();
        await sweep(`${prefix}*:h:*`); // leases, which would lapse by the time of the server
      },
      losesLeases: true,
      async dispose() {
        await closeAll();
        await sweep(`${prefix}*`);
        client.disconnect();
      },
    };
  },
};
