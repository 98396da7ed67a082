/**
 * What allocs cost on the bundled driver, which mounts: against the same calls made bare, by their number, after a restart,
 * and while another driver does not answer. Each figure in a process and a mount namespace of its own: mounts-process.ts
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from './measure.js';
import type { Measured, Task } from './mounts-process.js';

const program = fileURLToPath(new URL('mounts-process.ts', import.meta.url));
/** What is mounted there is seen nowhere else, and goes with the last process. */
const ownMounts = ['--mount', '--propagation', 'private'];

const line = (what: string, figure: string): void => console.log(`  ${what.padEnd(52)} ${figure}`);
const sum = (values: number[] = []): number => values.reduce((one, other) => one + other, 0);
const middle = (values: number[] = []): number => median(values);
const p99 = (values: number[] = []): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? Number.NaN;

/** Takes the figures of what they are taken with: by turns, where one run has both. */
async function taken(task: Task): Promise<Measured> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sc-bench-')));
  const node = [process.execPath, '--expose-gc', '--import=tsx', program, JSON.stringify(task), folder];
  try {
    const { stdout } = await promisify(execFile)('unshare', [...ownMounts, ...node]);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function reportOne(): Promise<void> {
  const { bare, memory, lmdb } = await taken({ task: 'one', rounds: 100 });
  const bareMs = middle(bare);
  console.log('\none alloc with one volume, prepared and released; medians, by turns');
  line('NodeStage, NodePublish, NodeUnpublish, NodeUnstage', `${bareMs.toFixed(1)} ms`);
  for (const [name, ms] of Object.entries({ 'memory store': middle(memory), LMDB: middle(lmdb) }))
    line(name, `${ms.toFixed(1)} ms, ${(ms / bareMs).toFixed(2)} of that`);
}

async function reportMany(): Promise<void> {
  console.log('\nallocs at once, ten on each volume, LMDB: of each, prepared and released');
  let fewMs: number | undefined;
  let fewBareMs: number | undefined;
  for (const allocs of [100, 1_000]) {
    const measured = await taken({ task: 'many', allocs, perVolume: 10 });
    const bareMs = (sum(measured.bareUp) + sum(measured.bareDown)) / allocs;
    const ms = (sum(measured.up) + sum(measured.down)) / allocs;
    fewMs ??= ms;
    fewBareMs ??= bareMs;
    const bareGrowth = `${(bareMs / fewBareMs).toFixed(2)} of 100`;
    line(`${allocs}: the bare calls, one at a time for each volume`, `${bareMs.toFixed(1)} ms, ${bareGrowth}`);
    line(
      `${allocs}: ours`,
      `${ms.toFixed(1)} ms, ${(ms / bareMs).toFixed(2)} of bare, ${(ms / fewMs).toFixed(2)} of 100`,
    );
    line(`${allocs}: CPU time of the runtime`, `${(sum(measured.cpu) / allocs).toFixed(1)} ms`);
  }
}

async function reportRestart(): Promise<void> {
  const allocs = 1_000;
  const measured = await taken({ task: 'restart', allocs, perVolume: 10 });
  const none = middle(measured.nonePrepared);
  const all = middle(measured.prepared);
  console.log(`\na restart with ${allocs} allocs that are prepared, LMDB`);
  line(
    'with none: runs, and its plugin is healthy',
    `${middle(measured.noneRan).toFixed(0)} ms, ${none.toFixed(0)} ms`,
  );
  line('with all: runs, and all are prepared', `${middle(measured.ran).toFixed(0)} ms, ${all.toFixed(0)} ms`);
  line('each alloc', `${((all - none) / allocs).toFixed(2)} ms`);
}

async function reportDead(): Promise<void> {
  const { alive, dead } = await taken({ task: 'dead', turns: 10, perTurn: 30 });
  console.log('\none alloc, prepared and released, while another driver is stopped; LMDB, by turns: median, 99 of 100');
  line('both drivers answer', `${middle(alive).toFixed(1)} ms, ${p99(alive).toFixed(1)} ms`);
  line('the other does not', `${middle(dead).toFixed(1)} ms, ${p99(dead).toFixed(1)} ms`);
  const ratio = (of: (values?: number[]) => number): string => (of(dead) / of(alive)).toFixed(2);
  line('against', `${ratio(middle)}, ${ratio(p99)}`);
}

export async function reportMounts(): Promise<void> {
  if (spawnSync('unshare', [...ownMounts, 'true']).status !== 0) {
    console.log('\nmounts: left out, they need root and unshare(1)');
    return;
  }
  await reportOne();
  await reportMany();
  await reportRestart();
  await reportDead();
}
