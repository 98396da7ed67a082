/** Mounts through the real thing: a driver on a socket, bind mounts, loop devices. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { CsiHandlers } from '../../src/csi/server.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { block, MountHouse, many, mib, node, plugin, single } from './mount-house.js';

describe('mounts', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start();
  });
  afterEach(() => house.end());

  it('M1 staging and target are hashes below the data directory, each with an index that people can read', async () => {
    await house.make('data', many);
    const { hostPath } = await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const [mount] = await house.runtime.mounts.list();
    const segment = '[0-9a-f]{16}';
    const csi = join(house.dataDir, 'csi');
    expect(mount?.stagingPath).to.match(new RegExp(`^${csi}/${segment}/staging/${segment}$`));
    expect(hostPath).to.match(new RegExp(`^${csi}/${segment}/per-alloc/${segment}/${segment}$`));
    expect(JSON.parse(readFileSync(`${hostPath}.json`, 'utf8'))).to.deep.equal({ namespace: 'default', id: 'data' });
    expect(JSON.parse(readFileSync(`${dirname(hostPath)}.json`, 'utf8'))).to.deep.equal({ allocId: 'a' });
    for (let parent = dirname(hostPath); parent.startsWith(house.dataDir); parent = dirname(parent))
      expect(statSync(parent).mode & 0o777, parent).to.equal(parent === house.dataDir ? 0o700 : 0o711);
  });

  it('M2 M5 many at once: one stage, then a publish for each; back the same way, unstaged after the last', async () => {
    await house.make('data', many);
    const allocs = ['a', 'b', 'c'];
    const usage = many;
    await Promise.all(allocs.map((allocId) => house.runtime.mounts.mount({ volume: { id: 'data' }, allocId, usage })));
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Publish', 'Publish']);
    expect(house.mounted()).to.have.length(4);
    await Promise.all(
      allocs.map((allocId) => house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId, usage })),
    );
    expect(house.nodeCalls().slice(4)).to.deep.equal(['Unpublish', 'Unpublish', 'Unpublish', 'Unstage']);
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    expect(await house.runtime.mounts.list()).to.deep.equal([]);
    expect(house.violations()).to.deep.equal([]);
  });

  it('A5 M3 mounts and allocs are listed in the order of their names, in whichever order they came', async () => {
    for (const id of ['data', 'beta', 'alpha']) {
      await house.make(id, many);
      await house.runtime.allocations.prepare(`for-${id}`, [
        { name: 'v', volume: { id }, mode: 'write', taskPath: '/v' },
      ]);
    }
    const mounts = await house.runtime.mounts.list();
    expect(mounts.map(({ volume }) => volume.id)).to.deep.equal(['alpha', 'beta', 'data']);
    const allocs = await house.runtime.allocations.list();
    expect(allocs.map(({ allocId }) => allocId)).to.deep.equal(['for-alpha', 'for-beta', 'for-data']);
  });

  it('M2 the same mount again is the same: no further call; has says so', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const first = await house.runtime.mounts.mount(request);
    expect(await house.runtime.mounts.mount(request)).to.deep.equal(first);
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);
    expect(await house.runtime.mounts.has(request)).to.equal(true);
    expect(await house.runtime.mounts.has({ ...request, allocId: 'b' })).to.equal(false);
    expect(await house.runtime.mounts.has({ ...request, usage: { ...many, readOnly: true } })).to.equal(false);
    await house.runtime.mounts.unmount(request);
    await house.runtime.mounts.unmount(request);
    expect(await house.runtime.mounts.has(request)).to.equal(false);
  });

  it('M3 users outlive the runtime: after its restart the first that leaves unstages nothing', async () => {
    await house.make('data', many);
    for (const allocId of ['a', 'b'])
      await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId, usage: many });
    await house.reopen();
    expect(house.mounted()).to.have.length(3);
    await house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId: 'a' });
    expect(house.nodeCalls().slice(3)).to.deep.equal(['Unpublish']);
    await house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId: 'b' });
    expect(house.nodeCalls().slice(4)).to.deep.equal(['Unpublish', 'Unstage']);
  });

  it('M4 another capability while it is mounted is refused with both named, before any call', async () => {
    await house.make('data', many, { accessMode: 'multi-node-reader-only', attachmentMode: 'file-system' });
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const before = house.driver.calls().length;
    const other = { ...many, mountFlags: ['noatime'] };
    const error = await refusalOf(house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: other }));
    expect([error.code, error.address]).to.deep.equal(['CLAIM_CONFLICT', `mount/${node}/default/data`]);
    expect(error.message).to.contain('alloc a').and.to.contain('noatime').and.to.contain('single-node-multi-writer');
    expect(house.driver.calls()).to.have.length(before);
  });

  it('M6 mounted and in use: kept by a restart, with no call', async () => {
    await house.make('data', many);
    const { hostPath } = await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    writeFileSync(join(hostPath, 'kept'), 'here');
    const before = house.mounted();
    await house.reopen();
    await house.healthy();
    expect(house.mounted()).to.deep.equal(before);
    expect(readFileSync(join(hostPath, 'kept'), 'utf8')).to.equal('here');
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);
  });

  it('M6 believed in but missing, target and staging: mounted again', async () => {
    await house.make('data', many);
    const { hostPath } = await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    writeFileSync(join(hostPath, 'kept'), 'here');
    await house.runtime.close();
    for (const { path } of house.mounted().reverse()) execFileSync('umount', [path]);
    await house.open();
    await house.told('lost');
    await until(() => house.mounted().length === 2);
    await until(() => existsSync(join(hostPath, 'kept')));
    expect(readFileSync(join(hostPath, 'kept'), 'utf8')).to.equal('here');
  });

  it('M6 believed in but missing, only to be told of: it is not mounted until it is asked for again', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const { hostPath } = await house.runtime.mounts.mount(request);
    await house.runtime.close();
    execFileSync('umount', [hostPath]);
    await house.open({ onPluginLoss: 'report' });
    const [mount] = await house.runtime.mounts.list();
    expect(mount?.users.map(({ state }) => state)).to.deep.equal(['lost']);
    await house.healthy();
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);
    await house.runtime.mounts.mount(request);
    expect(house.mounted()).to.have.length(2);
  });

  it('M6 M12 another mount over a target is reported and left alone; the volume is back once it is gone', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const { hostPath } = await house.runtime.mounts.mount(request);
    const messages = async () =>
      (await house.runtime.mounts.list()).flatMap(({ users }) => users.map(({ message }) => message));
    expect([await house.runtime.mounts.has(request), await messages()]).to.deep.equal([true, [undefined]]);
    const calls = house.nodeCalls();
    execFileSync('mount', ['-t', 'tmpfs', 'none', hostPath]);
    expect(await house.runtime.mounts.has(request)).to.equal(false);
    expect((await messages())[0]).to.match(/^covered by \/ of \d+:\d+ \(tmpfs\)/);
    execFileSync('umount', [hostPath]);
    expect([await house.runtime.mounts.has(request), await messages()]).to.deep.equal([true, [undefined]]);
    expect(house.nodeCalls()).to.deep.equal(calls);
  });

  it('M9 what was put into a target beside the mount stays, and is told of', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const { hostPath } = await house.runtime.mounts.mount(request);
    // As a driver that leaves its target behind, with what was hidden below it.
    house.driver.script('NodeUnpublishVolume', { answer: {} });
    execFileSync('umount', [hostPath]);
    writeFileSync(join(hostPath, 'somebodys'), 'data');
    await house.runtime.mounts.unmount(request);
    expect(readFileSync(join(hostPath, 'somebodys'), 'utf8')).to.equal('data');
    expect(await house.told('unmounted'))
      .to.have.property('leftBehind')
      .that.contains(hostPath);
  });

  it('M9 an empty target that the driver has left is removed', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const { hostPath } = await house.runtime.mounts.mount(request);
    house.driver.script('NodeUnpublishVolume', { answer: {} });
    execFileSync('umount', [hostPath]);
    await house.runtime.mounts.unmount(request);
    expect(house.leftovers()).to.deep.equal([]);
  });

  for (const [what, step] of [
    ['NOT_FOUND', { code: 'NOT_FOUND' }],
    ['OK', { answer: {} }],
  ] as const) {
    it(`M10 ${what} to an unpublish or unstage, and our mount is there still: the runtime unmounts it`, async () => {
      await house.make('data', many);
      const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
      await house.runtime.mounts.mount(request);
      house.driver.script('NodeUnpublishVolume', step);
      house.driver.script('NodeUnstageVolume', step);
      await house.runtime.mounts.unmount(request);
      expect(house.nodeCalls().slice(2)).to.deep.equal(['Unpublish', 'Unstage']);
      expect(house.mounted()).to.deep.equal([]);
    });

    it(`M10 ${what} to an unpublish, and something else is mounted there: asked again until that is gone`, async () => {
      await house.make('data', many);
      const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
      const { hostPath } = await house.runtime.mounts.mount(request);
      execFileSync('umount', [hostPath]);
      execFileSync('mount', ['-t', 'tmpfs', 'else', hostPath]);
      house.driver.script('NodeUnpublishVolume', step, { times: 'always' });
      const unmounted = house.runtime.mounts.unmount(request);
      await until(() => house.nodeCalls().filter((call) => call === 'Unpublish').length > 2);
      expect(house.mounted().map(({ path }) => path)).to.include(hostPath);
      execFileSync('umount', [hostPath]);
      await unmounted;
      expect(house.mounted()).to.deep.equal([]);
    });
  }

  it('M11 options of the mount override those of the volume, field by field', async () => {
    await house.make('data', { ...many, mountFlags: ['noatime'] });
    const usage = { ...many, mountFlags: ['noexec'], readOnly: true };
    const { hostPath } = await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage });
    const [line] = readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((one) => one.includes(hostPath));
    const options = line?.split(' ')[5]?.split(',');
    expect(options).to.include('noexec').and.to.include('ro').and.not.to.include('noatime');
  });

  it('M16 a block volume is a device file; read-only, nothing can be written to it', async () => {
    await house.make('disk', block);
    const usage = block;
    const writable = await house.runtime.mounts.mount({ volume: { id: 'disk' }, allocId: 'a', usage });
    expect([writable.isDevice, statSync(writable.hostPath).isBlockDevice()]).to.deep.equal([true, true]);
    const file = openSync(writable.hostPath, 'r+');
    writeSync(file, 'hello');
    closeSync(file);
    await house.runtime.mounts.unmount({ volume: { id: 'disk' }, allocId: 'a' });
    const readOnly = { ...block, readOnly: true };
    const { hostPath } = await house.runtime.mounts.mount({ volume: { id: 'disk' }, allocId: 'a', usage: readOnly });
    expect(execFileSync('head', ['-c', '5', hostPath], { encoding: 'utf8' })).to.equal('hello');
    expect(() =>
      execFileSync('dd', ['if=/dev/zero', `of=${hostPath}`, 'count=1', 'conv=notrunc'], { stdio: 'pipe' }),
    ).to.throw();
    await house.runtime.mounts.unmount({ volume: { id: 'disk' }, allocId: 'a' });
    expect(house.leftovers()).to.deep.equal([]);
  });

  it('M14 it is told what was mounted and unmounted, for whom, and how long that took', async () => {
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    await house.runtime.mounts.mount(request);
    await house.runtime.mounts.unmount(request);
    const key = { namespace: 'default', id: 'data' };
    for (const kind of ['mounted', 'unmounted'] as const) {
      const told = await house.told(kind);
      expect(told).to.deep.include({ allocId: 'a', node, key });
      expect(told).to.have.property('durationMs').that.is.a('number').and.is.at.least(0);
    }
  });

  it('M15 stats are asked for once for all who ask at once; an abnormal condition is told', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const usage = [{ unit: 'BYTES' as const, total: mib, used: 1, available: mib - 1 }];
    const volumeCondition = { abnormal: true, message: 'a disk is failing' };
    house.driver.script('NodeGetVolumeStats', { answer: { usage, volumeCondition } });
    const [first, second] = await Promise.all([1, 2].map(() => house.runtime.mounts.stats({ id: 'data' })));
    expect(first).to.equal(second);
    expect(first?.usage).to.deep.equal([{ unit: 'bytes', total: mib, used: 1, available: mib - 1 }]);
    expect(house.driver.calls().filter(({ rpc }) => rpc === 'NodeGetVolumeStats')).to.have.length(1);
    expect(await house.told('condition')).to.deep.include({ condition: volumeCondition });
    expect((await house.runtime.mounts.list())[0]?.condition).to.deep.equal(volumeCondition);
  });

  it('an unsupported mode, an unknown volume or an invalid id: refused before any call', async () => {
    await house.make('data', many);
    const before = house.driver.calls().length;
    const asked = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const { mounts } = house.runtime;
    const cases: [string, Parameters<typeof mounts.mount>[0], string][] = [
      ['INVALID_ARGUMENT', { ...asked, usage: single }, 'single-node-multi-writer'],
      ['INVALID_ARGUMENT', { ...asked, usage: block }, 'file-system'],
      ['VOLUME_NOT_FOUND', { ...asked, volume: { id: 'other' } }, 'default/other'],
      ['INVALID_ARGUMENT', { ...asked, allocId: 'x\0y' }, 'allocId'],
      ['INVALID_ARGUMENT', { ...asked, allocId: 'x'.repeat(300) }, 'allocId'],
      ['INVALID_ARGUMENT', { ...asked, volume: { id: 'ä'.repeat(65) } }, 'volume.id'],
      ['INVALID_ARGUMENT', { ...asked, usage: { ...many, mountFlags: ['x'.repeat(5_000)] } }, 'mountFlags'],
    ];
    for (const [code, request, named] of cases) {
      const error = await refusalOf(mounts.mount(request));
      expect([error.code, error.message.includes(named)], error.message).to.deep.equal([code, true]);
    }
    expect(house.driver.calls()).to.have.length(before);
    expect(house.mounted()).to.deep.equal([]);
  });

  for (const id of ['..', 'a/b', '../../etc', 'ünïcödé 😀', '.', 'CON', '%2e%2e']) {
    it(`M1 ids like ${JSON.stringify(id)} are mounted below the data directory, and nowhere else`, async () => {
      await house.make(id, many);
      const { hostPath } = await house.runtime.mounts.mount({ volume: { id }, allocId: id, usage: many });
      expect(hostPath.startsWith(`${house.dataDir}/csi/`)).to.equal(true);
      expect(house.mounted().map(({ path }) => path)).to.include(hostPath);
      await house.runtime.mounts.unmount({ volume: { id }, allocId: id });
      expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    });
  }

  it('M1 paths too long where a task has its plugin see them are refused before any call', async () => {
    const socket = `${house.folder}/csi.sock`;
    const stagePublishBaseDir = `/${'x'.repeat(110)}`;
    await house.runtime.tasks.start({ id: 'far', type: 'monolith', socket, stagePublishBaseDir });
    for (const type of ['csi-node', 'csi-controller']) await house.runtime.plugins.waitFor(type, 'far');
    const capacity = { requiredBytes: mib };
    await house.runtime.volumes.create({ id: 'data', plugin: 'far', capacity, capabilities: [many] });
    const error = await refusalOf(house.runtime.allocations.prepare('web', [house.wanted('data', many)]));
    expect([error.code, error.message]).to.match(/INVALID_ARGUMENT.*stagePublishBaseDir/);
    await house.runtime.allocations.release('web');
    expect(house.nodeCalls()).to.deep.equal([]);
  });

  it('a task is not stopped, nor its plugin deregistered unseen, while volumes of it are mounted', async () => {
    await house.make('data', many);
    await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const updates = house.runtime.plugins.updates('csi-node')[Symbol.asyncIterator]();
    await house.runtime.plugins.deregister('csi-node', plugin, 'disk-1');
    const { value } = await updates.next();
    expect(value.dependents).to.deep.equal(['volume default/data (mounted for alloc a)']);
  });
});

describe('what is mounted while others are asked what needs its plugin', () => {
  let house: MountHouse;
  /** Of those who are asked, in order: answers. */
  let asked: (() => void)[];
  beforeEach(async () => {
    asked = [];
    house = await MountHouse.start({
      dependents: () => new Promise((resolve) => asked.push(() => resolve(['volume of somebody else']))),
    });
  });
  afterEach(() => house.end());

  const mount = (): Promise<unknown> =>
    house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
  const needing = ['volume default/data (mounted for alloc a)', 'volume of somebody else'];

  it('I13 counts at a deregistration', async () => {
    await house.make('data', many);
    const updates = house.runtime.plugins.updates('csi-node')[Symbol.asyncIterator]();
    const leaving = house.runtime.plugins.deregister('csi-node', plugin, 'disk-1');
    await until(() => asked.length === 1);
    await mount();
    asked.shift()?.();
    await leaving;
    const { value } = await updates.next();
    expect(value.dependents).to.deep.equal(needing);
  });

  it('I13 keeps a task from being stopped', async () => {
    await house.runtime.tasks.start({ id: 'own', type: 'monolith', socket: `${house.folder}/csi.sock` });
    for (const type of ['csi-node', 'csi-controller']) await house.runtime.plugins.waitFor(type, 'own');
    const capacity = { requiredBytes: mib };
    await house.runtime.volumes.create({ id: 'data', plugin: 'own', capacity, capabilities: [many] });
    const refused = refusalOf(house.runtime.tasks.stop('own'));
    await until(() => asked.length === 2);
    await mount();
    for (const answer of asked) answer();
    const { code, message } = await refused;
    expect(code).to.equal('PLUGIN_IN_USE');
    expect(message).to.include(`it is in use by ${needing.join(', ')};`);
  });
});

