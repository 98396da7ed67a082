/** The LMDB store on a disk that is full for an hour of simulated time. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { builtProgram } from '../built.js';

/** Most attempts within an hour: nine pauses that double from 1 s on, then one each 300 s. */
const mostAttempts = 20;

describe('lmdb store, its disk full', () => {
  let disk: string;
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), 'stagecraft-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', disk]);
  });
  afterEach(() => {
    execFileSync('umount', [disk]);
    rmdirSync(disk);
  });

  it('34 an hour long: LMDB prints a handful of lines, the reason is plain, and room ends it at once', () => {
    const script = builtProgram(new URL('lmdb-full-disk.ts', import.meta.url));
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, disk], { encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    expect(stderr.match(/Write error/g) ?? []).to.have.length.within(1, mostAttempts);
    const { reasons, failed, refused, before, afterRoom, kept, acknowledged } = JSON.parse(stdout);
    expect(reasons).to.deep.equal([
      `The store in ${disk}/state could not write: its disk is full. Make room there: it goes on by itself then`,
    ]);
    expect(failed, 'those that were tried, whose outcome is unknown').to.be.within(1, mostAttempts);
    expect(failed + refused + before, 'all others are refused: they were not tried').to.equal(3_600);
    expect(afterRoom).to.equal('done');
    expect(acknowledged).to.equal(before + 1);
    expect(kept).to.equal(acknowledged);
  });
});
