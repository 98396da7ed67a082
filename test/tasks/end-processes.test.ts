/** T7: processes are ended by their mark, and by what was recorded of them where they have none. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProcessIdentity } from '../../machines/task/task-types.js';
import { type Clock, systemClock } from '../../src/engine/clock.js';
import { endProcesses } from '../../src/tasks/end-processes.js';
import { taskMark } from '../../src/tasks/paths.js';
import { findProcesses, groupOf, identify, isAlive, livingRuns, signalGroup } from '../../src/tasks/processes.js';
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
    expect(await findProcesses(taskMark({ dataDir }, 'ebs'), known.pid)).to.have.lengthOf(2);
    await end(known);
    expect(await findProcesses(taskMark({ dataDir }, 'ebs'), known.pid)).to.deep.equal([]);
  });

  /** A process of the task that has started another one, which has left its session. */
  const startRun = async (token: string): Promise<[main: ProcessIdentity, child: ProcessIdentity]> => {
    const { task, directory } = taskMark({ dataDir }, 'ebs');
    const env = {
      PATH: process.env.PATH,
      STAGECRAFT_TASK: task,
      STAGECRAFT_DATA_DIR_ID: directory,
      STAGECRAFT_TOKEN: token,
    };
    const main = spawn('/bin/sh', ['-c', 'setsid sleep 605 & echo $!; wait'], {
      ...{ env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    });
    const [line] = main.stdout ? await once(main.stdout, 'data') : [];
    const pids = [main.pid ?? 0, Number(String(line))];
    await until(() => readFileSync(`/proc/${pids[1]}/comm`, 'utf8').trim() === 'sleep');
    const [one, other] = pids.map(identify);
    if (!one || !other) throw new Error('they did not start');
    return [one, other];
  };

  it('T7, 34.33 of a run that is kept only the recorded process is ended; later all of it', async () => {
    const [main, daemon] = await startRun('t1');
    const [unrecorded, itsChild] = await startRun('t2');
    try {
      const told: number[][] = [];
      const request = { id: 'ebs', known: main, signal: new AbortController().signal };
      const others = (pids: number[]): void => void told.push(pids);
      await endProcesses({ dataDir, socketRoot: dataDir }, systemClock, { ...request, kept: ['t1'], others });
      expect([main, daemon, unrecorded, itsChild].map(isAlive)).to.deep.equal([false, true, false, false]);
      expect(told).to.have.length(1);
      expect(told[0]).to.have.members([unrecorded.pid, itsChild.pid]);
      expect(await livingRuns(taskMark({ dataDir }, 'ebs'), ['t1', 't2'])).to.deep.equal(['t1']);

      await endProcesses({ dataDir, socketRoot: dataDir }, systemClock, { ...request, others });
      expect([isAlive(daemon), told.at(-1)]).to.deep.equal([false, [daemon.pid]]);
    } finally {
      for (const one of [main, daemon, unrecorded, itsChild]) if (isAlive(one)) process.kill(one.pid, 'SIGKILL');
    }
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
      const found = await findProcesses(taskMark({ dataDir }, 'ebs'));
      expect(found.map(({ identity, token }) => [identity, token])).to.deep.equal([[halfDead, 't']]);
      await end(null);
      expect(await exited).to.deep.equal([null, 'SIGTERM']);
      expect(isAlive(halfDead)).to.equal(false);
    } finally {
      half.kill('SIGKILL');
    }
  });

  it('T7 what a driver keeps beside its socket stays, as does a directory that something is mounted on', async () => {
    const kept = join(dataDir, 'plugins', 'ebs-00000000', 'kept');
    mkdirSync(kept);
    writeFileSync(join(kept, 'state'), 'precious');
    writeFileSync(join(dataDir, 'plugins', 'ebs-00000000', 'csi.sock'), '');
    const mounted = join(dataDir, 'plugins', 'ebs-00000001');
    mkdirSync(mounted);
    mkdirSync(join(dataDir, 'plugins', 'ebs-00000002'));
    execFileSync('mount', ['--bind', mounted, mounted]);
    try {
      await end(null);
      expect(readdirSync(join(dataDir, 'plugins'))).to.have.members(['ebs-00000000', 'ebs-00000001']);
      expect(readdirSync(join(dataDir, 'plugins', 'ebs-00000000'))).to.deep.equal(['kept']);
      expect(readFileSync(join(kept, 'state'), 'utf8')).to.equal('precious');
    } finally {
      execFileSync('umount', [mounted]);
    }
  });

  it('T7 the directory of the run that stays is kept, those of other runs and of no other task are removed', async () => {
    for (const name of ['ebs-11111111', 'ebs-x-00000000']) mkdirSync(join(dataDir, 'plugins', name));
    await endProcesses({ dataDir, socketRoot: dataDir }, systemClock, {
      id: 'ebs',
      known: null,
      except: { allocId: 'ebs-11111111', token: 't' },
      signal: new AbortController().signal,
    });
    expect(readdirSync(join(dataDir, 'plugins'))).to.have.members(['ebs-11111111', 'ebs-x-00000000']);
  });

  describe('with signals that are only recorded', () => {
    const { kill } = process;
    let signals: unknown[];
    beforeEach(() => {
      signals = [];
      process.kill = (pid, signal) => {
        signals.push([pid, signal]);
        return true;
      };
    });
    afterEach(() => {
      process.kill = kill;
    });

    it('T7 what survives SIGKILL is an error that names it, and its socket stays', async () => {
      writeFileSync(join(dataDir, 'plugins', 'ebs-00000000', 'csi.sock'), '');
      const hurried: Clock = {
        ...systemClock,
        monotonicMs: () => 1_000 * systemClock.monotonicMs(),
        after: (delayMs, callback) => systemClock.after(delayMs / 1_000, callback),
      };
      const request = { id: 'ebs', known, signal: new AbortController().signal };
      const failure: unknown = await endProcesses({ dataDir, socketRoot: dataDir }, hurried, request).catch(
        (error: unknown) => error,
      );
      expect(failure)
        .to.have.property('message')
        .that.matches(new RegExp(`^task ebs: processes ${known.pid}, \\d+ survive SIGKILL`));
      expect(signals).to.deep.equal([
        [-known.pid, 'SIGTERM'],
        [-known.pid, 'SIGKILL'],
      ]);
      expect(readdirSync(join(dataDir, 'plugins', 'ebs-00000000'))).to.deep.equal(['csi.sock']);
    });

    it('T7 no signal goes to our own group, nor to every process', () => {
      for (const group of [1, 0, -1, Number.NaN]) {
        expect(() => signalGroup(group, 'SIGTERM')).to.throw(`${group} is not the process group of a task`);
      }
      expect(signals).to.deep.equal([]);
    });
  });
});
