/** One measurement of mounts.ts, in a process and a mount namespace of its own, in a folder that is given: prints it as JSON. */
import { join } from 'node:path';
import type { Runtime } from '../../dist/src/runtime/runtime.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { BareNode, Driver, makeVolume, openHouse, prepare } from './mounts-house.js';

export type Task =
  /** One alloc with one volume, again and again: by turns bare, on the memory store and on LMDB. */
  | { task: 'one'; rounds: number }
  /** So many allocs at once, so many on each volume: all prepared, then all released. */
  | { task: 'many'; allocs: number; perVolume: number }
  /** A restart with so many allocs that are prepared, until they are so again; and one with none. */
  | { task: 'restart'; allocs: number; perVolume: number }
  /** One alloc again and again, in turns of so many, while another driver answers and while it does not. */
  | { task: 'dead'; turns: number; perTurn: number };

/** Milliseconds, by what was measured; each of a list was taken by itself. */
export type Measured = Record<string, number[]>;

const inFlight = 64;
const plugin = 'disk';

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function prepareAndRelease(runtime: Runtime, allocId: string, id: string): Promise<void> {
  await prepare(runtime, allocId, id);
  await runtime.allocations.release(allocId);
}

/** Until V8 knows its way, and directories are where they are to be. */
const warmUp = 10;

async function one({ rounds }: Extract<Task, { task: 'one' }>, folder: string, driver: Driver): Promise<Measured> {
  const drivers = { [plugin]: driver };
  const memory = await openHouse({ dataDir: join(folder, 'memory'), store: memoryStore(), drivers });
  const store = lmdbStore(join(folder, 'state'));
  const lmdb = await openHouse({ dataDir: join(folder, 'lmdb'), store, drivers });
  const bare = new BareNode(driver, join(folder, 'bare'));
  const volumeId = await bare.make('bare');
  for (const [id, runtime] of Object.entries({ memory, lmdb })) await makeVolume(runtime, id, plugin);
  const measured: Measured = { bare: [], memory: [], lmdb: [] };
  for (let round = -warmUp; round < rounds; round += 1) {
    const took = {
      bare: await timed(() => bare.mountAndUnmount(volumeId, `alloc-${round}`)),
      memory: await timed(() => prepareAndRelease(memory, `alloc-${round}`, 'memory')),
      lmdb: await timed(() => prepareAndRelease(lmdb, `alloc-${round}`, 'lmdb')),
    };
    if (round >= 0) for (const [name, ms] of Object.entries(took)) measured[name]?.push(ms);
  }
  bare.close();
  for (const runtime of [memory, lmdb]) await runtime.close();
  return measured;
}

interface Many {
  allocs: number;
  perVolume: number;
}

const volumeNumbers = ({ allocs, perVolume }: Many): number[] =>
  Array.from({ length: Math.ceil(allocs / perVolume) }, (_, at) => at);

/** Each alloc with the number of its volume. */
const allocsOf = (many: Many): { allocId: string; volume: number }[] =>
  Array.from({ length: many.allocs }, (_, at) => ({
    allocId: `alloc-${at}`,
    volume: at % volumeNumbers(many).length,
  }));

/** So many at a time, the next as soon as one is done. */
async function byWorkers<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** The same calls for as many, one at a time for each volume. */
async function bareMany(many: Many, folder: string, driver: Driver): Promise<Measured> {
  const bare = new BareNode(driver, join(folder, 'bare'));
  const ids: string[] = [];
  for (const volume of volumeNumbers(many)) ids.push(await bare.make(`bare-${volume}`));
  const allocs = ids.map((id, volume) => ({ id, own: allocsOf(many).filter((one) => one.volume === volume) }));
  const up = await timed(() =>
    byWorkers(allocs, async ({ id, own }) => {
      await bare.stage(id);
      for (const { allocId } of own) await bare.publish(id, allocId);
    }),
  );
  const down = await timed(() =>
    byWorkers(allocs, async ({ id, own }) => {
      for (const { allocId } of own) await bare.unpublish(id, allocId);
      await bare.unstage(id);
    }),
  );
  bare.close();
  return { bareUp: [up], bareDown: [down] };
}

async function makeVolumes(runtime: Runtime, many: Many): Promise<void> {
  for (const volume of volumeNumbers(many)) await makeVolume(runtime, `volume-${volume}`, plugin);
}

const prepareAll = async (runtime: Runtime, many: Many): Promise<void> => {
  await Promise.all(allocsOf(many).map(({ allocId, volume }) => prepare(runtime, allocId, `volume-${volume}`)));
};

