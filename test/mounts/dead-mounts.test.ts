/**
 * Mounts that never answer, or whose server is gone: nothing of ours hangs on them, or near them. What might is done in a
 * process that can be killed: a test process that hangs would never say so. Needs root and /dev/fuse.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { type HostTool, hostTool, type Liveness } from '../../src/mounts/host-tool.js';
import { type MountPath, type MountPaths, mountPaths } from '../../src/mounts/paths.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { builtProgram } from '../built.js';
import { until } from '../until.js';
import { type DeadMount, deadMount } from './dead-fuse.js';
import { processesOf } from './processes-of.js';

const deadlineMs = 10_000;

/** That one process is left, and can't be killed. */
const untilStuck = (argument: string): Promise<void> => {
  const states = (): string =>
    processesOf(argument)
      .map(({ state }) => state)
      .join();
  return until(() => states() === 'D', states);
};

/** What is told once the question that hung is over. */
async function toldLater(tool: HostTool, path: string): Promise<Liveness> {
  let told: Liveness = 'silent';
  const ask = async (): Promise<void> => {
    told = await tool.isAlive(path);
  };
  await until(() => {
    if (told === 'silent') void ask();
    return told !== 'silent';
  });
  return told;
}

/** @returns what the program said, or why it failed; `hangs` where it had to be killed */
async function said(name: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [builtProgram(new URL(name, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 15_000,
    killSignal: 'SIGKILL',
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      text += part;
    });
  }
  const [status] = await once(child, 'close');
  return status === null ? 'hangs' : text.trim();
}

