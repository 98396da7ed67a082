/** Tasks with real processes on real time: the health of their plugins, restarts, plugins of somebody else, mount namespaces. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CsiClient } from '../../src/csi/client.js';
import type { PluginInfo, TaskOptions } from '../../src/index.js';
import { command, hostpath, TaskHouse, until } from './task-house.js';

const fingerprint = { intervalMs: 200, timeoutMs: 1_000 };

describe('the health of tasks', () => {
  let house: TaskHouse;
  beforeEach(async () => {
    house = await new TaskHouse().open({ fingerprint });
  });
  afterEach(() => house.dispose());

  it('T5 a process that hangs: unhealthy with the reason, healthy once it goes on, not restarted', async () => {
    const { tasks } = house.runtime;
    await tasks.start(hostpath);
    await until(house.updates, 'healthy');
    const { pid } = house;
    process.kill(pid, 'SIGSTOP');
    const seen = await until(house.updates, 'unhealthy');
    expect(seen).to.have.lengthOf(1);
    expect(seen[0]).to.have.property('reason').that.includes('no answer within 1000 ms');
    expect(tasks.status('hostpath')).to.deep.include({ state: 'running', healthy: false, pid });
    process.kill(pid, 'SIGCONT');
    expect((await until(house.updates, 'healthy')).map(({ type }) => type)).to.deep.equal(['healthy']);
    expect(tasks.status('hostpath')).to.deep.include({ state: 'running', healthy: true, description: 'ready', pid });
  });

  it('T5 after a restart of the runtime: what has changed meanwhile is told, what has not is not', async () => {
    await house.runtime.tasks.start({ ...hostpath, type: 'monolith' });
    await until(house.updates, 'healthy');
    const { pid } = house;
    await house.runtime.close();
    process.kill(pid, 'SIGSTOP');
    await house.open({ fingerprint });
    await until(house.updates, 'unhealthy');
    process.kill(pid, 'SIGCONT');
    const seen = await until(house.updates, 'healthy');
    expect(seen.map(({ type }) => type)).to.deep.equal(['healthy']);
  });

  it('T6 a restart that is asked for: another process, and the plugin is registered all the while', async () => {
    const { tasks, plugins } = house.runtime;
    await tasks.start(hostpath);
    await until(house.updates, 'healthy');
    await plugins.waitFor('csi-node', 'hostpath');
    const before = tasks.status('hostpath');
    const events = plugins.updates();
    await tasks.restart('hostpath');
    await until(house.updates, 'restarting');
    await until(house.updates, 'healthy');
    const after = tasks.status('hostpath');
    expect(after.pid).to.not.equal(before.pid);
    expect(house.pids).to.deep.equal([after.pid]);
    const changes: string[] = [];
    for await (const { kind, info } of events) {
      if (kind !== 'health' && kind !== 'node-info') changes.push(`${kind} ${info.allocId}`);
      if (kind === 'deregistered') break;
    }
    expect(changes).to.deep.equal([`registered ${after.allocId}`, `deregistered ${before.allocId}`]);
    expect(readdirSync(join(house.dataDir, 'plugins'))).to.deep.equal([after.allocId]);
  });

  it('R12 T6 a wait for the plugin right after a restart or a new definition gets the new instance', async () => {
    const { tasks, plugins } = house.runtime;
    await tasks.start(hostpath);
    let { info } = await plugins.waitFor('csi-node', 'hostpath');
    for (const anew of [
      () => tasks.restart('hostpath'),
      () => tasks.start({ ...hostpath, env: { ANOTHER: 'definition' } }),
      () => tasks.restart('hostpath'),
    ]) {
      const before = info.allocId;
      await anew();
      expect(plugins.status('csi-node', 'hostpath')).to.include({ healthy: false });
      ({ info } = await plugins.waitFor('csi-node', 'hostpath'));
      expect(info.allocId).to.not.equal(before);
      const client = await plugins.dispense<CsiClient>('csi-node', 'hostpath');
      expect(await client.probe()).to.deep.equal({ ready: true });
    }
  });

  it('T6 a process that has ended is not shown as healthy, and has no pid', async () => {
    const { tasks } = house.runtime;
    await tasks.start({ ...hostpath, restart: { backoff: { initialMs: 60_000, maxMs: 60_000 } } });
    await until(house.updates, 'healthy');
    process.kill(house.pid, 'SIGKILL');
    await until(house.updates, 'restarting');
    const status = tasks.status('hostpath');
    expect(status).to.include({ state: 'backing-off' }).and.not.have.any.keys('pid', 'healthy', 'description');
  });

  it('T7 removed: it is stopped and forgotten; its log and what it keeps are left', async () => {
    const { tasks } = house.runtime;
    await tasks.start(hostpath);
    await until(house.updates, 'healthy');
    await tasks.remove('hostpath');
    expect((await until(house.updates, 'removed')).map(({ type }) => type)).to.deep.equal(['stopped', 'removed']);
    expect(tasks.list()).to.deep.equal([]);
    expect(house.pids).to.deep.equal([]);
    const refused = await tasks.restart('hostpath').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'TASK_NOT_FOUND');
    expect(readdirSync(house.dataDir)).to.include.members(['logs', 'tasks']);
    await house.runtime.close();
    await house.open();
    expect(house.runtime.tasks.list()).to.deep.equal([]);
    await house.runtime.tasks.start(hostpath);
    await until(house.updates, 'healthy');
  });

  it('T6 a restart of what was stopped, or is not there', async () => {
    const { tasks } = house.runtime;
    await tasks.start(hostpath);
    await tasks.stop('hostpath');
    await tasks.restart('hostpath');
    await until(house.updates, 'restarting');
    await until(house.updates, 'healthy');
    const refused = await tasks.restart('nobody').catch((error: unknown) => error);
    expect(refused).to.have.property('code', 'TASK_NOT_FOUND');
  });

  it('T1 mountDir: a process in a mount namespace of its own finds its socket directory there', async () => {
    const mountDir = join(house.dataDir, 'mnt');
    mkdirSync(mountDir);
    // As a container does it: the directory of the host, bound to where the plugin expects it.
    const bind = 'mount --bind "$1" "$0" && shift && exec "$@"';
    const inside = ['unshare', '--mount', '/bin/sh', '-c', bind, mountDir, '${STAGECRAFT_SOCKET_DIR}', ...command];
    const { tasks, plugins } = house.runtime;
    await tasks.start({ ...hostpath, command: inside, mountDir, stagePublishBaseDir: '/csi/volumes' });
    const { info } = await plugins.waitFor('csi-node', 'hostpath');
    const { allocId } = tasks.status('hostpath');
    expect(info.connection.socketPath).to.equal(join(house.dataDir, 'plugins', String(allocId), 'csi.sock'));
    expect(info.options).to.deep.equal({ stagePublishBaseDir: '/csi/volumes' });
    expect(readFileSync(`/proc/${house.pid}/environ`, 'utf8').split('\0')).to.include(
      `CSI_ENDPOINT=unix://${mountDir}/csi.sock`,
    );
    await tasks.stop('hostpath');
    expect(readdirSync(mountDir)).to.deep.equal([]);
    expect(readdirSync(join(house.dataDir, 'plugins'))).to.deep.equal([]);
  });
});

describe('tasks of plugins that somebody else runs', () => {
  let house: TaskHouse;
  let directory: string;
  let socket: string;
  let theirs: TaskOptions;
  let driver: ChildProcess | undefined;

  beforeEach(async () => {
    house = await new TaskHouse().open({ fingerprint });
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-theirs-'));
    socket = join(directory, 'csi.sock');
    theirs = { id: 'theirs', type: 'monolith', socket, healthTimeoutMs: 200, restart: { maxRestarts: 1_000 } };
  });
  afterEach(async () => {
    driver?.kill('SIGKILL');
    await house.dispose();
    rmSync(directory, { recursive: true });
  });

  const run = (): void => {
    const [program = '', ...args] = [
      ...command,
      '--endpoint',
      `unix://${socket}`,
      '--data-dir',
      join(directory, 'data'),
    ];
    driver = spawn(program, args, { stdio: 'ignore' });
  };
  const kill = async (): Promise<void> => {
    driver?.kill('SIGKILL');
    if (driver) await once(driver, 'exit');
  };

  it('T1 it is waited for, registered, and watched: gone it is unhealthy, back it is healthy', async () => {
    const { tasks, plugins } = house.runtime;
    await tasks.start(theirs);
    const [first] = await until(house.updates, 'unhealthy');
    expect(first).to.have.property('reason').that.includes(`there is no socket at ${socket}`);
    run();
    const started = await until(house.updates, 'healthy');
    expect(started.map(({ type }) => type)).to.not.include('started');
    for (const type of ['csi-node', 'csi-controller']) {
      expect(plugins.status(type, 'theirs').info.connection.socketPath).to.equal(socket);
    }
    expect(tasks.status('theirs')).to.not.have.property('pid');

    for (const type of ['csi-node', 'csi-controller']) await plugins.waitFor(type, 'theirs');
    await kill();
    // A busy machine may have kept it from answering in time before that.
    for (let reason = ''; !reason.includes('stale socket'); ) {
      const lost = (await until(house.updates, 'unhealthy')).at(-1);
      reason = lost?.type === 'unhealthy' ? lost.reason : '';
    }
    const { allocId } = tasks.status('theirs');
    run();
    await until(house.updates, 'healthy');
    expect(tasks.status('theirs')).to.deep.include({ state: 'running', allocId });
  });

  it('T7 stopped, it is deregistered, and neither its process nor its socket is touched', async () => {
    run();
    await house.runtime.tasks.start(theirs);
    await until(house.updates, 'healthy');
    await house.runtime.tasks.stop('theirs');
    expect(house.runtime.plugins.list()).to.deep.equal([]);
    expect(driver).to.include({ exitCode: null, signalCode: null });
    expect(existsSync(socket)).to.equal(true);
  });

  it('T9 it is found again by the next runtime, under the same allocId', async () => {
    run();
    await house.runtime.tasks.start(theirs);
    await until(house.updates, 'healthy');
    const before = house.runtime.tasks.status('theirs');
    await house.runtime.close();
    await house.open({ fingerprint });
    await house.runtime.plugins.waitFor('csi-controller', 'theirs');
    expect(house.runtime.tasks.status('theirs')).to.deep.equal(before);
  });
});

describe('stops of tasks whose plugin is in use', () => {
  let house: TaskHouse;
  /** Throws where it can't be known. */
  let dependents: (plugin: PluginInfo) => string[];

  beforeEach(async () => {
    dependents = () => [];
    house = await new TaskHouse().open({ dependents: async (plugin) => dependents(plugin) });
    await house.runtime.tasks.start({ ...hostpath, type: 'monolith' });
    await house.runtime.plugins.waitFor('csi-controller', 'hostpath');
    await house.runtime.plugins.waitFor('csi-node', 'hostpath');
  });
  afterEach(async () => {
    dependents = () => [];
    await house.dispose();
  });

  const stop = (options?: { force: boolean }): Promise<unknown> =>
    house.runtime.tasks.stop('hostpath', options).catch((error: unknown) => error);

  it('T7 it is refused with what uses it, of all its services, and nothing has changed', async () => {
    dependents = ({ type }) => (type === 'csi-node' ? ['volume b', 'volume a'] : ['volume a']);
    const before = house.runtime.tasks.status('hostpath');
    const refused = await stop();
    expect(refused).to.include({ code: 'PLUGIN_IN_USE', address: 'task/n1/hostpath' });
    expect(refused).to.have.property('message').that.includes('in use by volume a, volume b');
    expect(house.runtime.tasks.status('hostpath')).to.deep.equal(before);
    expect(house.runtime.plugins.list()).to.have.lengthOf(2);
  });

  it('T7 it can’t be known what uses it: refused too, with why', async () => {
    dependents = () => {
      throw new Error('no mount table');
    };
    expect(await stop())
      .to.include({ code: 'PLUGIN_IN_USE' })
      .and.have.property('message')
      .that.includes('no mount table');
    expect(await stop({ force: true })).to.equal(undefined);
    expect(house.runtime.tasks.status('hostpath').state).to.equal('stopped');
  });

  it('T7 I13 with force it is stopped, and its deregistrations tell what uses it', async () => {
    dependents = () => ['volume a'];
    const events = house.runtime.plugins.updates();
    expect(await stop({ force: true })).to.equal(undefined);
    expect(house.pids).to.deep.equal([]);
    const told: unknown[] = [];
    for await (const { kind, info, dependents: named } of events) {
      if (kind === 'deregistered') told.push([info.type, named]);
      if (told.length === 2) break;
    }
    expect(told).to.have.deep.members([
      ['csi-controller', ['volume a']],
      ['csi-node', ['volume a']],
    ]);
  });

  it('T7 a drain does not stop it either, and says what uses it; once that is gone it does', async () => {
    dependents = () => ['volume a'];
    const refused = await house.runtime.close({ release: true }).catch((error: unknown) => error);
    expect(refused).to.include({
      code: 'DRAIN_FAILED',
      message:
        'not all could be released: hostpath: task hostpath was not stopped: it is in use by volume a; start the agent again, and drain again',
    });
    expect(house.pids).to.have.lengthOf(1);
    dependents = () => [];
    await house.open({ dependents: async (plugin) => dependents(plugin) });
    await house.runtime.close({ release: true });
    expect(house.pids).to.deep.equal([]);
  });
});
