/**
 * What many actors cost that have nothing to do: memory and CPU time of each, and bringing them back from a store.
 * Each figure is taken in a process of its own: actors-process.ts
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Measured, Task } from './actors-process.js';
import { median } from './measure.js';

const actors = 100_000;
/** Longer than it takes until a lease is renewed. */
const idleMs = 30_000;

const program = fileURLToPath(new URL('actors-process.ts', import.meta.url));
const percent = (share: number): string => `${(share * 100).toFixed(3)} %`;
const line = (what: string, figure: string): void => console.log(`  ${what.padEnd(52)} ${figure.padStart(12)}`);

async function taken(task: Task, path: string, watchedMs = 0): Promise<Measured> {
  // V8 tidies up once when a process has come to rest, one that does nothing too: that is no cost of actors.
  const flags = ['--no-memory-reducer', '--expose-gc', '--import=tsx'];
  const args = [...flags, program, task, path, String(actors), String(watchedMs)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

export async function reportActors(): Promise<void> {
  const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
  try {
    await taken('fill', path);
    console.log(`\n${actors.toLocaleString('en')} idle actors`);
    for (const [task, name] of [
      ['restore', 'in memory'],
      ['passivate', 'on demand, left memory'],
    ] as const) {
      const { heapBytes, rssBytes, cpuShare } = await taken(task, path, idleMs);
      line(`${name}: heap of each`, `${Math.round(heapBytes)} B`);
      line(`${name}: resident memory of each, without files`, `${Math.round(rssBytes)} B`);
      line(`${name}: CPU time of all while idle`, percent(cpuShare));
    }
    line('none, a bare process: CPU time while idle', percent((await taken('bare', path, idleMs)).cpuShare));
    console.log(`\nrestore of ${actors.toLocaleString('en')} records`);
    for (const [task, name] of [
      ['restore', 'LMDB'],
      ['restore-memory', 'memory store'],
    ] as const) {
      const rates: number[] = [];
      for (let round = 0; round < 3; round += 1) {
        const { records, ms } = await taken(task, path);
        rates.push(records / (ms / 1_000));
      }
      line(name, `${Math.round(median(rates)).toLocaleString('en')}/s`);
    }
  } finally {
    rmSync(path, { recursive: true });
  }
}
