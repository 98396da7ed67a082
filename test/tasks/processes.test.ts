/** T7 T9: what a search for processes takes, and what it never misses. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, promises, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { endProcesses } from '../../src/tasks/end-processes.js';
import { taskMark } from '../../src/tasks/paths.js';
import { findProcesses, identify } from '../../src/tasks/processes.js';
import { until } from '../until.js';

describe('a search for processes', () => {
  const { readdir, readFile } = promises;
  let dataDir: string;
  let children: ChildProcess[];
  let searches: number;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'stagecraft-find-'));
    mkdirSync(join(dataDir, 'plugins'));
    children = [];
    searches = 0;
    promises.readdir = new Proxy(readdir, {
      apply(target, self, args) {
        if (args[0] === '/proc') searches += 1;
        return Reflect.apply(target, self, args);
      },
    });
    syncBuiltinESMExports();
  });
  afterEach(async () => {
    Object.assign(promises, { readdir, readFile });
    syncBuiltinESMExports();
    const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((child) => once(child, 'exit'));
    for (const { pid = 0 } of running) process.kill(-pid, 'SIGKILL');
    await Promise.all(ended);
    rmSync(dataDir, { recursive: true });
  });

  async function run(id: string, command = ['/bin/sleep', '600']): Promise<ChildProcess & { pid: number }> {
    const env = { ...process.env, STAGECRAFT_TASK: `${dataDir}#${id}`, STAGECRAFT_TOKEN: id };
    const [program = '', ...args] = command;
    const child = spawn(program, args, { env, detached: true, stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    if (child.pid === undefined) throw new Error('it did not start');
    return Object.assign(child, { pid: child.pid });
  }

  it('T7 many tasks that end together make few searches, not some for each', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `ebs-${n}`);
    await Promise.all(ids.map((id) => run(id)));
    const { signal } = new AbortController();
    const paths = { dataDir, socketRoot: dataDir };
    await Promise.all(ids.map((id) => endProcesses(paths, systemClock, { id, known: null, signal })));
    expect(children.filter(({ pid = 0 }) => identify(pid) !== undefined)).to.deep.equal([]);
    expect(searches).to.be.within(2, ids.length / 2);
  });

  it('T9 a process of another data directory at the same path is not ours; one without a mark is', async () => {
    const mark = taskMark({ dataDir }, 'ebs');
    const tells = (id: string): string[] => ['/usr/bin/env', `STAGECRAFT_DATA_DIR_ID=${id}`, '/bin/sleep', '600'];
    const older = await run('ebs');
    const ours = await run('ebs', tells(mark.directory));
    const theirs = await run('ebs', tells(`${mark.directory}1`));
    await until(() => readFileSync(`/proc/${theirs.pid}/comm`, 'utf8') === 'sleep\n');
    await until(() => readFileSync(`/proc/${ours.pid}/comm`, 'utf8') === 'sleep\n');
    const found = await findProcesses(mark);
    expect(found.map(({ identity }) => identity.pid)).to.have.members([older.pid, ours.pid]);
  });

  it('T9 a process that was started while others searched is found by who searches then', async () => {
    const early = findProcesses(taskMark({ dataDir }, 'ebs'));
    while (searches === 0) await new Promise(setImmediate);
    const { pid } = await run('ebs');
    const found = await findProcesses(taskMark({ dataDir }, 'ebs'));
    expect(found.map(({ identity }) => identity.pid)).to.deep.equal([pid]);
    expect((await early).length).to.be.within(0, 1);
  });

  it('T7 a process that keeps its readers waiting as it hangs in the kernel holds up no search', async () => {
    const pipe = join(dataDir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Who makes another so is in state D until that has opened all its files.
    const script = `import os; os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, "${pipe}", os.O_RDONLY, 0)])`;
    const hanging = await run('nfs', ['python3', '-c', script]);
    await until(() => readFileSync(`/proc/${hanging.pid}/stat`, 'latin1').includes(') D '));
    const { pid } = await run('ebs');
    let readings = 0;
    promises.readFile = new Proxy(readFile, {
      apply(target, self, args) {
        if (args[0] !== `/proc/${hanging.pid}/task/${hanging.pid}/environ`) return Reflect.apply(target, self, args);
        readings += 1;
        return new Promise(() => {});
      },
    });
    syncBuiltinESMExports();
    for (let n = 0; n < 3; n += 1) {
      const found = await findProcesses(taskMark({ dataDir }, 'ebs'), hanging.pid);
      expect(found.map(({ identity }) => identity.pid)).to.include.members([pid, hanging.pid]);
    }
    expect(readings, 'each would take a thread').to.equal(1);
  });
});
