/** T7 T9: what a search for processes takes, and what it never misses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, promises, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { endProcesses } from '../../src/tasks/end-processes.js';
import { findProcesses, identify } from '../../src/tasks/processes.js';

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
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
    rmSync(dataDir, { recursive: true });
  });

  async function run(id: string): Promise<ChildProcess & { pid: number }> {
    const env = { STAGECRAFT_TASK: `${dataDir}#${id}`, STAGECRAFT_TOKEN: id };
    const child = spawn('/bin/sleep', ['600'], { env, detached: true, stdio: 'ignore' });
    children.push(child);
    await once(child, 'spawn');
    if (child.pid === undefined) throw new Error('it did not start');
    return Object.assign(child, { pid: child.pid });
  }

  it('T7 many tasks that end together make few searches, not some for each', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `ebs-${n}`);
    await Promise.all(ids.map(run));
    const { signal } = new AbortController();
    const paths = { dataDir, socketRoot: dataDir };
    await Promise.all(ids.map((id) => endProcesses(paths, systemClock, { id, known: null, signal })));
    expect(children.filter(({ pid = 0 }) => identify(pid) !== undefined)).to.deep.equal([]);
    expect(searches).to.be.within(2, ids.length / 2);
  });

  it('T9 a process that was started while others searched is found by who searches then', async () => {
    const early = findProcesses(`${dataDir}#ebs`);
    while (searches === 0) await new Promise(setImmediate);
    const { pid } = await run('ebs');
    const found = await findProcesses(`${dataDir}#ebs`);
    expect(found.map(({ identity }) => identity.pid)).to.deep.equal([pid]);
    expect((await early).length).to.be.within(0, 1);
  });

  it('T7 a process that keeps its readers waiting, as one that hangs in the kernel, holds up no search', async () => {
    const hanging = await run('nfs');
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
      const found = await findProcesses(`${dataDir}#ebs`, hanging.pid);
      expect(found.map(({ identity }) => identity.pid)).to.have.members([pid, hanging.pid]);
    }
    expect(readings, 'each would take a thread').to.equal(1);
  });
});