describe('dead mounts', () => {
  let folder: string;
  let paths: MountPaths;
  let place: MountPath;
  let made: DeadMount[];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-dead-')));
    paths = mountPaths({ dataDir: folder, socketRoot: folder });
    place = targetOf('data');
    made = [];
  });
  afterEach(() => {
    for (const mount of made) mount.end();
    rmSync(folder, { recursive: true });
  });

  const targetOf = (id: string): MountPath => paths.target('disk', { namespace: 'default', id }, 'alloc');

  function deadAt(path: string): DeadMount {
    mkdirSync(path, { recursive: true });
    const mount = deadMount(path);
    made.push(mount);
    return mount;
  }

  /** Done apart, for one volume. @returns what came of each, or why there is nothing to tell */
  async function done(id: string, ...tasks: string[]): Promise<unknown> {
    const text = await said('places-process.ts', folder, id, ...tasks);
    return text.startsWith('[') ? JSON.parse(text) : text;
  }

  it('M6 what is alive is told so, of a mount and of a device', async () => {
    const tool = hostTool(simulatedClock(), deadlineMs);
    const target = join(folder, 'target');
    mkdirSync(target);
    execFileSync('mount', ['--bind', folder, target]);
    try {
      expect(await tool.isAlive(target)).to.equal('alive');
    } finally {
      execFileSync('umount', ['--lazy', target]);
    }
    expect(await tool.isAlive('/dev/null')).to.equal('alive');
  });

  it('M6 a mount whose server is gone is dead, and one that does not answer is silent', async () => {
    const clock = simulatedClock();
    const tool = hostTool(clock, deadlineMs);
    const mount = deadAt(join(folder, 'silent'));
    const asked = tool.isAlive(mount.path);
    await clock.advance(deadlineMs);
    expect(await asked).to.equal('silent');
    mount.killServer();
    expect(await toldLater(tool, mount.path)).to.equal('dead');
  });

  it('M6 a mount that answers with an error is not dead, nor is a path that was just unmounted', async () => {
    const tool = hostTool(simulatedClock(), deadlineMs);
    const mount = deadAt(join(folder, 'refusing'));
    for (const errno of [constants.errno.EIO, constants.errno.EACCES, constants.errno.ENOSYS]) {
      const asked = tool.isAlive(mount.path);
      await mount.refuseRequest(errno);
      expect(await asked).to.equal('alive');
    }
    expect(await tool.isAlive(join(folder, 'never there'))).to.equal('alive');
  });

  it('M6 only the words for a connection that is gone mean dead, at the end of what is said: not in a path', async () => {
    const tool = hostTool(simulatedClock(), deadlineMs);
    expect(await tool.isAlive(join(folder, 'x: Transport endpoint is not connected'))).to.equal('alive');
  });

  it('M6 while a probe hangs in the kernel no other starts; after it ends, the mount is probed again', async () => {
    const clock = simulatedClock();
    const tool = hostTool(clock, deadlineMs);
    const mount = deadAt(join(folder, 'silent'));
    const asked = tool.isAlive(mount.path);
    await mount.takeRequest();
    await clock.advance(deadlineMs);
    expect(await asked).to.equal('silent');
    await untilStuck(mount.path); // it was killed, but the kernel holds it
    expect(await tool.isAlive(mount.path)).to.equal('silent');
    expect(processesOf(mount.path)).to.have.length(1);
    expect(clock.pending).to.equal(0);

    mount.killServer();
    expect(await toldLater(tool, mount.path)).to.equal('dead');
  });

  it('M6 who asks while a question is under way has its answer, too', async () => {
    const tool = hostTool(simulatedClock(), deadlineMs);
    const mount = deadAt(join(folder, 'dying'));
    const asked = [tool.isAlive(mount.path), tool.isAlive(mount.path)];
    await mount.takeRequest();
    asked.push(tool.isAlive(mount.path));
    mount.killServer();
    expect(await Promise.all(asked)).to.deep.equal(['dead', 'dead', 'dead']);
  });

  it('M6 a process that has nothing else to do ends while its question hangs in the kernel', async () => {
    const mount = deadAt(join(folder, 'silent'));
    const probed = said('probing-process.ts', mount.path, '500');
    await mount.takeRequest();
    expect(await probed).to.equal('silent');
    await untilStuck(mount.path);
  });

  it('M6 who touches such a mount hangs on it, as these tests would see', async () => {
    const mount = deadAt(place.path);
    const touched = done('data', 'touch');
    await mount.takeRequest();
    mount.killServer();
    expect(await touched).to.match(/ECONNABORTED|ENOTCONN/);
  });

  for (const [what, server] of [
    ['does not answer', () => {}],
    ['lost its server', (mount: DeadMount) => mount.killServer()],
  ] as const) {
    it(`M6 M8 M9 on a mount that ${what} the table is read and directories are made, also if it came late`, async () => {
      server(deadAt(place.path));
      const left = { path: place.path, why: 'something is mounted there' };
      const tasks = ['table', 'makeParent', 'makeStaging', 'remove'];
      const late = ['late makeParent', 'late makeStaging', 'late remove'];
      expect(await done('data', ...tasks, ...late)).to.deep.equal([
        [{ path: place.path, fsType: 'fuse' }],
        ...[null, null, left],
        ...[null, null, left],
      ]);
      expect(existsSync(`${place.path}.json`)).to.equal(true);
    });
  }

  it('M9 beside a dead mount what others have left goes, and its own place once it is unmounted', async () => {
    expect(await done('data', 'makeParent')).to.deep.equal([null]);
    const dead = deadAt(place.path);
    const [file, directory] = [targetOf('file').path, targetOf('directory').path];
    writeFileSync(file, '');
    mkdirSync(directory);
    for (const id of ['file', 'directory']) expect(await done(id, 'makeParent', 'remove')).to.deep.equal([null, null]);
    expect(readdirSync(dirname(place.path)).sort()).to.deep.equal([
      basename(place.path),
      `${basename(place.path)}.json`,
    ]);

    dead.end();
    expect(await done('data', 'remove')).to.deep.equal([null]);
    expect(readdirSync(join(paths.pluginRoot('disk'), 'per-alloc'))).to.deep.equal([]);
  });

  it('other mounts are made and taken away by tools while one is dead', async () => {
    const tool = hostTool(simulatedClock(), deadlineMs);
    const [live, source] = [join(folder, 'live'), join(folder, 'source')];
    for (const path of [live, source]) mkdirSync(path);
    deadAt(join(folder, 'silent'));
    const statuses: number[] = [];
    for (const [name, ...args] of [['mount', '--bind', source, live] as const, ['umount', live] as const]) {
      statuses.push((await tool.run(name, args)).status);
    }
    expect(statuses).to.deep.equal([0, 0]);
    rmSync(live, { recursive: true });
  });
});