const releaseAll = async (runtime: Runtime, many: Many): Promise<void> => {
  await Promise.all(allocsOf(many).map(({ allocId }) => runtime.allocations.release(allocId)));
};

async function many(task: Extract<Task, { task: 'many' }>, folder: string, driver: Driver): Promise<Measured> {
  const store = lmdbStore(join(folder, 'state'));
  const runtime = await openHouse({ dataDir: join(folder, 'd'), store, drivers: { [plugin]: driver } });
  await makeVolumes(runtime, task);
  const bare = await bareMany(task, folder, driver);
  const cpu = process.cpuUsage();
  const up = await timed(() => prepareAll(runtime, task));
  const down = await timed(() => releaseAll(runtime, task));
  const { user, system } = process.cpuUsage(cpu);
  await runtime.close();
  return { ...bare, up: [up], down: [down], cpu: [(user + system) / 1_000] };
}

/** Until every alloc is prepared, as a follower hears of it. */
async function untilPrepared(runtime: Runtime, allocs: number): Promise<void> {
  const following = new AbortController();
  const updates = runtime.allocations.updates({ signal: following.signal });
  const present = await runtime.allocations.list();
  if (present.length !== allocs) throw new Error(`there are ${present.length} allocs, not ${allocs}`);
  const left = new Set(present.flatMap(({ allocId, state }) => (state === 'prepared' ? [] : [allocId])));
  if (left.size > 0)
    for await (const { kind, allocId } of updates) {
      if (kind === 'prepared') left.delete(allocId);
      if (left.size === 0) break;
    }
  following.abort();
}

async function restart(task: Extract<Task, { task: 'restart' }>, folder: string, driver: Driver): Promise<Measured> {
  const open = (isFurnished: boolean): Promise<Runtime> =>
    openHouse({
      ...{ dataDir: join(folder, 'd'), drivers: { [plugin]: driver }, isFurnished },
      store: lmdbStore(join(folder, 'state')),
    });
  const restarted = async (allocs: number): Promise<{ ran: number; prepared: number; runtime: Runtime }> => {
    const start = performance.now();
    const runtime = await open(true);
    const ran = performance.now() - start;
    await runtime.plugins.waitFor('csi-node', plugin);
    await untilPrepared(runtime, allocs);
    return { ran, prepared: performance.now() - start, runtime };
  };
  const first = await open(false);
  await makeVolumes(first, task);
  await first.close();
  const none = await restarted(0);
  await prepareAll(none.runtime, task);
  await none.runtime.close();
  const all = await restarted(task.allocs);
  await all.runtime.close();
  return { noneRan: [none.ran], nonePrepared: [none.prepared], ran: [all.ran], prepared: [all.prepared] };
}

async function dead(task: Extract<Task, { task: 'dead' }>, folder: string, driver: Driver): Promise<Measured> {
  const other = await Driver.start(join(folder, 'other'));
  const store = lmdbStore(join(folder, 'state'));
  const drivers = { [plugin]: driver, other };
  const runtime = await openHouse({ dataDir: join(folder, 'd'), store, drivers });
  for (const [id, of] of Object.entries({ live: plugin, mounted: 'other', hung: 'other' }))
    await makeVolume(runtime, id, of);
  await prepare(runtime, 'there', 'mounted');
  const measured: Measured = { alive: [], dead: [] };
  const turn = async (name: string, number: number): Promise<void> => {
    for (let at = 0; at < task.perTurn; at += 1)
      measured[name]?.push(await timed(() => prepareAndRelease(runtime, `${name}-${number}-${at}`, 'live')));
  };
  for (let at = 0; at < warmUp; at += 1) await prepareAndRelease(runtime, `warm-${at}`, 'live');
  for (let number = 0; number < task.turns; number += 1) {
    await turn('alive', number);
    other.stop();
    const hung = prepare(runtime, `hung-${number}`, 'hung');
    await turn('dead', number);
    other.goOn();
    await hung;
    await runtime.allocations.release(`hung-${number}`);
  }
  await runtime.close();
  await other.end();
  return measured;
}

async function run(task: Task, folder: string): Promise<Measured> {
  const driver = await Driver.start(join(folder, 'driver'));
  try {
    switch (task.task) {
      case 'one':
        return await one(task, folder, driver);
      case 'many':
        return await many(task, folder, driver);
      case 'restart':
        return await restart(task, folder, driver);
      case 'dead':
        return await dead(task, folder, driver);
    }
  } finally {
    await driver.end();
  }
}

const [task = '', folder = ''] = process.argv.slice(2);
console.log(JSON.stringify(await run(JSON.parse(task), folder)));