describe('a volume of a plugin that a task runs', () => {
  it('T7 H2 the task is stopped under it: what leaves waits, and says how the task is started anew', async () => {
    const house = await MountHouse.start();
    try {
      await house.runtime.tasks.start({ id: 'own', type: 'monolith', socket: `${house.folder}/csi.sock` });
      for (const type of ['csi-node', 'csi-controller']) await house.runtime.plugins.waitFor(type, 'own');
      const capacity = { requiredBytes: mib };
      await house.runtime.volumes.create({ id: 'data', plugin: 'own', capacity, capabilities: [many] });
      await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
      const [volume] = (await house.runtime.allocations.status('web')).volumes;
      expect(volume?.plugin).to.equal('own');
      await house.runtime.tasks.stop('own', { force: true });
      const released = house.runtime.allocations.release('web');
      const { waits } = await house.allocIs('web', (alloc) => alloc.waits.data !== undefined);
      expect(waits.data).to.include('its task own has not brought it up').and.include('stagecraft task status own');
      await house.runtime.tasks.restart('own');
      await released;
      expect(house.mounted()).to.deep.equal([]);
    } finally {
      await house.end();
    }
  });
});

describe('mounts of volumes that are attached first', () => {
  it('M13 the publish context is handed on as it was given', async () => {
    const house = await MountHouse.start({ attach: true });
    try {
      await house.make('data', many);
      const publishContext = { lun: '7', ' odd key': '' };
      house.driver.script('ControllerPublishVolume', { work: true, answer: { publishContext } });
      await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
      for (const rpc of ['NodeStageVolume', 'NodePublishVolume']) {
        const call = house.driver.calls().find((one) => one.rpc === rpc);
        expect(call?.request).to.deep.include({ publishContext });
      }
      expect(house.violations()).to.deep.equal([]);
      await house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId: 'a' });
    } finally {
      await house.end();
    }
  });
});

