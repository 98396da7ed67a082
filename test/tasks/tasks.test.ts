/** T: tasks with real processes, through a runtime on real time; what waits, waits for events. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Runtime, StagecraftError, type TaskUpdate } from '../../src/index.js';
import { findProcesses, identify, isAlive } from '../../src/tasks/processes.js';
import { until as untilSo } from '../until.js';
import { findProcesses as findNow } from './found.js';
import { command, hostpath, TaskHouse, until } from './task-house.js';

describe('tasks', () => {
  let house: TaskHouse;
  let dataDir: string;
  let runtime: Runtime;
  let updates: AsyncIterator<TaskUpdate>;

  beforeEach(async () => {
    house = new TaskHouse();
    await open();
  });
  afterEach(() => house.dispose());

  const open = async (): Promise<void> => {
    await house.open();
    ({ dataDir, runtime, updates } = house);
  };

  it('T2 T3 a start gets its own socket directory, mode 0700, and registers the plugin under the task’s id', async () => {
    await runtime.tasks.start(hostpath);
    const { info, fingerprint } = await runtime.plugins.waitFor('csi-node', 'hostpath');
    const { allocId } = runtime.tasks.status('hostpath');
    expect(info).to.deep.include({ type: 'csi-node', name: 'hostpath', allocId });
    expect(info.connection.socketPath).to.equal(join(dataDir, 'plugins', String(allocId), 'csi.sock'));
    expect(statSync(join(dataDir, 'plugins', String(allocId))).mode & 0o777).to.equal(0o700);
    expect(fingerprint.pluginName).to.equal('hostpath.csi.stagecraft');
    expect(fingerprint.nodeId).to.equal('n1');
  });

  it('T2 the process has the endpoint, the configured environment and the marks, not our environment', async () => {
    process.env.STAGECRAFT_TEST_SECRET = 'ours';
    try {
      await runtime.tasks.start({ ...hostpath, env: { GREETING: 'hello' } });
      await until(updates, 'healthy');
    } finally {
      delete process.env.STAGECRAFT_TEST_SECRET;
    }
    const environment = readFileSync(`/proc/${house.pid}/environ`, 'utf8').split('\0');
    expect(environment).to.include('GREETING=hello');
    expect(environment).to.include(
      `CSI_ENDPOINT=unix://${runtime.plugins.instances('csi-node', 'hostpath')[0]?.connection.socketPath}`,
    );
    expect(environment.join('\n')).to.not.include('STAGECRAFT_TEST_SECRET');
    expect(JSON.stringify(runtime.tasks.list()), 'values may be secrets').to.not.include('hello');
  });

  it('T2 the endpoint is put into arguments that ask for it, and is the user’s where they set one', async () => {
    const socketPath = join(dataDir, 'chosen.sock');
    const pointed = [...command, '--endpoint', '${CSI_ENDPOINT}'];
    await runtime.tasks.start({ ...hostpath, command: pointed, env: { CSI_ENDPOINT: `unix://${socketPath}` } });
    const { info } = await runtime.plugins.waitFor('csi-node', 'hostpath');
    expect(info.connection.socketPath).to.equal(socketPath);
    expect(readFileSync(`/proc/${house.pid}/cmdline`, 'utf8').split('\0')).to.include(`unix://${socketPath}`);
  });

  it('T2 an argument names in ${…} what every object has: it stays as it is', async () => {
    const noted = join(dataDir, 'noted');
    const noting = ['/bin/sh', '-c', 'echo "$0" > "$1"; shift; exec "$@"', '${constructor} ${toString}', noted];
    await runtime.tasks.start({ ...hostpath, command: [...noting, ...command] });
    await until(updates, 'healthy');
    expect(readFileSync(noted, 'utf8')).to.equal('${constructor} ${toString}\n');
  });

  it('T5 a start is told as started, then healthy, once each', async () => {
    await runtime.tasks.start(hostpath);
    await runtime.tasks.start(hostpath);
    expect((await until(updates, 'healthy')).map(({ type }) => type)).to.deep.equal(['started', 'healthy']);
    expect(house.pids).to.have.length(1);
  });

  it('T6 a process that dies is restarted under the same name; the new instance replaces the dead one', async () => {
    await runtime.tasks.start(hostpath);
    await until(updates, 'healthy');
    const [first] = runtime.plugins.instances('csi-node', 'hostpath');
    process.kill(house.pid, 'SIGKILL');
    // Its plugin may be seen to be unhealthy before its end is heard of.
    const seen = (await until(updates, 'healthy')).filter(({ type }) => type !== 'unhealthy');
    expect(seen.map(({ type }) => type)).to.deep.equal(['exited', 'restarting', 'started', 'healthy']);
    expect(seen[0]).to.deep.include({ end: { signal: 'SIGKILL' }, allocId: first?.allocId });
    const { info } = await runtime.plugins.waitFor('csi-node', 'hostpath');
    expect(info.allocId).to.not.equal(first?.allocId);
    await runtime.tasks.stop('hostpath');
    expect(runtime.plugins.list()).to.deep.equal([]);
  });

  it('T4 one that never makes its socket is restarted, then failed, with the reason and the end of its log', async () => {
    const mute = ['/bin/sh', '-c', 'echo no license >&2; sleep 600'];
    await runtime.tasks.start({
      ...hostpath,
      command: mute,
      healthTimeoutMs: 100,
      restart: { ...hostpath.restart, maxRestarts: 1 },
    });
    const seen = await until(updates, 'failed');
    expect(seen.map(({ type }) => type)).to.deep.equal([
      'started',
      'unhealthy',
      'restarting',
      'started',
      'unhealthy',
      'failed',
    ]);
    expect(seen.at(-1)).to.have.property('reason').that.includes('no socket').and.includes('no license');
  });

  it('T4 one that is never ready does not run on while its restart is waited for', async () => {
    await runtime.tasks.start({
      ...hostpath,
      command: ['/bin/sleep', '604'],
      healthTimeoutMs: 100,
      restart: { ...hostpath.restart, backoff: { initialMs: 600_000, maxMs: 600_000 } },
    });
    await until(updates, 'restarting');
    await untilSo(() => findNow(`${dataDir}#hostpath`).length === 0);
    expect(runtime.tasks.status('hostpath').state).to.equal('backing-off');
  });

  it('T10 one that exits before it is ready: the end of its log is in the reason', async () => {
    const brief = ['/bin/sh', '-c', 'echo no region >&2; sleep 0.1; exit 3'];
    await runtime.tasks.start({ ...hostpath, command: brief, restart: { ...hostpath.restart, maxRestarts: 0 } });
    const seen = await until(updates, 'failed');
    expect(seen[1]).to.deep.include({ type: 'exited', end: { code: 3, tail: 'no region' } });
    expect(seen.at(-1)).to.have.property('reason').that.includes('code 3').and.includes('no region');
  });

  it('T10 a run that ends in the middle of a line: the next one begins on a line of its own', async () => {
    const brief = ['/bin/sh', '-c', 'printf half; exit 3'];
    await runtime.tasks.start({ ...hostpath, command: brief, restart: { ...hostpath.restart, maxRestarts: 1 } });
    const seen = await until(updates, 'failed');
    expect(seen.at(-1))
      .to.have.property('reason')
      .that.matches(/end of its log:\nhalf$/);
    const lines = readFileSync(join(dataDir, 'logs', 'hostpath.log'), 'utf8').split('\n');
    expect(lines.map((line) => line.split(' ')[0])).to.deep.equal(['---', 'half', '---', 'half']);
  });

  it('T4 a failed task has no process left, and starts again when it is asked to', async () => {
    await runtime.tasks.start({
      ...hostpath,
      command: ['/bin/false'],
      restart: { ...hostpath.restart, maxRestarts: 0 },
    });
    await until(updates, 'failed');
    await runtime.tasks.start(hostpath);
    await until(updates, 'healthy');
    expect(house.pids).to.have.length(1);
  });

  it('T4 a program that is not there fails the task by name', async () => {
    await runtime.tasks.start({
      ...hostpath,
      command: ['/nowhere/driver'],
      restart: { ...hostpath.restart, maxRestarts: 0 },
    });
    const seen = await until(updates, 'failed');
    expect(seen.at(-1)).to.have.property('reason').that.includes('/nowhere/driver');
  });

  it('T7 a stop deregisters, ends the process and its children, and removes the socket directory', async () => {
    const shell = `sleep 601 & exec "$0" "$@"`;
    await runtime.tasks.start({ ...hostpath, command: ['/bin/sh', '-c', shell, ...command] });
    await until(updates, 'healthy');
    expect(house.pids).to.have.length(2);
    await runtime.tasks.stop('hostpath');
    expect(house.pids).to.deep.equal([]);
    expect(readdirSync(join(dataDir, 'plugins'))).to.deep.equal([]);
    expect(runtime.plugins.list()).to.deep.equal([]);
    expect(runtime.tasks.status('hostpath').state).to.equal('stopped');
  });

  it('T7 an instance is shut down before its process is signalled: its last word is that it was shut down', async () => {
    const kinds: string[] = [];
    const events = runtime.plugins.updates();
    await runtime.tasks.start(hostpath);
    await runtime.plugins.waitFor('csi-node', 'hostpath');
    await runtime.tasks.stop('hostpath');
    for await (const { kind, healthy, description } of events) {
      kinds.push(kind === 'health' ? `${healthy ? 'healthy' : 'unhealthy'}: ${description}` : kind);
      if (healthy === false) break;
    }
    expect(kinds).to.deep.equal(['registered', 'node-info', 'healthy: ready', 'deregistered', 'unhealthy: shut down']);
  });

  it('T9 the process outlives the runtime, and is found again, not started twice', async () => {
    await runtime.tasks.start(hostpath);
    await until(updates, 'healthy');
    const before = runtime.tasks.status('hostpath');
    await runtime.close();
    await open();
    await runtime.plugins.waitFor('csi-node', 'hostpath');
    expect(runtime.tasks.status('hostpath')).to.deep.equal(before);
    expect(house.pids).to.deep.equal([before.pid]);
  });

  it('T9 a process that died while no runtime ran is started anew', async () => {
    await runtime.tasks.start(hostpath);
    await until(updates, 'healthy');
    const before = house.pid;
    await runtime.close();
    process.kill(before, 'SIGKILL');
    await open();
    updates = runtime.tasks.updates(/* from the beginning: */ { from: '0' })[Symbol.asyncIterator]();
    const seen = await until(updates, 'restarting');
    expect(seen.at(-2)).to.deep.include({ type: 'exited', end: {} });
    await until(updates, 'healthy');
    expect(house.pid).to.not.equal(before);
  });

  it('T9 a pid that belongs to another process by now is not taken for ours', () => {
    const self = identify(process.pid);
    if (!self) throw new Error('this process is not in /proc');
    expect(isAlive(self)).to.equal(true);
    expect(isAlive({ ...self, startTime: self.startTime - 1 })).to.equal(false);
    expect(isAlive({ ...self, bootId: 'another' })).to.equal(false);
  });

  it('T10 the output of the process is in a file of its own, 0600, and goes on after the runtime', async () => {
    await runtime.tasks.start(hostpath);
    await until(updates, 'healthy');
    const path = join(dataDir, 'logs', 'hostpath.log');
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(readFileSync(path, 'utf8')).to.include('hostpath driver');
    expect(existsSync(`/proc/${house.pid}/fd/1`)).to.equal(true);
  });

  it('T1 a wrong task is refused with every fault, and nothing is started', async () => {
    const refused = await runtime.tasks
      .start({ ...hostpath, id: 'Bad Id', command: [] })
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(StagecraftError).and.have.property('code', 'INVALID_ARGUMENT');
    expect(refused).to.have.property('faults').with.length(2);
    expect(runtime.tasks.list()).to.deep.equal([]);
  });

  it('a stop of what is not there is refused by name', async () => {
    const refused = await runtime.tasks.stop('nobody').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'TASK_NOT_FOUND');
  });
});

describe('a process of a task', () => {
  it('T9 found by its mark, also with odd characters in its command line, and not by a longer mark', async () => {
    const mark = { task: `/tmp/here#a)b ${process.pid}`, directory: '1:2' };
    const child = spawn('/bin/sleep', ['60'], {
      env: { STAGECRAFT_TASK: mark.task, STAGECRAFT_TOKEN: 't' },
      detached: true,
    });
    try {
      expect((await findProcesses(mark)).map(({ identity, token }) => [identity.pid, token])).to.deep.equal([
        [child.pid, 't'],
      ]);
      expect(await findProcesses({ ...mark, task: mark.task.slice(0, -1) })).to.deep.equal([]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
