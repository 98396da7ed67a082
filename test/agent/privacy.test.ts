/** Other users can reach volumes through an agent's data directory, and nothing else. Needs root, to act as another user. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { serveApi } from '../../src/agent/api.js';
import { systemClock } from '../../src/engine/clock.js';
import { readMountTable } from '../../src/host/mount-info.js';
import { hostTool } from '../../src/mounts/host-tool.js';
import { hostMountDirectories } from '../../src/mounts/mount-directories.js';
import { mountPaths } from '../../src/mounts/paths.js';
import { hostpath, TaskHouse } from '../tasks/task-house.js';

const nobody = '65534';

describe('the data directory of an agent under a umask that closes nothing', () => {
  let house: TaskHouse;
  let closeApi: (() => Promise<void>) | undefined;
  let umask: number;
  let target: string;

  before(async () => {
    umask = process.umask(0);
    house = new TaskHouse();
    chmodSync(house.dataDir, 0o755);
    await house.open({ dataDirAccess: 'everyone' });
    const { dataDir } = house.runtime;
    const drain = async (): Promise<void> => {};
    const socketPath = join(dataDir, 'agent.sock');
    closeApi = await serveApi({ runtime: house.runtime, socketPath, version: '0', storeKind: 'lmdb', drain });
    await house.runtime.tasks.start(hostpath);
    await house.runtime.plugins.waitFor('csi-node', 'hostpath', { timeoutMs: 120_000 });

    const salt = readFileSync(join(dataDir, 'path-salt'), 'utf8').trim();
    const paths = mountPaths({ dataDir, socketRoot: dataDir, salt });
    const places = hostMountDirectories({ root: paths.root, readTable: readMountTable, tool: hostTool(systemClock) });
    const volume = { namespace: 'default', id: 'data' };
    const place = paths.target('hostpath', volume, 'alloc-1');
    await places.makeStaging(paths.staging('hostpath', volume));
    await places.makeParent(place);
    target = place.path;
    mkdirSync(target, { mode: 0o755 }); // as the plugin does
    writeFileSync(join(target, 'file'), 'precious', { mode: 0o644 });
  });
  after(async () => {
    process.umask(umask);
    await closeApi?.();
    await house.dispose();
  });

  it('M1 its entries are for the owner only, but the path to volumes can be traversed', () => {
    const { dataDir } = house;
    const modes = Object.fromEntries(
      readdirSync(dataDir).map((name) => [name, (lstatSync(join(dataDir, name)).mode & 0o777).toString(8)]),
    );
    expect(modes).to.deep.equal({
      'agent.sock': '600',
      csi: '711',
      lock: '600',
      'path-salt': '600',
      logs: '700',
      plugins: '700',
      state: '700',
      tasks: '700',
    });
    expect(lstatSync(dataDir).mode & 0o777).to.equal(0o711);
  });

  const asNobody = (...command: string[]): { status: number | null; stdout: string; stderr: string } => {
    const user = ['--reuid', nobody, '--regid', nobody, '--clear-groups'];
    return spawnSync('setpriv', [...user, ...command], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  };

  it('M1 another user reads a volume that is published for all', () => {
    const { stdout, stderr } = asNobody('cat', join(target, 'file'));
    expect([stdout, stderr]).to.deep.equal(['precious', '']);
  });

  it('M1, 34.10 the path to a volume can not be worked out from what is known of it', () => {
    const { dataDir } = house;
    const known = mountPaths({ dataDir, socketRoot: dataDir });
    const guessed = known.target('hostpath', { namespace: 'default', id: 'data' }, 'alloc-1').path;
    expect(asNobody('cat', join(guessed, 'file')).stderr).to.include('No such file');
  });

  it('34.10 another user reads the path of what is mounted: only closing the directory or nosuid protects', () => {
    execFileSync('mount', ['--bind', target, target]);
    try {
      expect(asNobody('cat', '/proc/self/mountinfo').stdout).to.include(` ${target} `);
    } finally {
      execFileSync('umount', [target]);
    }
  });

  it('A4 another user can neither list nor read files of the agent, nor reach its API', () => {
    const { dataDir } = house;
    const made = readdirSync(join(dataDir, 'csi'), { recursive: true, encoding: 'utf8' }).map((name) =>
      join('csi', name),
    );
    const closed = [
      '',
      'csi',
      'state',
      'plugins',
      'logs',
      'tasks',
      'lock',
      'path-salt',
      'logs/hostpath.log',
      'state/data.mdb',
      ...made,
    ];
    for (const path of closed.map((name) => join(dataDir, name))) {
      if (path.startsWith(target) && path !== `${target}.json`) continue;
      const look = lstatSync(path).isDirectory() ? 'ls' : 'cat';
      expect(asNobody(look, path).stderr, path).to.include('Permission denied');
    }
    const connect = `require('net').connect(process.argv[1]).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`;
    const { stdout } = asNobody('node', '-e', connect, join(dataDir, 'agent.sock'));
    expect(stdout).to.equal('EACCES\n');
  });
});
