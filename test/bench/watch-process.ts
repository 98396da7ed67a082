/**
 * What it costs to watch many plugins: the measurement of watch.ts for one kind of watcher. Says `watching` once all
 * of them were seen healthy, and prints what it measured from then on as JSON. Ends with its input.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { channelOptions } from '../../dist/src/csi/channel.js';
import { createRuntime } from '../../dist/src/runtime/runtime.js';
import { csi } from '../generated/csi.js';

export type Task = 'none' | 'bare' | 'ours';

export interface Measured {
  /** Of one core. */
  cpuMsPerMinute: number;
  /** More than with the first plugin only, of each further one. */
  heapBytes: number;
  rssBytes: number;
}

const intervalMs = 30_000;
const minuteMs = 60_000;

type Call = (done: (error: Error | null) => void) => void;

const answered = (call: Call): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())));

const [task, folder = '', countText, watchedText] = process.argv.slice(2) as [Task, string, string, string];
const [count, watchedMs] = [Number(countText), Number(watchedText)];

/** Watches the n-th plugin from now on; resolves once that was seen healthy. */
const kinds: Record<Task, () => Promise<(n: number) => Promise<unknown>>> = {
  none: async () => async () => {},
  bare: async () => async (n) => {
    const target = `unix://${join(folder, `${n}.sock`)}`;
    const identity = new csi.v1.IdentityClient(target, credentials.createInsecure(), channelOptions);
    const node = new csi.v1.NodeClient(target, credentials.createInsecure(), {
      ...channelOptions,
      channelOverride: identity.getChannel(),
    });
    const look = async (): Promise<void> => {
      await answered((done) => identity.Probe(new csi.v1.ProbeRequest(), done));
      await answered((done) => node.NodeGetCapabilities(new csi.v1.NodeGetCapabilitiesRequest(), done));
    };
    await look();
    setInterval(look, intervalMs);
  },
  ours: async () => {
    const runtime = await createRuntime({
      nodeId: 'bench',
      dataDir: join(folder, 'data'),
      fingerprint: { intervalMs },
    });
    return async (n) => {
      const connection = { socketPath: join(folder, `${n}.sock`) };
      await runtime.plugins.register({ type: 'csi-node', name: `plugin-${n}`, allocId: `alloc-${n}`, connection });
      await runtime.plugins.waitFor('csi-node', `plugin-${n}`);
    };
  },
};

function residentBytes(): number {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls end some ticks after their answers; then collects until nothing more comes of it. */
async function memory(): Promise<{ heapBytes: number; rssBytes: number }> {
  await pause(200);
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  return { heapBytes: process.memoryUsage().heapUsed, rssBytes: residentBytes() };
}

const watch = await kinds[task]();
await watch(0);
const before = await memory();
await Promise.all(Array.from({ length: count - 1 }, (_, n) => watch(n + 1)));
const after = await memory();
console.log('watching');
const cpu = process.cpuUsage();
const startMs = performance.now();
await pause(watchedMs);
const { user, system } = process.cpuUsage(cpu);
const measured: Measured = {
  cpuMsPerMinute: ((user + system) / 1_000 / (performance.now() - startMs)) * minuteMs,
  heapBytes: (after.heapBytes - before.heapBytes) / (count - 1),
  rssBytes: (after.rssBytes - before.rssBytes) / (count - 1),
};
console.log(JSON.stringify(measured));
process.stdin.resume().once('end', () => process.exit());