describe('mounts through a task', () => {
  let house: MountHouse;
  beforeEach(async () => {
    house = await MountHouse.start();
  });
  afterEach(() => house.end());

  it('M1 the plugin’s base directory stays while it holds mounts, also while the task is stopped', async () => {
    const { tasks, mounts } = house.runtime;
    const task = { id: plugin, type: 'monolith', socket: join(house.folder, 'csi.sock') } as const;
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    await tasks.start(task);
    await house.make('data', many);
    await mounts.mount(request);
    await tasks.start(task);
    await tasks.stop(plugin, { force: true });
    const before = tasks.status(plugin);
    const moved = await refusalOf(tasks.start({ ...task, stagePublishBaseDir: '/csi' }));
    expect(moved).to.include({ code: 'PLUGIN_IN_USE', address: `task/${node}/${plugin}` });
    expect(moved.message).to.include('stagePublishBaseDir').and.include('volume default/data (mounted for alloc');
    expect(tasks.status(plugin)).to.deep.equal(before);
    await mounts.unmount(request);
    await tasks.start({ ...task, stagePublishBaseDir: '/csi' });
    expect(tasks.status(plugin).spec).to.include({ stagePublishBaseDir: '/csi' });
  });
});

describe('mounts of a driver that heeds no readonly', () => {
  const isMounted = (path: string): boolean => readFileSync('/proc/self/mountinfo', 'utf8').includes(path);
  const handlers: CsiHandlers = {
    NodePublishVolume: ({ targetPath, stagingTargetPath }) => {
      mkdirSync(targetPath, { recursive: true });
      execFileSync('mount', ['--bind', stagingTargetPath, targetPath]);
      return {};
    },
    NodeUnpublishVolume: ({ targetPath }) => {
      if (isMounted(targetPath)) execFileSync('umount', [targetPath]);
      return {};
    },
  };

  it('M11 mounted for writing though read-only was asked for: an error, and it is undone', async () => {
    const house = await MountHouse.start({ handlers });
    try {
      await house.make('data', many);
      const usage = { ...many, readOnly: true };
      const error = await refusalOf(house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage }));
      expect(error.code, error.message).to.equal('MOUNT_NOT_AS_ASKED');
      expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Unpublish', 'Unstage']);
      expect([house.mounted(), await house.runtime.mounts.list()]).to.deep.equal([[], []]);
      await house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId: 'a' });
      expect(await house.runtime.mounts.list()).to.deep.equal([]);
    } finally {
      await house.end();
    }
  });
});
