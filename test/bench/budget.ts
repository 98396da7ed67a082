/** Reports the cost of one volume by area of the code. How that is sampled: budget-process.ts */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Budget } from './budget-process.js';

const program = fileURLToPath(new URL('budget-process.ts', import.meta.url));

const sum = (budget: Budget): number => Object.values(budget).reduce((all, one) => all + one, 0);

export async function reportBudget(): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--import=tsx', program]);
  const { us, bytes }: { us: Budget; bytes: Budget } = JSON.parse(stdout);
  const line = (area: string, time: number, size: number | undefined): void =>
    console.log(`  ${area.padEnd(44)} ${time.toFixed(1).padStart(8)} µs ${(size?.toFixed(0) ?? '').padStart(10)} B`);
  console.log('\none volume created and published, 64 at a time, in memory: CPU time and allocated bytes, sampled');
  for (const [area, time] of Object.entries(us)) line(area, time, bytes[area]);
  line('all', sum(us), sum(bytes));
}
