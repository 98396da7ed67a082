/** Tools as processes of their own: what they say, when they hang, and what outlives the driver. */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { takeLock } from '../../src/host/lock-file.js';
import { outputOf, runner, ToolFailure } from '../../src/tools/driver/commands.js';
import { hostMounts } from '../../src/tools/driver/mounts.js';

const run = runner({ timeoutMs: 120_000 });

const failureOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'none', String);

describe('tools of the system', () => {
  it('answer how they ended, and what they said', async () => {
    const script = 'echo out; echo err >&2; exit 3';
    expect(await run('sh', ['-c', script])).to.deep.equal({ status: 3, stdout: 'out\n', stderr: 'err' });
  });

  it('speak English, whatever the user speaks', async () => {
    expect((await run('sh', ['-c', 'echo $LC_ALL'])).stdout).to.equal('C\n');
  });

  it('that are missing are an error that names them', async () => {
    expect(await failureOf(run('no-such-tool', []))).to.contain('no-such-tool does not run');
    const mounts = hostMounts(() => run('no-such-tool', []));
    expect(await failureOf(mounts.unmount('/x'))).to.contain('util-linux installed?');
  });

  it('that say no are told with their own words, once', async () => {
    expect(await failureOf(outputOf(run, ['ls', '/no/such']))).to.match(/^ToolFailure: ls: cannot access/);
    expect(await failureOf(outputOf(run, ['sh', '-c', 'exit 3']))).to.equal('ToolFailure: sh: ended with 3');
  });

  it('that name a file are not taken by its name for another failure', () => {
    const failure = new ToolFailure(
      "cp: cannot open 'No space left on device: No such file or directory': Input/output error",
    );
    expect(failure).to.include({ hasLostFiles: false, isOutOfRoom: false });
    expect(new ToolFailure("cp: 'x': No such file or directory\ncp: 'y': Input/output error")).to.include({
      hasLostFiles: true,
    });
    expect(new ToolFailure("cp: error writing 'x': No space left on device")).to.include({ isOutOfRoom: true });
  });

  it('that hang are killed at their deadline', async () => {
    const hanging = runner({ timeoutMs: 50 })('sleep', ['1000']);
    expect(await failureOf(hanging))
      .to.contain('sleep was killed by SIGKILL')
      .and.contain('50 ms');
  });

  describe('and the lock of the data directory', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'commands-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('hold it until they have ended, though who started them has let it go', async () => {
      const [path, gate] = [join(folder, 'lock'), join(folder, 'gate')];
      await run('mkfifo', [gate]);
      const taken = takeLock(path);
      if (!('unlock' in taken)) throw new Error('the lock is not free');
      const tool = runner({ timeoutMs: 120_000, lockFile: taken.file })('cat', [gate]);
      const writer = openSync(gate, 'w'); // once the tool reads
      taken.unlock();
      expect(takeLock(path)).to.have.property('owner');
      writeFileSync(writer, 'go on');
      closeSync(writer);
      expect((await tool).stdout).to.equal('go on');
      const again = takeLock(path);
      expect(again).to.have.property('unlock');
      if ('unlock' in again) again.unlock();
    });
  });
});
