/**
 * Plugins registered per second, all at once as an agent does at its start, against LMDB or Redis that is given the
 * same bytes in the same groups. One runtime that registers: registering.ts
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

import type lmdb = require('lmdb');

import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory.js';
import { redisStore } from '../../dist/src/stores/redis.js';
import { RedisProcess } from '../redis/servers.js';
import { byTurns, type Contender, median, report } from './measure.js';
import { type Registered, registerAll } from './registering.js';

const { open }: Pick<typeof lmdb, 'open'> = createRequire(import.meta.url)('lmdb');

/** Of one turn: in as many runtimes as it takes, one after the other. */
const pluginsOfTurn = 5_000;
const sizes = [100, 1_000, 5_000];
const bareSize = 1_000;
const rounds = 3;

type Until = keyof Registered;
/** What a store is given in one call. */
type Group = [key: string, text: string][];
type StoreAt = (path: string) => Store | Promise<Store>;

const untils: Until[] = ['registered', 'healthy'];

/** Of each plugin, in every turn, the uncounted one first. */
interface Registrations extends Contender {
  cpuUs: number[];
}

function registering(until: Until, plugins: number, store: StoreAt, isWaitedFor = false): Registrations {
  const cpuUs: number[] = [];
  return {
    name: `${plugins.toLocaleString('en')} at once${isWaitedFor ? ', each waited for' : ''}`,
    cpuUs,
    async run() {
      let [ms, cpuMs] = [0, 0];
      for (let done = 0; done < pluginsOfTurn; done += plugins) {
        const spent = (await registerAll({ plugins, store, isWaitedFor }))[until];
        ms += spent.ms;
        cpuMs += spent.cpuMs;
      }
      cpuUs.push((cpuMs * 1_000) / pluginsOfTurn);
      return { units: pluginsOfTurn, ms };
    },
  };
}

/** What a store is given until then, of so many plugins at once. */
async function written(until: Until): Promise<Group[]> {
  const groups: Group[] = [];
  const store = memoryStore();
  const [commit, appendTopic] = [store.commit.bind(store), store.appendTopic.bind(store)];
  store.commit = (items) => {
    const texts = items.filter(({ address }) => until === 'healthy' || address.startsWith('plugins/'));
    groups.push(texts.map(({ address, text }) => [address, text]));
    groups
      .at(-1)
      ?.push(...texts.map(({ address, journal }, at): Group[0] => [`${address} ${groups.length}.${at}`, journal]));
    return commit(items);
  };
  store.appendTopic = (topic, entries) => {
    if (until === 'healthy') groups.push(entries.map(({ source, seq, text }) => [`${source} ${seq}`, text]));
    return appendTopic(topic, entries);
  };
  await registerAll({ plugins: bareSize, store: () => store });
  return groups.filter(({ length }) => length > 0);
}

async function inDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}

const bareLmdb = (groups: Group[]): Contender => ({
  name: 'lmdb put of the same bytes',
  run: () =>
    inDirectory(async (path) => {
      const root = open<string, string>({ path, encoding: 'string' });
      const startMs = performance.now();
      for (let done = 0; done < pluginsOfTurn; done += bareSize) {
        for (const group of groups) await Promise.all(group.map(([key, text]) => root.put(`${done} ${key}`, text)));
      }
      const ms = performance.now() - startMs;
      await root.close();
      return { units: pluginsOfTurn, ms };
    }),
});

const bareRedis = (groups: Group[], server: RedisProcess): Contender => ({
  name: 'ioredis pipeline, SET of the same bytes',
  async run() {
    const redis = new Redis(server.url);
    await redis.flushall();
    const startMs = performance.now();
    for (let done = 0; done < pluginsOfTurn; done += bareSize) {
      for (const group of groups) {
        const pipeline = redis.pipeline();
        for (const [key, text] of group) pipeline.set(`${done} ${key}`, text);
        const results = await pipeline.exec();
        if (results?.some(([error]) => error !== null)) throw new Error('a command failed');
      }
    }
    const ms = performance.now() - startMs;
    redis.disconnect();
    return { units: pluginsOfTurn, ms };
  },
});

async function reportOn(where: string, store: StoreAt, bare?: (groups: Group[]) => Contender): Promise<void> {
  for (const until of untils) {
    const ours = sizes.map((plugins) => registering(until, plugins, store));
    if (until === 'healthy') ours.push(registering(until, pluginsOfTurn, store, true));
    const contenders = bare ? [bare(await written(until)), ...ours] : ours;
    const results = await byTurns(contenders, rounds);
    report(`plugins, ${where}: until all are ${until}`, 'plugins/s', results);
    for (const { name, cpuUs } of ours) line(`${name}: CPU time of each`, `${Math.round(median(cpuUs.slice(1)))} µs`);
    const [fewest, , most] = bare ? results.slice(1) : results;
    line('5,000 at once, against 100 at once', ((most?.rate ?? Number.NaN) / (fewest?.rate ?? Number.NaN)).toFixed(2));
  }
}

const line = (what: string, figure: string): void => console.log(`  ${what.padEnd(52)} ${figure.padStart(12)}`);

export async function reportPlugins(): Promise<void> {
  await reportOn('LMDB, fdatasync', lmdbStore, bareLmdb);
  await reportOn('memory store', () => memoryStore());
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    console.log('\nplugins, Redis: left out, there is no redis-server on the PATH');
    return;
  }
  const server = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
  const emptied: StoreAt = async () => {
    await server.client().flushall();
    return redisStore(server.url);
  };
  try {
    await reportOn('Redis, fsync every second', emptied, (groups) => bareRedis(groups, server));
  } finally {
    await server.remove();
  }
}
