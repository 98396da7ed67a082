/**
 * Commits per second of the Redis store, against bare ioredis that sets the same texts and adds the same journal
 * entries in bursts of the same size. One server for both: appendonly, fsync every second.
 */
import { Redis } from 'ioredis';
import type { Commit } from '../../dist/src/engine/store.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { RedisProcess } from '../redis/servers.js';
import type { Contender } from './measure.js';

const bursts = 20;
const burstSize = 1_000;

const text = JSON.stringify({
  format: 1,
  machine: 'plugin',
  snapshot: { value: 'healthy', context: { info: 'x'.repeat(400) } },
});
const journal = JSON.stringify({
  seq: 1,
  at: 1_767_225_600_000,
  kind: 'event',
  event: { type: 'fingerprint.changed', of: 'x'.repeat(120) },
});

/** Runs `use` with the contenders while their server is there. */
export async function withRedis(use: (contenders: Contender[]) => Promise<void>): Promise<void> {
  const server = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
  try {
    await use([bare(server), commits(server)]);
  } finally {
    await server.remove();
  }
}

function bare(server: RedisProcess): Contender {
  return {
    name: 'ioredis pipeline, SET record and XADD journal entry',
    async run() {
      const redis = new Redis(server.url);
      await redis.flushall();
      for (let burst = 1; burst <= bursts; burst += 1) {
        const pipeline = redis.pipeline();
        for (let index = 0; index < burstSize; index += 1) {
          pipeline.set(`plugin/${index}`, text);
          pipeline.xadd(`journal/${index}`, `${burst}-0`, 't', journal);
        }
        const results = await pipeline.exec();
        if (results?.some(([error]) => error !== null)) throw new Error('a command failed');
      }
      redis.disconnect();
      return bursts * burstSize;
    },
  };
}

function commits(server: RedisProcess): Contender {
  return {
    name: 'redisStore.commit, in bursts',
    async run() {
      const redis = server.client();
      await redis.flushall();
      const store = redisStore(server.url);
      await store.open();
      for (let burst = 0; burst < bursts; burst += 1) {
        const items = Array.from(
          { length: burstSize },
          (_, index): Commit => ({
            address: `plugin/${index}`,
            commitId: `bench.${burst}.${index}`,
            expectedSeq: burst,
            epoch: 1,
            owner: 'bench',
            text,
            journal,
          }),
        );
        const results = await store.commit(items);
        if (results.some(({ status }) => status !== 'done')) throw new Error('a commit was refused');
      }
      await store.close();
      redis.disconnect();
      return bursts * burstSize;
    },
  };
}
