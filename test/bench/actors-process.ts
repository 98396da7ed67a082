/** One measurement of actors.ts, in a process of its own: prints it as JSON. */
import { readFileSync } from 'node:fs';
import { systemClock } from '../../dist/src/engine/clock.js';
import { Engine } from '../../dist/src/engine/engine.js';
import { silentLogger } from '../../dist/src/engine/logger.js';
import { systemRandom } from '../../dist/src/engine/random.js';
import type { Store } from '../../dist/src/engine/store.js';
import { lmdbStore } from '../../dist/src/stores/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory.js';
import { plain } from './machines.js';

export type Task = 'fill' | 'restore' | 'restore-memory' | 'passivate';

export interface Measured {
  records: number;
  /** Milliseconds that the restore took. */
  ms: number;
  /** Of each actor. */
  heapBytes: number;
  rssBytes: number;
  /** CPU time of the process per time that passed, while nothing was asked. */
  cpuShare: number;
}

const idleMs = 3_000;
const atOnce = 1_000;

const engineOn = (store: Store, onDemand: boolean): Engine =>
  new Engine({
    store,
    clock: systemClock,
    random: systemRandom,
    logger: silentLogger,
    kinds: [{ machine: plain, effects: {}, begin: () => ({}), onDemand }],
    lease: { name: 'node/bench', holder: 'bench', ttlMs: 60_000 },
    idleBytes: 1_000,
  });

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

async function cpuWhileIdle(): Promise<number> {
  // What the collector does beside us is not idling.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const before = process.cpuUsage();
  const start = performance.now();
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (performance.now() - start);
}

async function measured(store: Store, task: Task, actors: number): Promise<Measured> {
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
  const cpuShare = task === 'restore-memory' ? 0 : await cpuWhileIdle();
  await engine.stop();
  return { records: report.actors, ms, heapBytes, rssBytes, cpuShare };
}

async function fill(store: Store, actors: number): Promise<void> {
  const engine = engineOn(store, true);
  await engine.open();
  await askEach(engine, actors);
  await engine.stop();
}

const [task, path = '', count] = process.argv.slice(2) as [Task, string, string];
const store = task === 'restore-memory' ? memoryStore() : lmdbStore(path);
if (task === 'fill' || task === 'restore-memory') await fill(store, Number(count));
console.log(JSON.stringify(task === 'fill' ? {} : await measured(store, task, Number(count))));
