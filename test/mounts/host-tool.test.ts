/** Tools that run as processes of their own. Of mounts that are dead: dead-mounts.test.ts */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { blockDeviceAt, hostTool, ToolOverdue } from '../../src/mounts/host-tool.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { builtProgram } from '../built.js';
import { until } from '../until.js';
import { processesOf } from './processes-of.js';

const deadlineMs = 10_000;

describe('host tools', () => {
  const clock = simulatedClock();
  const tool = hostTool(clock, deadlineMs);

  it('a tool says what it wrote and how it ended, without a shell, in words that can be read', async () => {
    expect(await tool.run('printf', ['%s|', 'a b', '$HOME', ';'])).to.deep.equal({
      status: 0,
      stdout: 'a b|$HOME|;|',
      stderr: '',
    });
    const failed = await tool.run('rmdir', ['/nowhere/at all']);
    expect(failed).to.deep.equal({
      status: 1,
      stdout: '',
      stderr: "rmdir: failed to remove '/nowhere/at all': No such file or directory",
    });
    expect(clock.pending).to.equal(0);
  });

  it('M16 a block device is told from all else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sc-'));
    const [block, file] = [join(folder, 'block'), join(folder, 'block special file')];
    try {
      writeFileSync(file, '');
      expect((await tool.run('mknod', [block, 'b', '7', '200'])).stderr).to.equal('');
      const told = [block, file, '/dev/null', join(folder, 'never there')].map((path) => blockDeviceAt(path, tool));
      expect(await Promise.all(told)).to.deep.equal([{ isWritable: false }, undefined, undefined, undefined]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a tool that is not there says what to install', async () => {
    const error = await tool.run('no-such-tool', []).catch(String);
    expect(error).to.include('no-such-tool does not run').and.include('are coreutils and util-linux installed?');
    expect(clock.pending).to.equal(0);
  });

  it('a tool that was killed says by what', async () => {
    expect(await tool.run('sh', ['-c', 'kill -TERM $$']).catch(String)).to.include('was killed by SIGTERM');
  });

  it('of a tool that writes without end only the beginning is kept', async () => {
    const { stdout } = await tool.run('head', ['-c', '10000000', '/dev/zero']);
    expect(stdout.length).to.be.within(2 ** 16, 2 ** 18);
  });

  it('a tool that takes too long is killed, and that is told at once', async () => {
    const running = tool.run('sleep', ['4242']).catch((error: unknown) => error);
    await clock.advance(deadlineMs - 1);
    expect(processesOf('4242')).to.have.length(1);
    await clock.advance(1);
    const error = await running;
    expect(error).to.be.instanceOf(ToolOverdue);
    expect(String(error)).to.include('sleep 4242 did not end within 10000 ms');
    await until(() => processesOf('4242').length === 0);
  });

  it('without a file descriptor left a tool does not run, and says why', () => {
    const program = builtProgram(new URL('starved-process.ts', import.meta.url));
    const shell = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, program];
    const { stdout, stderr } = spawnSync('sh', shell, { encoding: 'utf8' });
    expect(stderr).to.equal('');
    const { ran, isAlive } = JSON.parse(stdout);
    expect(ran).to.include('true does not run (spawn true EMFILE)');
    expect(isAlive).to.include('stat does not run (spawn stat EMFILE)');
  });
});
