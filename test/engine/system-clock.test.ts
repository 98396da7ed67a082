/** The clock of the system while the process stands still: stopped, swapped out, or on a host that was paused. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { standStill } from '../support/stand-still.js';

/** Ended, and not yet known to this process. */
const hasEnded = (pid: number | undefined): boolean => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');

describe('the clock of the system', () => {
  it('34.29 what came while the process stood still is heard before a time limit ends', async () => {
    const told: string[] = [];
    const child = spawn('sh', ['-c', 'read -r question && echo answer'], { stdio: ['pipe', 'pipe', 'ignore'] });
    await once(child, 'spawn');
    child.stdout.on('data', () => told.push('answer'));
    const over = new Promise<void>((resolve) => {
      systemClock.after(50, () => {
        told.push('limit');
        resolve();
      });
    });
    child.stdin.write('question\n');
    do standStill(400);
    while (!hasEnded(child.pid));
    await over;
    expect(told).to.deep.equal(['answer', 'limit']);
  });

  it('a limit that was cancelled in its last turn does nothing', async () => {
    const told: string[] = [];
    const cancel = systemClock.after(10, () => told.push('limit'));
    setTimeout(cancel, 20);
    standStill(400);
    await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)));
    expect(told).to.deep.equal([]);
  });
});
