/** One measurement of actors.ts, in a process of its own: prints it as JSON. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../dist/src/engine/clock.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { plain } from './machines.js';

/** `bare`: nothing is there but the process. */
export type Task = 'fill' | 'restore' | 'restore-memory' | 'passivate' | 'bare';

export interface Measured {
  records: number;
  /** Milliseconds that the restore took. */
  ms: number;
  /** Of each actor. */
  heapBytes: number;
  rssBytes: number;
  /** CPU time of the process, all its threads, per time that passed, while nothing was asked. */
  cpuShare: number;
}

/** What the collector does beside us is over by then. */
const settleMs = 2_000;
const atOnce = 1_000;

interface Amounts {
  actors: number;
  /** How long it is watched while nothing is asked. */
  idleMs: number;
}

const engineOn = (store: Store, onDemand: boolean): Engine =>
  new Engine({
    store,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
    idleBytes: 1_000,
  }).host([{ machine: plain, effects: {}, begin: () => ({}), onDemand }]);

const addressOf = (index: number): string => `plain/worker-1/csi-node/hostpath/${index}`;

async function askEach(engine: Engine, actors: number): Promise<void> {
  for (let first = 0; first < actors; first += atOnce) {
    const asked = Array.from({ length: atOnce }, (_, index) => engine.ask(addressOf(first + index), { type: 'next' }));
    await Promise.all(asked);
  }
}

/** Bytes of this process that are in no file: LMDB's pages are shared with the page cache. */
function anonymousBytes(): number {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Collects until nothing more comes of it: what was kept weakly goes at the second time. */
function collect(): void {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
}

async function cpuWhileIdle(idleMs: number): Promise<number> {
  if (idleMs === 0) return 0;
  await sleep(settleMs);
  const before = process.cpuUsage();
  const start = performance.now();
  await sleep(idleMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - start);
}

async function bare(idleMs: number): Promise<Measured> {
  collect();
  return { records: 0, ms: 0, heapBytes: 0, rssBytes: 0, cpuShare: await cpuWhileIdle(idleMs) };
}

async function measured(store: Store, task: Task, { actors, idleMs }: Amounts): Promise<Measured> {
  const engine = engineOn(store, task === 'passivate');
  await engine.open();
  collect();
  const before = { heap: process.memoryUsage().heapUsed, rss: anonymousBytes() };
  const start = performance.now();
  const report = await engine.restore(['plain/']);
  const ms = performance.now() - start;
  if (task === 'passivate') await askEach(engine, actors);
  else if (report.actors !== actors) throw new Error(`${report.actors} actors are there, not ${actors}`);
  collect();
  const heapBytes = (process.memoryUsage().heapUsed - before.heap) / actors;
  const rssBytes = (anonymousBytes() - before.rss) / actors;
  const cpuShare = await cpuWhileIdle(idleMs);
  await engine.stop();
  return { records: report.actors, ms, heapBytes, rssBytes, cpuShare };
}

async function fill(store: Store, actors: number): Promise<void> {
  const engine = engineOn(store, true);
  await engine.open();
  await askEach(engine, actors);
  await engine.stop();
}

async function run(task: Task, path: string, amounts: Amounts): Promise<Measured | object> {
  if (task === 'bare') return bare(amounts.idleMs);
  const store = task === 'restore-memory' ? memoryStore() : lmdbStore(path);
  if (task === 'fill' || task === 'restore-memory') await fill(store, amounts.actors);
  return task === 'fill' ? {} : measured(store, task, amounts);
}

const [task, path = '', actors, idleMs] = process.argv.slice(2) as [Task, string, string, string];
console.log(JSON.stringify(await run(task, path, { actors: Number(actors), idleMs: Number(idleMs) })));
