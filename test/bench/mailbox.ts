/** Requests to one actor, so many waiting at a time: messages that share commits, against a commit for each of them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../dist/src/engine/clock.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { RedisProcess } from '../redis/servers.js';
import { plain } from './machines.js';
import { byTurns, type Contender, report } from './measure.js';

const requests = 2_000;
const atATime = 64;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

async function applied(store: Store, mostSteps: number): Promise<number> {
  const lease = { name: 'node/bench', holder: 'bench', ttlMs: 60_000 };
  const engine = new Engine({
    store,
    clock: systemClock,
    random: systemRandom,
    logger: silent,
    lease,
    policy: { mostSteps },
  });
  engine.host([{ machine: plain, effects: {}, begin: () => ({}) }]);
  await engine.open();
  await engine.restore(['']);
  let left = requests;
  const asker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await engine.ask('plain/one', { type: 'next' });
    }
  };
  await Promise.all(Array.from({ length: atATime }, asker));
  await engine.stop();
  return requests;
}

const contenders = (use: (work: (store: Store) => Promise<number>) => Promise<number>): Contender[] => [
  { name: 'a commit for each', run: () => use((store) => applied(store, 1)) },
  { name: 'those that wait share one', run: () => use((store) => applied(store, 32)) },
];

export async function reportMailbox(): Promise<void> {
  const say = async (name: string, both: Contender[]): Promise<void> =>
    report(`${atATime} requests to one actor at a time, ${name}`, 'requests/s', await byTurns(both));
  await say(
    'memory store',
    contenders((work) => work(memoryStore())),
  );
  await say(
    'LMDB (fdatasync)',
    contenders(async (work) => {
      const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
      try {
        return await work(lmdbStore(path));
      } finally {
        rmSync(path, { recursive: true });
      }
    }),
  );
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.log('\nthe same on Redis: left out, there is no redis-server on the PATH');
    return;
  }
  const server = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
  try {
    await say(
      'Redis (fsync every second)',
      contenders(async (work) => {
        await server.client().flushall();
        return work(redisStore(server.url));
      }),
    );
  } finally {
    await server.remove();
  }
}
