/** Targets that show something else than was asked for, whatever the plugin says. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CsiHandlers } from '../../src/csi/server.js';
import type { Logger } from '../../src/engine/logger.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { block, MountHouse, many, mib } from './mount-house.js';

function unmounted(path: string): object {
  if (spawnSync('mountpoint', ['-q', path]).status === 0) execFileSync('umount', [path]);
  return {};
}

function bound(source: string, target: string): object {
  mkdirSync(target, { recursive: true });
  execFileSync('mount', ['--bind', source, target]);
  return {};
}

describe('a target that shows another volume', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  /** Binds from another path than that of the request. */
  let from: (asked: string) => string;
  const handlers: CsiHandlers = {
    NodePublishVolume: ({ stagingTargetPath, targetPath }) => bound(from(stagingTargetPath), targetPath),
    NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
  };
  const stagingOf = async (id: string): Promise<string> =>
    (await house.runtime.mounts.list()).find(({ volume }) => volume.id === id)?.stagingPath ?? '';

  it('M12, 34.9 bound from the staging path of another volume: refused with its name, and undone', async () => {
    from = (asked) => asked;
    house = await MountHouse.start({ handlers });
    const { mounts } = house.runtime;
    for (const id of ['data', 'other']) await house.make(id, many);
    await mounts.mount({ volume: { id: 'other' }, allocId: 'a', usage: many });
    const other = await stagingOf('other');
    from = () => other;
    const request = { volume: { id: 'data' }, allocId: 'b', usage: many };
    const refusal = await refusalOf(mounts.mount(request));
    expect(refusal.code, refusal.message).to.equal('MOUNT_NOT_AS_ASKED');
    expect(refusal.message).to.contain('"id":"other"').and.to.contain(other);
    const paths = house.mounted().map(({ path }) => path);
    expect(paths.filter((path) => path.includes('/per-alloc/'))).to.have.length(1);

    from = (asked) => asked;
    const { hostPath } = await mounts.mount(request);
    expect(house.mounted().map(({ path }) => path)).to.include(hostPath);
    expect(house.violations()).to.deep.equal([]);
  });
});

describe('a target of another kind than was asked for', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  const boundFile = (target: string): object => {
    const file = join(house.folder, 'file');
    for (const path of [file, target]) writeFileSync(path, '');
    execFileSync('mount', ['--bind', file, target]);
    return {};
  };

  const kinds = {
    'a plain file': (target: string) => boundFile(target),
    'a directory': (target: string) => bound(join(house.folder, 'driver'), target),
    'a device': (target: string) => {
      writeFileSync(target, '');
      execFileSync('mount', ['--bind', '/dev/null', target]);
      return {};
    },
  };
  for (const [what, capability] of [
    ['a plain file', block],
    ['a directory', block],
    ['a plain file', many],
    ['a device', many],
  ] as const) {
    it(`M16, 34.30 ${what} is mounted in place of a ${capability.attachmentMode}: refused, and undone`, async () => {
      house = await MountHouse.start({
        handlers: {
          NodePublishVolume: ({ targetPath }) => kinds[what](targetPath),
          NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
        },
      });
      await house.make('data', capability);
      const request = { volume: { id: 'data' }, allocId: 'a', usage: capability };
      const refusal = await refusalOf(house.runtime.mounts.mount(request));
      expect(refusal.code, refusal.message).to.equal('MOUNT_NOT_AS_ASKED');
      expect(refusal.message).to.contain(capability === block ? 'was to be a block device' : 'was to be a directory');
      await until(() => house.nodeCalls().at(-1) === 'Unstage' && house.mounted().length === 0);
    });
  }
});

