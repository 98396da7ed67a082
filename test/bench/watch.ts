/**
 * What it costs to watch 1,000 plugins that are healthy, each behind a socket of its own: against the generated grpc-js
 * client that makes the same calls as often. The plugins are in one process, whoever watches in another.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PluginServer } from './plugin-server.js';
import type { Measured, Task } from './watch-process.js';

const plugins = 1_000;
/** Two rounds of each plugin. */
const watchedMs = 60_000;

const program = fileURLToPath(new URL('watch-process.ts', import.meta.url));
const tasks: [Task, string][] = [
  ['none', 'a bare process, nothing watched'],
  ['bare', 'the generated grpc-js client, two calls each'],
  ['ours', 'runtime, LMDB'],
];

/** @returns what was measured, and how many plugins were probed in each second of it */
async function watched(task: Task, folder: string, server: PluginServer): Promise<[Measured, number[]]> {
  const flags = ['--no-memory-reducer', '--expose-gc', '--import=tsx'];
  const args = [...flags, program, task, folder, String(plugins), String(watchedMs)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  await lines.next();
  await server.count();
  const { value = '' } = await lines.next();
  const probes = await server.count();
  child.stdin.end();
  await once(child, 'exit');
  return [JSON.parse(value), probes];
}

export async function reportWatch(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  const server = new PluginServer(Array.from({ length: plugins }, (_, n) => join(folder, `${n}.sock`)));
  try {
    await server.serve();
    console.log(`\n${plugins.toLocaleString('en')} plugins watched, every 30 s`);
    for (const [task, name] of tasks) {
      const [{ cpuMsPerMinute, heapBytes, rssBytes }, probes] = await watched(task, folder, server);
      const cpu = `CPU ${Math.round(cpuMsPerMinute).toLocaleString('en')} ms a minute`;
      const memory = `of each heap ${(heapBytes / 1_000).toFixed(1)} kB, resident ${(rssBytes / 1_000).toFixed(1)} kB`;
      const total = probes.reduce((sum, second) => sum + second, 0);
      console.log(`  ${name.padEnd(48)} ${cpu}; ${memory}`);
      if (total > 0) console.log(`    probes: ${total}, in the busiest second ${Math.max(...probes)}`);
    }
  } finally {
    await server.end();
    rmSync(folder, { recursive: true });
  }
}
