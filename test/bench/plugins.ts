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
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { RedisProcess } from '../redis/servers.js';
import { byTurns, type Contender, median, report } from './measure.js';
import { type Registered, registerAll } from './registering.js';

const { open }: Pick<typeof lmdb, 'open'> = createRequire(import.meta.url)('lmdb');

/** Of one turn: in as many runtimes as it takes, one after the other. */
const pluginsOfTurn = 5_000;
const sizes = [100, 1_000, 5_000];
const bareSize = 1_000;
const rounds = 3;

const untils = ['registered', 'healthy'] as const;
type Until = (typeof untils)[number];
/** What a store is given in one call. */
type Group = [key: string, text: string][];
type StoreAt = (path: string) => Store | Promise<Store>;

/** One turn measures both moments; its rate is that of the later one. */
interface Registrations extends Contender {
  /** Of each turn, the uncounted one first. */
  turns: Registered[];
}

function registering(plugins: number, store: StoreAt, isWaitedFor = false): Registrations {
  const turns: Registered[] = [];
  return {
    name: `${plugins.toLocaleString('en')} at once${isWaitedFor ? ', each waited for' : ''}`,
    turns,
    async run() {
      const sum: Registered = { registered: { ms: 0, cpuMs: 0 }, healthy: { ms: 0, cpuMs: 0 } };
      for (let done = 0; done < pluginsOfTurn; done += plugins) {
        const spent = await registerAll({ plugins, store, isWaitedFor });
        for (const until of untils) {
          sum[until].ms += spent[until].ms;
          sum[until].cpuMs += spent[until].cpuMs;
        }
      }
      turns.push(sum);
      return { units: pluginsOfTurn, ms: sum.healthy.ms };
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

const bareLmdb = (groups: Group[], until: Until): Contender => ({
  name: `lmdb put of what is written until they are ${until}`,
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

const bareRedis = (server: RedisProcess, groups: Group[], until: Until): Contender => ({
  name: `ioredis pipeline, SET of that until ${until}`,
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

async function reportOn(
  where: string,
  store: StoreAt,
  bare?: (groups: Group[], until: Until) => Contender,
): Promise<void> {
  const bares = bare ? await Promise.all(untils.map(async (until) => bare(await written(until), until))) : [];
  const ours = [...sizes.map((plugins) => registering(plugins, store)), registering(pluginsOfTurn, store, true)];
  const results = await byTurns([...bares, ...ours], rounds);
  for (const [nth, until] of untils.entries()) {
    const rates = ours.map(({ name, turns }) => ({ name, rate: rateOf(turns, until) }));
    const first = results.slice(0, bares.length)[nth] ?? rates[0];
    const all = first && first !== rates[0] ? [first, ...rates] : rates;
    const measured = all.map(({ name, rate }) => ({ name, rate, ratio: rate / (first?.rate ?? Number.NaN) }));
    report(`plugins, ${where}: until all are ${until}`, 'plugins/s', measured);
    for (const { name, turns } of ours) line(`${name}: CPU time of each`, `${cpuUsOf(turns, until).toFixed(0)} µs`);
    const [fewest, , most] = rates;
    line('5,000 at once, against 100 at once', ((most?.rate ?? Number.NaN) / (fewest?.rate ?? Number.NaN)).toFixed(2));
  }
}

const medianOf = (turns: Registered[], of: (turn: Registered) => number): number => median(turns.slice(1).map(of));

const rateOf = (turns: Registered[], until: Until): number =>
  medianOf(turns, (turn) => pluginsOfTurn / (turn[until].ms / 1_000));

const cpuUsOf = (turns: Registered[], until: Until): number =>
  medianOf(turns, (turn) => (turn[until].cpuMs * 1_000) / pluginsOfTurn);

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
    await reportOn('Redis, fsync every second', emptied, (groups, until) => bareRedis(server, groups, until));
  } finally {
    await server.remove();
  }
}
