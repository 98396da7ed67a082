/** Allocs and mounts as an operator sees them: the tour of docs/first-steps.md as it stands there, real processes, SIGKILL, real mounts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { AllocReport, MountReport } from '../../src/api/node-routes.js';
import type { VolumeReport } from '../../src/api/volume-routes.js';
import { askAgent } from '../support/ask-agent.js';
import { AgentProcess, mainPath, makePlace, mountsIn, type Place, pluginPids, removePlace } from './agent-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

describe('mounts of an agent', () => {
  let place: Place;
  let agent: AgentProcess;

  const cli = (...args: string[]): Said =>
    spawnSync(process.execPath, [mainPath, ...args, '--config', place.configPath], {
      cwd: place.directory,
      encoding: 'utf8',
    });
  const get = async <T>(path: string): Promise<T> => (await askAgent(place.socketPath, 'GET', path)) as T;
  /** What is left below the directory of mounts, but what belongs to the plugin as a whole. */
  const leftovers = (): string[] =>
    readdirSync(join(place.dataDir, 'csi'), { recursive: true, encoding: 'utf8' }).filter(
      (path) => !/^(salted|[0-9a-f]{16}(\.json|\/staging|\/per-alloc)?)$/.test(path),
    );
  /** Another one on what the one before has left. */
  const startAgain = async (): Promise<void> => {
    agent = new AgentProcess(place);
    await agent.ready();
  };

  /** As after `npm start`, in a directory of its own. */
  beforeEach(async () => {
    place = makePlace();
    const configPath = join(place.directory, 'stagecraft.yaml');
    writeFileSync(configPath, readFileSync(join(root, 'stagecraft.yaml')));
    const dataDir = join(place.directory, '.stagecraft');
    place = { ...place, configPath, dataDir, socketPath: join(dataDir, 'agent.sock') };
    agent = new AgentProcess(place);
    await agent.line(/plugin hostpath \(csi-node\): healthy/);
  });
  afterEach(() => removePlace(place, agent));

  /** As a shell does it there, with our own `stagecraft`, and our own processes to be killed. */
  const shell = (command: string): string => {
    const here = command
      .replace('npx stagecraft', `'${process.execPath}' '${mainPath}'`)
      .replace('$(pgrep -f "$PWD/dist/src/cli/main.js driver")', pluginPids(place).join(' '));
    const { stdout, stderr } = spawnSync('sh', ['-c', here], { cwd: place.directory, encoding: 'utf8' });
    return `${stdout}${stderr}`
      .trimEnd()
      .replace(/vol-[0-9a-f-]{36}/, 'vol-…')
      .replace(/\S+per-alloc(\/[0-9a-f]{16}){2}/, '…/per-alloc/…');
  };
  const follow = (block: string): void => {
    for (const step of block.split(/^\$ /m).slice(1)) {
      const [command = '', ...said] = step.trimEnd().split('\n');
      expect(`${command}\n${shell(command)}`.trimEnd()).to.equal([command, ...said].join('\n'));
    }
  };

  it('A5 H1 H2 H3 M6 the tour of first-steps.md: agent and driver are killed, a file stays there', async () => {
    const page = readFileSync(join(root, 'docs/first-steps.md'), 'utf8');
    const [first = '', second = '', ...more] = [...page.matchAll(/```console\n(.*?)```/gs)]
      .map(([, block = '']) => block)
      .slice(1);
    expect([first, second].map((block) => block.match(/kill -9/g)?.length)).to.deep.equal([1, 1]);
    expect(more).to.deep.equal([]);
    // What the tour looks for among the processes.
    expect(readFileSync(join(root, 'package.json'), 'utf8')).to.include(
      'exec node \\"$PWD/dist/src/cli/main.js\\" agent',
    );
    const [driver] = pluginPids(place);
    follow(first);
    await agent.line(/^\d\d:\d\d:\d\d volume default\/data: mounted for alloc web \(\d+ ms\)$/);
    await agent.line(/^\d\d:\d\d:\d\d alloc web: prepared$/);
    await agent.exited;
    await startAgain();
    await agent.line(/^ {2}alloc web: (prepared|recovering)/);
    expect(pluginPids(place)).to.deep.equal([driver]);
    follow(second);
    expect(pluginPids(place)).to.have.length(1).and.not.include(driver);
    await agent.line(/ volume default\/data: unmounted for alloc web \(\d+ ms\)$/);
    await agent.line(/ alloc web: released$/);
    expect([mountsIn({ directory: join(place.dataDir, 'csi') }), leftovers()]).to.deep.equal([[], []]);
  });

  it('A2 the first steps that npm start prints work as printed, with an agent that finds its configuration', async () => {
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start).to.equal(
      'echo \'Building, which takes half a minute at first …\' && npm run --silent build && cat scripts/first-steps.txt && exec node "$PWD/dist/src/cli/main.js" agent',
    );
    await agent.kill('SIGTERM');
    agent = new AgentProcess(place, [mainPath, 'agent'], []);
    await agent.line(/^ {2}conf .*stagecraft\.yaml$/);
    await agent.ready();
    const text = readFileSync(join(root, 'scripts', 'first-steps.txt'), 'utf8');
    const steps = [...text.matchAll(/^ {2}(\S.*)$/gm)].map(([, step = '']) => shell(step));
    expect(steps.map((said) => said.split('\n').length)).to.deep.equal([1, 2, 1, 1, 1, 1, 1]);
    const [created, , , read, released, deleted, drained] = steps;
    expect([created, read, released, deleted, drained]).to.deep.equal([
      'volume default/data is created: the plugin knows it as vol-…',
      'hello',
      'alloc web is released',
      'volume default/data is deleted',
      'drained: allocs are released, the plugin processes are stopped, and the agent has ended',
    ]);
  });

  it('A5 H1 H5 M11 M16 killed with two volumes mounted, one a device: both stay, at the same paths', async () => {
    expect(cli('volume', 'create', 'data', '--plugin', 'hostpath', '--size', '1Mi').status).to.equal(0);
    expect(cli('volume', 'create', 'disk', '--plugin', 'hostpath', '--size', '1Mi', '--block').status).to.equal(0);
    const wanted = ['alloc', 'prepare', 'web', '--volume', 'data:/data', '--volume', 'disk:/dev/x:ro', '--json'];
    const prepared: AllocReport['mounts'] = JSON.parse(cli(...wanted).stdout);
    const [data = '', disk = ''] = prepared?.map(({ hostPath }) => hostPath) ?? [];
    expect(prepared?.map(({ isDevice, readOnly }) => [isDevice, readOnly])).to.deep.equal([
      [false, false],
      [true, true],
    ]);
    writeFileSync(join(data, 'note'), 'hello');
    const before = mountsIn(place);
    const isThere = (): void => {
      expect(readFileSync(join(data, 'note'), 'utf8')).to.equal('hello');
      expect(readFileSync(disk)).to.have.length(2 ** 20);
      expect(() => writeFileSync(disk, 'x')).to.throw();
      expect(mountsIn(place)).to.deep.equal(before);
    };
    isThere();

    await agent.kill('SIGKILL');
    for (const pid of pluginPids(place)) process.kill(pid, 'SIGKILL');
    isThere();
    await startAgain();
    await agent.healthy();
    // The same again is the same, once its plugin is back.
    expect(JSON.parse(cli(...wanted).stdout)).to.deep.equal(prepared);
    isThere();
    expect(cli('task', 'stop', 'hostpath').stderr).to.match(/in use by volume default\/d\w+ \(mounted for alloc web\)/);
    expect(cli('mount', 'list').stdout).to.match(/^default +data +hostpath +mounted +web$/m);
    expect(cli('mount', 'stats', 'data').stdout).to.match(/^bytes +8Ki of 1Mi used, 1016Ki available$/m);
    expect(cli('volume', 'delete', 'data', '--json').stderr).to.include('VOLUME_IN_USE');

    await agent.kill('SIGTERM');
    isThere();
    await startAgain();
    await agent.healthy();
    expect(cli('alloc', 'release', 'web').status).to.equal(0);
    expect([await get<MountReport[]>('/v1/mounts'), await get<AllocReport[]>('/v1/allocs')]).to.deep.equal([[], []]);
    const { items } = await get<{ items: VolumeReport[] }>('/v1/volumes');
    expect(items.map(({ claims, publications }) => [claims, publications])).to.deep.equal([
      [[], {}],
      [[], {}],
    ]);
    expect(leftovers()).to.deep.equal([]);
  });

  it('A5 M6 what somebody else has mounted among the mounts is shown, and unmounted when that is asked for', async () => {
    expect(cli('volume', 'create', 'data', '--plugin', 'hostpath', '--size', '1Mi').status).to.equal(0);
    const prepared: AllocReport['mounts'] = JSON.parse(
      cli('alloc', 'prepare', 'web', '--volume', 'data:/data', '--json').stdout,
    );
    const orphan = `${dirname(prepared?.[0]?.hostPath ?? '')}/orphan`;
    mkdirSync(orphan);
    expect(spawnSync('mount', ['-t', 'tmpfs', 'orphan', orphan]).status).to.equal(0);
    writeFileSync(join(orphan, 'kept'), '');
    expect(cli('mount', 'orphans').stdout).to.match(new RegExp(`^tmpfs +\\d+:\\d+ / +- +${orphan}$`, 'm'));
    expect(cli('mount', 'clean', prepared?.[0]?.hostPath ?? '').stderr).to.include('there is no orphaned mount at');
    expect(cli('mount', 'clean', orphan).stdout).to.equal(`${orphan} is unmounted\n`);
    expect(cli('mount', 'orphans').stdout).to.equal('there are no orphaned mounts\n');
    expect(cli('alloc', 'release', 'web').status).to.equal(0);
    expect(leftovers().filter((path) => path.endsWith('/orphan'))).to.have.length(1);
    await agent.line(
      / volume default\/data: unmounted for alloc web \(\d+ ms\); left behind, remove it by hand: .*not empty/,
    );
  });

  it('A5 H6 the plugin’s task fails: alloc and mount name it; restarted as they advise, the alloc is released', async () => {
    expect(cli('volume', 'create', 'data', '--plugin', 'hostpath', '--size', '1Mi').status).to.equal(0);
    expect(cli('alloc', 'prepare', 'web', '--volume', 'data:/data').status).to.equal(0);
    expect(cli('task', 'stop', 'hostpath', '--force').status).to.equal(0);
    const stopped = 'task hostpath is stopped: start it with stagecraft task restart hostpath';
    for (const command of [
      ['mount', 'list'],
      ['alloc', 'list'],
      ['alloc', 'status', 'web'],
    ])
      expect(cli(...command).stdout, command.join(' ')).to.include(stopped);
    const waits =
      "plugin 'hostpath' can't be called: its node side is not registered here: its task hostpath has not brought it up";
    const { status, stderr } = cli('alloc', 'release', 'web', '--timeout', '0.5');
    expect(status).to.equal(4);
    expect(stderr).to.include(waits).and.include('see stagecraft task status hostpath');
    expect(cli('task', 'restart', 'hostpath').status).to.equal(0);
    // The release that was given up goes on: it may be done before it is asked for again.
    const gone = "there is no alloc 'web' on this node: nothing to release\n";
    expect(cli('alloc', 'release', 'web').stdout).to.be.oneOf(['alloc web is released\n', gone]);
    expect(cli('alloc', 'release', 'web').stdout).to.equal(gone);
  });

  it('A5 H6 a drain releases allocs first, then stops the plugins they use; nothing is left', async () => {
    expect(cli('volume', 'create', 'data', '--plugin', 'hostpath', '--size', '1Mi').status).to.equal(0);
    expect(cli('alloc', 'prepare', 'web', '--volume', 'data:/data').status).to.equal(0);
    expect(mountsIn(place)).to.not.deep.equal([]);
    const { status, stdout } = cli('drain');
    expect([status, stdout]).to.deep.equal([
      0,
      'drained: allocs are released, the plugin processes are stopped, and the agent has ended\n',
    ]);
    expect([pluginPids(place), mountsIn(place), leftovers()]).to.deep.equal([[], [], []]);
    await startAgain();
    expect(await get<AllocReport[]>('/v1/allocs')).to.deep.equal([]);
  });
});
