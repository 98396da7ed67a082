/** T7: processes are ended by their mark, and by what was recorded of them where they have none. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProcessIdentity } from '../../machines/task-types.js';
import { systemClock } from '../../src/engine/clock.js';
import { endProcesses } from '../../src/tasks/end-processes.js';
import { findProcesses, groupOf, identify, isAlive } from '../../src/tasks/processes.js';
import { until } from '../until.js';

/** Ends the thread that calls it, not the process. */
const exitSyscall = process.arch === 'x64' ? 60 : 93;

describe('ending the processes of a task', () => {
  let dataDir: string;
  let child: ChildProcess;
  let known: ProcessIdentity;

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-end-'));
    mkdirSync(join(dataDir, 'plugins', 'ebs-00000000'), { recursive: true });
    // With no mark: as a process looks that has overwritten its environment.
    child = spawn('/bin/sh', ['-c', 'sleep 602 & echo up; wait'], {
      env: {},
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (child.stdout) await once(child.stdout, 'data');
    const identity = identify(child.pid ?? 0);
    if (!identity) throw new Error('the shell did not start');
    known = identity;
  });
  afterEach(() => {
    if (groupOf(known) !== undefined) process.kill(-known.pid, 'SIGKILL');
    rmSync(dataDir, { recursive: true });
  });

  const end = (identity: ProcessIdentity | null, signal = new AbortController().signal): Promise<void> =>
    endProcesses({ dataDir, socketRoot: dataDir }, systemClock, { id: 'ebs', known: identity, signal });

  it('T7 one without the mark that was recorded is ended with its whole group', async () => {
    expect(await findProcesses(`${dataDir}#ebs`, known.pid)).to.have.lengthOf(2);
    await end(known);
    expect(await findProcesses(`${dataDir}#ebs`, known.pid)).to.deep.equal([]);
  });

  it('T9 one that only has the pid of what was recorded is let be', async () => {
    await end({ ...known, startTime: known.startTime - 1 });
    await end({ ...known, bootId: 'another' });
    await end(null);
    expect(isAlive(known)).to.equal(true);
  });

  it('T7 cancelled: nothing is signalled, nothing is removed', async () => {
    const failure: unknown = await end(known, AbortSignal.abort(new Error('left'))).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'left');
    expect(isAlive(known)).to.equal(true);
    expect(readdirSync(join(dataDir, 'plugins'))).to.deep.equal(['ebs-00000000']);
  });

  it('T7 T9 a process whose first thread is dead and whose others live is not taken for gone', async () => {
    // As one looks that hangs in the kernel with one thread after SIGKILL.
    const script = `
import ctypes, threading
threading.Thread(target=lambda: (print("up", flush=True), threading.Event().wait())).start()
ctypes.CDLL(None).syscall(${exitSyscall}, 0)
`;
    const env = { ...process.env, STAGECRAFT_TASK: `${dataDir}#ebs`, STAGECRAFT_TOKEN: 't' };
    const half = spawn('python3', ['-c', script], { env, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(half, 'exit');
    try {
      await until(() => readFileSync(`/proc/${half.pid}/stat`, 'latin1').includes(') Z '));
      const halfDead = identify(half.pid ?? 0);
      if (!halfDead) throw new Error('it is taken for dead');
      expect(isAlive(halfDead)).to.equal(true);
      const found = await findProcesses(`${dataDir}#ebs`);
      expect(found.map(({ identity, token }) => [identity, token])).to.deep.equal([[halfDead, 't']]);
      await end(null);
      expect(await exited).to.deep.equal([null, 'SIGTERM']);
      expect(isAlive(halfDead)).to.equal(false);
    } finally {
      half.kill('SIGKILL');
    }
  });
});
