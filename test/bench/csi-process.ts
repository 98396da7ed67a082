/** What many channels cost this process: the measurement of csi.ts for one kind of client, printed as JSON. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { channelOptions } from '../../dist/src/csi/channel.js';
import { CsiClient } from '../../dist/src/csi/client.js';
import { csi } from '../generated/csi.js';

export type Task = 'bare' | 'ours';

export interface Measured {
  /** Of each channel. */
  heapBytes: number;
  rssBytes: number;
}

const atOnce = 50;

interface Client {
  probe(): Promise<unknown>;
  close(): void;
}

const kinds: Record<Task, (socketPath: string) => Client> = {
  ours: (socketPath) => new CsiClient({ socketPath }),
  bare: (socketPath) => {
    const client = new csi.v1.IdentityClient(`unix://${socketPath}`, credentials.createInsecure(), channelOptions);
    const probe = (): Promise<unknown> =>
      new Promise((resolve, reject) =>
        client.Probe(new csi.v1.ProbeRequest(), (error, answer) => (error ? reject(error) : resolve(answer))),
      );
    return { probe, close: () => client.close() };
  },
};

function residentBytes(): number {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Calls end some ticks after their answers; then collects until nothing more comes of it. */
async function collect(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
}

const [task, folder = '', count] = process.argv.slice(2) as [Task, string, string];
const open = kinds[task];
const first = open(join(folder, '0.sock'));
await first.probe();
await collect();
const before = { heap: process.memoryUsage().heapUsed, rss: residentBytes() };
const clients = Array.from({ length: Number(count) - 1 }, (_, index) => open(join(folder, `${index + 1}.sock`)));
for (let from = 0; from < clients.length; from += atOnce) {
  await Promise.all(clients.slice(from, from + atOnce).map((client) => client.probe()));
}
await collect();
const measured: Measured = {
  heapBytes: (process.memoryUsage().heapUsed - before.heap) / clients.length,
  rssBytes: (residentBytes() - before.rss) / clients.length,
};
console.log(JSON.stringify(measured));
for (const client of [first, ...clients]) client.close();
