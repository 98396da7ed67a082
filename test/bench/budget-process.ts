/**
 * Measures the cost of one volume by area of the code: CPU time and allocated bytes, as V8's profilers sample them while volumes are
 * created and published, 64 at a time, by a driver in this process on the memory store. Prints it as JSON.
 */
import { type HeapProfiler, type Profiler, Session } from 'node:inspector/promises';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import { driverInProcess } from './volumes-driver.js';
import { publishMany, withHouse } from './volumes-house.js';

/** By area: CPU time in µs, or allocated bytes, of one volume. */
export type Budget = Record<string, number>;

const volumes = 20_000;
const warmUp = 5_000;
const atOnce = 64;

/** The first that fits. */
const areas: [area: string, urls: RegExp][] = [
  ['charts: steps of machines', /\/dist\/(machines|src\/engine\/machine)\/|\/node_modules\/xstate\//],
  ['records, journal entries, outboxes', /\/dist\/src\/engine\/actor\/(step|step-result|actor-record|commit-of)\.js/],
  ['mailboxes, commits, effects, deliveries', /\/dist\/src\/engine\//],
  ['store', /\/dist\/src\/stores\//],
  ['requests: checks (zod)', /\/node_modules\/zod\//],
  ['requests: looks, waits, answers', /\/dist\/src\/(volumes|requests|nodes|runtime)\//],
  ['calls: admission, locks, answers', /\/dist\/src\//],
  ['driver and loop of this bench', /\/test\/bench\//],
];
const rest = 'Node itself';

const areaOf = (url: string): string | undefined => areas.find(([, urls]) => urls.test(url))?.[0];

/** Sums by area. Functions without a file, such as those of JSON and promises, count for their caller. */
class Sums {
  readonly #budget: Budget = Object.fromEntries([...areas.map(([area]) => [area, 0]), [rest, 0]]);

  add(area: string, amount: number): void {
    this.#budget[area] = (this.#budget[area] ?? 0) + amount / volumes;
  }

  get budget(): Budget {
    return this.#budget;
  }
}

function timesIn({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Budget {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const sums = new Sums();
  const areaAt = (id: number | undefined): string =>
    id === undefined ? rest : (areaOf(frames.get(id)?.url ?? '') ?? areaAt(parents.get(id)));
  samples.forEach((id, at) => {
    const name = frames.get(id)?.functionName;
    if (name === '(idle)') return;
    sums.add(name === '(garbage collector)' ? 'garbage collection' : areaAt(id), timeDeltas[at] ?? 0);
  });
  return sums.budget;
}

function bytesIn({ head }: HeapProfiler.SamplingHeapProfile): Budget {
  const sums = new Sums();
  const walk = ({ callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode, outer: string): void => {
    const area = areaOf(callFrame.url) ?? outer;
    sums.add(area, selfSize);
    for (const child of children) walk(child, area);
  };
  walk(head, rest);
  return sums.budget;
}

async function publish(count: number, begin: () => Promise<void> = async () => {}): Promise<void> {
  await withHouse({ store: memoryStore(), dispenser: driverInProcess() }, async (runtime) => {
    globalThis.gc?.();
    await begin();
    await publishMany(runtime, { count, atOnce });
  });
}

const session = new Session();
session.connect();
await publish(warmUp);
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: 200 });
await publish(volumes, () => session.post('Profiler.start'));
const { profile } = await session.post('Profiler.stop');
const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
await publish(volumes, () => session.post('HeapProfiler.startSampling', { samplingInterval: 4_096, ...all }));
const { profile: heap } = await session.post('HeapProfiler.stopSampling');
console.log(JSON.stringify({ us: timesIn(profile), bytes: bytesIn(heap) }));