describe('a volume that can not be written to', () => {
  let house: MountHouse;
  let warnings: string[];
  afterEach(() => house.end());

  const logger = (): Logger => ({
    ...{ debug() {}, info() {}, error() {} },
    warn: (_, message) => void warnings.push(message),
  });
  /** Stages a file system of its own with these options. */
  const stagedAs = (...options: string[]): CsiHandlers => ({
    NodeStageVolume: ({ stagingTargetPath }) => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', ['size=1m', ...options].join(','), 'own', stagingTargetPath]);
      return {};
    },
    NodePublishVolume: ({ stagingTargetPath, targetPath, readonly }) => {
      bound(stagingTargetPath, targetPath);
      if (readonly) execFileSync('mount', ['-o', 'remount,bind,ro', targetPath]);
      return {};
    },
    NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
    NodeUnstageVolume: ({ stagingTargetPath }) => unmounted(stagingTargetPath),
  });
  const start = async (handlers: CsiHandlers): Promise<void> => {
    warnings = [];
    house = await MountHouse.start({ handlers, logger: logger() });
    await house.make('data', many);
  };
  const mount = (allocId: string, more: object = {}) =>
    house.runtime.mounts.mount({ volume: { id: 'data' }, allocId, usage: { ...many, ...more } });

  it('M11, 34.30 its file system has turned read-only: nobody gets it for writing, until it is staged anew', async () => {
    await start(stagedAs());
    const wanted = [house.wanted('data', many)];
    const [first] = await house.runtime.allocations.prepare('web', wanted);
    const [{ stagingPath = '' } = {}] = await house.runtime.mounts.list();
    execFileSync('mount', ['-o', 'remount,ro', stagingPath]);
    const refusal = await refusalOf(mount('b'));
    expect(refusal.code, refusal.message).to.equal('MOUNT_NOT_AS_ASKED');
    expect(refusal.message).to.contain('has turned read-only');
    expect((await mount('c', { readOnly: true })).readOnly).to.equal(true);

    const again = await refusalOf(house.runtime.allocations.prepare('web', wanted));
    expect([again.code, again.message.includes('has turned read-only')]).to.deep.equal(['HOST_UNFIT', true]);
    expect(await house.runtime.mounts.has({ volume: { id: 'data' }, allocId: 'web', usage: many })).to.equal(false);

    for (const allocId of ['b', 'c']) await house.runtime.mounts.unmount({ volume: { id: 'data' }, allocId });
    await house.runtime.allocations.release('web');
    const [second] = await house.runtime.allocations.prepare('web', wanted);
    expect(second?.hostPath).to.equal(first?.hostPath);
    writeFileSync(join(second?.hostPath ?? '', 'file'), '');
  });

  it('M11, 34.30 it is read-only from the start: taken as it is, with a line in the log', async () => {
    await start(stagedAs('ro'));
    await mount('a');
    expect(warnings.filter((line) => line.includes('is read-only by its nature or by its plugin'))).to.have.length(1);
  });

  it('M11, 34.30 it is read-only by its mount flags: taken, and nothing is logged', async () => {
    await start(stagedAs('ro'));
    await mount('a', { mountFlags: ['ro'] });
    expect(warnings).to.deep.equal([]);
  });

  it('M11, 34.30 it has another file system than was asked for: a line in the log names both', async () => {
    await start(stagedAs());
    await mount('a', { fsType: 'ext4' });
    expect(warnings.filter((line) => line.includes('has the file system tmpfs, though ext4 was'))).to.have.length(1);
  });
});

describe('a block device whose disk is another one by now', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  it('M6 M16, 34.28c a foreign image has got the loop device of a target: the volume is mounted again', async () => {
    house = await MountHouse.start();
    await house.make('data', block);
    const wanted = [house.wanted('data', block)];
    const [{ hostPath = '' } = {}] = await house.runtime.allocations.prepare('web', wanted);
    const owned = execFileSync('losetup', ['--list', '--noheadings', '--raw', '--output', 'NAME,BACK-FILE'], {
      encoding: 'utf8',
    });
    const device =
      owned
        .split('\n')
        .find((line) => line.includes(house.folder))
        ?.split(' ')[0] ?? '';
    const foreign = join(house.folder, 'foreign');
    writeFileSync(foreign, 'foreign');
    truncateSync(foreign, mib);
    execFileSync('losetup', ['--detach', device]);
    // Another test may have taken the device meanwhile: that disk is a foreign one, too.
    spawnSync('losetup', [device, foreign]);
    const { mounts, allocations } = house.runtime;
    expect(await mounts.has({ volume: { id: 'data' }, allocId: 'web', usage: block })).to.equal(false);

    await allocations.prepare('web', wanted);
    expect(await mounts.has({ volume: { id: 'data' }, allocId: 'web', usage: block })).to.equal(true);
    const file = openSync(hostPath, 'r');
    const bytes = Buffer.alloc(7);
    readSync(file, bytes, 0, 7, 0);
    closeSync(file);
    expect(bytes.toString()).to.equal('\0'.repeat(7));
    await allocations.release('web');
    expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
  });
});

describe('set-user-id programs in a volume', () => {
  let house: MountHouse;
  let warnings: string[];
  afterEach(() => house.end());

  for (const [situation, dataDirAccess, mountFlags, isWarned] of [
    ['the data directory is closed', 'owner', [], false],
    ['it is open to everyone', 'everyone', [], true],
    ['it is open to a group', { group: 'daemon' }, [], true],
    ['it is open, and the volume is mounted with nosuid', 'everyone', ['nosuid'], false],
  ] as const)
    it(`34.10 ${situation}: ${isWarned ? 'a warning' : 'no warning'}`, async () => {
      warnings = [];
      const logger: Logger = {
        ...{ debug() {}, info() {}, error() {} },
        warn: (_, message) => void warnings.push(message),
      };
      house = await MountHouse.start({ logger, dataDirAccess, isReachable: true });
      await house.make('data', many);
      const usage = { ...many, mountFlags: [...mountFlags] };
      await house.runtime.mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage });
      expect(warnings.filter((line) => line.includes('add nosuid to its mountFlags'))).to.have.length(isWarned ? 1 : 0);
    });
});
