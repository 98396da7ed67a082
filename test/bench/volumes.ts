/**
 * Volumes created and published per second by a driver in this process, what one hung call does to the others, and what
 * many volumes cost that rest. Each figure is taken in a process of its own: volumes-process.ts
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RedisProcess } from '../redis/servers.js';
import { median } from './measure.js';
import type { Measured, Task } from './volumes-process.js';

const rounds = 3;
const sizes = [100, 1_000, 10_000, 100_000];
/** Of those that are fewer at once, so many one turn after the other. */
const least = 10_000;
const slowCallMs = 5;
/** Enough for 5 ms to be no limit: 25,000 volumes/s. */
const slowInFlight = 256;
const manyVolumes = 100_000;
/** So many fit into the memory that idle actors may take, with room to spare. */
const inMemory = 40_000;

const program = fileURLToPath(new URL('volumes-process.ts', import.meta.url));
const line = (what: string, figure: string): void => console.log(`  ${what.padEnd(52)} ${figure.padStart(12)}`);
const whole = (value: number): string => Math.round(value).toLocaleString('en');

async function taken(task: Task): Promise<Measured> {
  const args = ['--expose-gc', '--import=tsx', program, JSON.stringify(task)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

/** Each of them by turns; of each figure the median. */
async function byTurns(tasks: Task[], of: (measured: Measured) => number): Promise<number[]> {
  const figures = tasks.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, task] of tasks.entries()) figures[at]?.push(of(await taken(task)));
  return figures.map(median);
}

async function reportRates(title: string, callMs: number, maxInFlight: number): Promise<void> {
  const some = { task: 'rate', count: least, atOnce: maxInFlight, least, callMs, maxInFlight } as const;
  const tasks = sizes.map((count): Task => ({ task: 'rate', count, least, callMs, maxInFlight }));
  const [few = Number.NaN, ...each] = await byTurns([some, ...tasks], ({ ms, volumes }) => (1_000 * ms) / volumes);
  console.log(`\nvolumes created and published, ${title}, ${maxInFlight} calls in flight`);
  line(`${maxInFlight} at a time`, `${whole(1_000_000 / few)}/s, ${whole(few)} µs each`);
  for (const [at, count] of sizes.entries()) {
    const us = each[at] ?? Number.NaN;
    const figure = `${whole(1_000_000 / us)}/s`;
    line(`${whole(count)} at once`, `${figure}, ${whole(us)} µs each, ${(us / (each[1] ?? us)).toFixed(2)} of 1,000`);
  }
}

async function reportHung(): Promise<void> {
  const count = 1_000;
  const task = { task: 'latency', count, callMs: slowCallMs } as const;
  const [without = 0, withIt = 0] = await byTurns(
    [
      { ...task, isOneHung: false },
      { ...task, isOneHung: true },
    ],
    ({ p99Ms }) => p99Ms,
  );
  console.log(`\n${whole(count)} volumes at once, ${slowCallMs} ms a call: from asked for to published, 99 of 100`);
  line('without a hung call', `${without.toFixed(1)} ms`);
  line('while one more hangs', `${withIt.toFixed(1)} ms, ${(withIt / without).toFixed(2)} of that`);
}

async function reportRest(where: string, at: string): Promise<void> {
  if (at !== 'memory') await taken({ task: 'fill', at, count: manyVolumes });
  const { ms } = await taken({ task: 'restart', at, count: manyVolumes });
  line(`${where}: from nothing to running`, `${whole(ms)} ms`);
}

async function reportMemory(at: string): Promise<void> {
  console.log('\nmemory of each volume that rests');
  const tasks = [
    { name: 'in memory', from: 1_000, count: inMemory },
    { name: 'left to the store', from: manyVolumes - inMemory / 4, count: inMemory / 4 },
  ];
  for (const { name, ...task } of tasks) {
    const { heapBytes, rssBytes } = await taken({ task: 'memory', at, ...task });
    line(`${name}: heap, resident without files`, `${whole(heapBytes)} B, ${whole(rssBytes)} B`);
  }
}

export async function reportVolumes(): Promise<void> {
  await reportRates('a driver that answers at once', 0, 64);
  await reportRates(`${slowCallMs} ms a call`, slowCallMs, slowInFlight);
  await reportHung();
  console.log(`\na restart with ${whole(manyVolumes)} volumes`);
  await reportRest('memory', 'memory');
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    await reportRest('LMDB', path);
    if (spawnSync('redis-server', ['--version']).status === 0) {
      const redis = await RedisProcess.start({ config: ['appendonly yes', 'appendfsync everysec'] });
      try {
        await reportRest('Redis', redis.url);
      } finally {
        await redis.remove();
      }
    }
    await reportMemory(path);
  } finally {
    rmSync(path, { recursive: true });
  }
}
