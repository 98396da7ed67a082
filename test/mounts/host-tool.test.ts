/** Tools that run apart, on real mounts: of those that do not answer, the tool hangs and this process does not. Needs root. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { type HostTool, hostTool, type Liveness, ToolOverdue } from '../../src/mounts/host-tool.js';
import { mountPaths, type Place } from '../../src/mounts/paths.js';
import { hostPlaces } from '../../src/mounts/places.js';
import { simulatedClock } from '../../src/testing/simulated-clock.js';
import { until } from '../until.js';
import { type DeadMount, deadMount } from './dead-fuse.js';

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
});

interface Running {
  pid: string;
  /** E.g. `S`, and `D` for what can't be killed. */
  state: string;
}

/** The processes that have this among their arguments. */
function processesOf(argument: string): Running[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const isOne = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1).includes(argument);
      if (!isOne) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return [{ pid, state: stat.slice(stat.lastIndexOf(')') + 2).charAt(0) }];
    } catch {
      return []; // it has ended by now
    }
  });
}

/** That one process is left, and can't be killed. */
const untilStuck = (argument: string): Promise<void> => {
  const states = (): string =>
    processesOf(argument)
      .map(({ state }) => state)
      .join();
  return until(() => states() === 'D', states);
};

describe('dead mounts', () => {
  let folder: string;
  let place: Place;
  const made: DeadMount[] = [];

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-dead-')));
    place = mountPaths({ dataDir: folder, socketRoot: folder }).target('disk', { namespace: 'a', id: 'b' }, 'alloc');
  });
  afterEach(() => {
    for (const mount of made.splice(0)) mount.end();
    rmSync(folder, { recursive: true });
  });

  const deadAt = (path: string): DeadMount => {
    mkdirSync(path, { recursive: true });
    const mount = deadMount(path);
    made.push(mount);
    return mount;
  };
  /** What is told once the question that hung is over. */
  const toldLater = async (tool: HostTool, path: string): Promise<Liveness> => {
    let told: Liveness = 'silent';
    const ask = async (): Promise<void> => {
      told = await tool.isAlive(path);
    };
    await until(() => {
      if (told === 'silent') void ask();
      return told !== 'silent';
    });
    return told;
  };
  const placesOf = (clock = simulatedClock()) =>
    hostPlaces({ root: join(folder, 'csi'), readTable: readMountTable, tool: hostTool(clock, deadlineMs) });

  it('M6 what is alive is told so, of a mount and of a block device', async () => {
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
    expect(await tool.isAlive(join(folder, 'never there'))).to.equal('dead');
  });

  it('M6 while a question hangs in the kernel no other one is asked, and it is asked again once that is over', async () => {
    const clock = simulatedClock();
    const tool = hostTool(clock, deadlineMs);
    const mount = deadAt(join(folder, 'silent'));
    const asked = tool.isAlive(mount.path);
    await mount.takeRequest();
    await clock.advance(deadlineMs);
    expect(await asked).to.equal('silent');
    // Killed, but the kernel holds it.
    await untilStuck(mount.path);
    expect(await tool.isAlive(mount.path)).to.equal('silent');
    expect(processesOf(mount.path)).to.have.length(1);
    expect(clock.pending).to.equal(0);

    mount.killServer();
    expect(await toldLater(tool, mount.path)).to.equal('dead');
  });

  it('M6 a process that has nothing else to do ends while its question hangs in the kernel', async () => {
    const mount = deadAt(join(folder, 'silent'));
    const program = fileURLToPath(new URL('probing-process.ts', import.meta.url));
    const args = ['--import=tsx', program, mount.path, '500'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const said: string[] = [];
    child.stdout.on('data', (text: Buffer) => said.push(String(text)));
    await mount.takeRequest();
    const [status] = await once(child, 'close');
    expect([status, said.join('')]).to.deep.equal([0, 'silent\n']);
    await untilStuck(mount.path);
  });

  for (const [what, server] of [
    ['does not answer', () => {}],
    ['lost its server', (mount: DeadMount) => mount.killServer()],
  ] as const) {
    it(`M6 the table is read, and places are made and left, on a mount that ${what}`, async () => {
      const places = placesOf();
      await places.makeParent(place);
      server(deadAt(place.path));
      const [entry] = (await readMountTable()).at(place.path);
      expect(entry).to.include({ path: place.path, fsType: 'fuse' });
      await places.makeParent(place);
      await places.makeStaging(place);
      expect(await places.remove(place)).to.deep.equal({ path: place.path, why: 'something is mounted there' });
    });

    it(`M6 M8 places are made and left also where a mount that ${what} came after the look at the table`, async () => {
      const before = await readMountTable();
      const places = hostPlaces({
        root: join(folder, 'csi'),
        readTable: async () => before,
        tool: hostTool(simulatedClock(), deadlineMs),
      });
      await places.makeParent(place);
      server(deadAt(place.path));
      await places.makeStaging(place);
      expect(await places.remove(place)).to.deep.equal({ path: place.path, why: 'something is mounted there' });
    });
  }

  it('M9 beside a dead mount others are removed', async () => {
    const places = placesOf();
    const paths = mountPaths({ dataDir: folder, socketRoot: folder });
    const beside = paths.target('disk', { namespace: 'a', id: 'other' }, 'alloc');
    await places.makeParent(place);
    await places.makeParent(beside);
    deadAt(place.path);
    writeFileSync(beside.path, '');
    expect(await places.remove(beside)).to.equal(undefined);
    made.at(0)?.end();
    expect(await places.remove(place)).to.equal(undefined);
    expect(readdirSync(join(paths.pluginRoot('disk'), 'per-alloc'))).to.deep.equal([]);
  });

  it('M9 a left-over file that does not answer stays, once its time is over', async () => {
    const clock = simulatedClock();
    const places = placesOf(clock);
    await places.makeParent(place);
    writeFileSync(place.path, '');
    const hanging = hostPlaces({
      root: join(folder, 'csi'),
      readTable: readMountTable,
      // What stat hangs on may come at any moment.
      tool: { ...hostTool(clock, deadlineMs), run: () => hostTool(clock, deadlineMs).run('sleep', ['4243']) },
    });
    const removed = hanging.remove(place);
    await until(() => clock.pending > 0);
    await clock.advance(deadlineMs);
    expect(await removed).to.deep.equal({ path: place.path, why: 'it does not answer' });
    expect(await places.remove(place)).to.equal(undefined);
  });

  it('a live mount is unmounted and removed by the tools while another one is dead', async () => {
    const tool = hostTool(systemClock, deadlineMs);
    const [live, source] = [join(folder, 'live'), join(folder, 'source')];
    for (const path of [live, source]) mkdirSync(path);
    deadAt(join(folder, 'silent'));
    expect((await tool.run('mount', ['--bind', source, live])).status).to.equal(0);
    expect((await tool.run('umount', ['--no-canonicalize', live])).status).to.equal(0);
    expect((await readMountTable()).at(live)).to.deep.equal([]);
  });
});
