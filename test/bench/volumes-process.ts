/** One measurement of volumes.ts, in a process of its own: prints it as JSON. */
import { readFileSync } from 'node:fs';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { redisStore } from '../../dist/src/stores/redis/redis.js';
import { driverInProcess } from './volumes-driver.js';
import { publishMany, publishOne, withHouse } from './volumes-house.js';

export type Task =
  /**
   * `least` volumes, `count` in one runtime: as many runtimes as it takes, one after the other.
   * @param atOnce asked for at a time, the next as soon as one is published; default: all
   */
  | { task: 'rate'; count: number; atOnce?: number; least: number; callMs: number; maxInFlight: number }
  /** How long each of them took, where one more hangs or none does. */
  | { task: 'latency'; count: number; callMs: number; isOneHung: boolean }
  | { task: 'fill'; count: number; at: string }
  /** Time until `running`. On the memory store it is filled before, in the same process. */
  | { task: 'restart'; count: number; at: string }
  /** What each of the second part of them adds, as each is looked at once. */
  | { task: 'memory'; count: number; from: number; at: string };

export interface Measured {
  volumes: number;
  ms: number;
  cpuMs: number;
  /** Of the volumes but the one that hangs. */
  medianMs: number;
  p99Ms: number;
  heapBytes: number;
  rssBytes: number;
}

/** So many until V8 knows its way. */
const warmUp = 3_000;
/** In flight at most while a store is filled. */
const atOnce = 1_000;

async function published({
  count,
  atOnce = count,
  ...driver
}: {
  count: number;
  atOnce?: number;
  callMs: number;
  maxInFlight: number;
}) {
  const dispenser = driverInProcess(driver);
  return withHouse({ store: memoryStore(), dispenser, maxInFlight: driver.maxInFlight }, async (runtime) => {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const start = performance.now();
    await publishMany(runtime, { count, atOnce });
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { ms, cpuMs: (user + system) / 1_000 };
  });
}

async function rate(task: Extract<Task, { task: 'rate' }>): Promise<Partial<Measured>> {
  await published({ ...task, count: warmUp, callMs: 0 });
  const sum = { volumes: 0, ms: 0, cpuMs: 0 };
  while (sum.volumes < task.least) {
    const { ms, cpuMs } = await published(task);
    sum.volumes += task.count;
    sum.ms += ms;
    sum.cpuMs += cpuMs;
  }
  return sum;
}

async function latency({ count, callMs, isOneHung }: Extract<Task, { task: 'latency' }>): Promise<Partial<Measured>> {
  await published({ count: warmUp, callMs: 0, maxInFlight: 64 });
  const dispenser = driverInProcess({ callMs, hangsOn: (nth) => isOneHung && nth === 1 });
  return withHouse({ store: memoryStore(), dispenser }, async (runtime) => {
    // It ends with the runtime.
    if (isOneHung) publishOne(runtime, 'hung').catch(() => {});
    const took = await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const start = performance.now();
        await publishOne(runtime, `volume-${at}`);
        return performance.now() - start;
      }),
    );
    took.sort((one, other) => one - other);
    return { medianMs: took[Math.floor(count / 2)] ?? 0, p99Ms: took[Math.floor(count * 0.99)] ?? 0 };
  });
}

const storeAt = (at: string): Store => (at.startsWith('redis:') ? redisStore(at) : lmdbStore(at));

async function fill(store: Store, count: number): Promise<void> {
  const dispenser = driverInProcess();
  await withHouse({ store, dispenser }, (runtime) => publishMany(runtime, { count, atOnce }));
}

async function restart({ count, at }: Extract<Task, { task: 'restart' }>): Promise<Partial<Measured>> {
  const store = at === 'memory' ? memoryStore() : storeAt(at);
  if (at === 'memory') await fill(store, count);
  const start = performance.now();
  return withHouse({ store, dispenser: driverInProcess(), isFurnished: true }, async (runtime) => {
    const ms = performance.now() - start;
    const last = await runtime.volumes.get({ id: `volume-${count}` });
    if (last?.state !== 'published') throw new Error(`the last of ${count} is ${last?.state}, not published`);
    return { volumes: count, ms };
  });
}

/** Bytes of this process that are in no file: LMDB's pages are shared with the page cache. */
function anonymousBytes(): number {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

function memoryNow(): { heap: number; rss: number } {
  // What was kept weakly goes at the second time.
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return { heap: process.memoryUsage().heapUsed, rss: anonymousBytes() };
}

async function memory({ from, count, at }: Extract<Task, { task: 'memory' }>): Promise<Partial<Measured>> {
  return withHouse({ store: storeAt(at), dispenser: driverInProcess(), isFurnished: true }, async (runtime) => {
    const look = async (first: number, last: number): Promise<void> => {
      for (let id = first; id <= last; id += 1) await runtime.volumes.get({ id: `volume-${id}` });
    };
    await look(1, from);
    const before = memoryNow();
    await look(from + 1, from + count);
    const after = memoryNow();
    return { heapBytes: (after.heap - before.heap) / count, rssBytes: (after.rss - before.rss) / count };
  });
}

async function run(task: Task): Promise<Partial<Measured>> {
  switch (task.task) {
    case 'rate':
      return rate(task);
    case 'latency':
      return latency(task);
    case 'fill':
      await fill(storeAt(task.at), task.count);
      return {};
    case 'restart':
      return restart(task);
    case 'memory':
      return memory(task);
  }
}

const [task = ''] = process.argv.slice(2);
console.log(JSON.stringify(await run(JSON.parse(task))));
