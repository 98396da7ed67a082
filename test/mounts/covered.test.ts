/** What somebody else does to mounts of ours: covers them, or takes them away. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { CsiHandlers } from '../../src/csi/server.js';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { MountHouse, many, single } from './mount-house.js';

/** As most drivers do it (k8s.io/mount-utils, CleanupMountPoint): where no mount is seen, it is done. */
function unmounted(path: string): object {
  if (spawnSync('mountpoint', ['-q', path]).status === 0) execFileSync('umount', [path]);
  return {};
}

/** As most drivers do it: what is at the staging path is bound, whatever that is. */
function bound(source: string, target: string): object {
  mkdirSync(target, { recursive: true });
  execFileSync('mount', ['--bind', source, target]);
  return {};
}

const handlers: CsiHandlers = {
  NodePublishVolume: ({ stagingTargetPath, targetPath }) => bound(stagingTargetPath, targetPath),
  NodeUnpublishVolume: ({ targetPath }) => unmounted(targetPath),
  NodeUnstageVolume: ({ stagingTargetPath }) => unmounted(stagingTargetPath),
};

const cover = (path: string): void => void execFileSync('mount', ['-t', 'tmpfs', 'over', path]);

describe('mounts that somebody else covers or takes away', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  const isMounted = (path: string): boolean => house.mounted().some((one) => one.path === path);
  /** What is said of the volume to be unmounted. */
  const trouble = async (): Promise<string> => {
    let message = '';
    const look = async (): Promise<void> => {
      message = (await house.runtime.mounts.list())[0]?.error?.message ?? '';
    };
    await until(() => {
      void look();
      return message !== '';
    });
    return message;
  };

  for (const [what, over] of [
    ['a directory on the way to its target', dirname],
    ['its target', (path: string) => path],
  ] as const) {
    it(`H2 M10 M12 something is mounted over ${what}: the claim stays, and no call is made until it is gone`, async () => {
      house = await MountHouse.start({ attach: true, handlers });
      await house.make('data', single);
      const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', single)]);
      const path = mount?.hostPath ?? '';
      const calls = house.nodeCalls();
      cover(over(path));
      const { mounts } = house.runtime;
      expect((await mounts.list())[0]?.users[0]?.message)
        .to.match(/^covered by/)
        .and.contain(over(path));
      expect(await mounts.has({ volume: { id: 'data' }, allocId: 'web', usage: single })).to.equal(false);
      const released = house.runtime.allocations.release('web');
      expect(await trouble()).to.contain(`unmount that at ${over(path)}`);
      expect([isMounted(path), house.nodeCalls()]).to.deep.equal([true, calls]);
      expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.have.length(1);

      execFileSync('umount', [over(path)]);
      await released;
      expect([house.mounted(), house.violations()]).to.deep.equal([[], []]);
      expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.deep.equal([]);
    });
  }

  it('M2 M6 a staging path unmounted by hand: the next alloc gets the volume, not the empty directory', async () => {
    house = await MountHouse.start({ handlers });
    await house.make('data', many);
    const { mounts } = house.runtime;
    const { hostPath: first } = await mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const stagingPath = (await mounts.list())[0]?.stagingPath ?? '';
    execFileSync('umount', ['--lazy', stagingPath]);
    const { hostPath } = await mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: many });
    const shown = [first, hostPath].map((path) => house.mounted().find((one) => one.path === path)?.root);
    expect(shown[1]).to.equal(shown[0]).and.to.be.a('string');
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Stage', 'Publish']);
  });

  it('M2 M8 likewise, and what is found at its target is unpublished first', async () => {
    house = await MountHouse.start({ handlers });
    await house.make('data', many);
    const { mounts } = house.runtime;
    const second = { volume: { id: 'data' }, allocId: 'b', usage: many };
    await mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const { hostPath } = await mounts.mount(second);
    await mounts.unmount(second);
    const stagingPath = (await mounts.list())[0]?.stagingPath ?? '';
    execFileSync('umount', ['--lazy', stagingPath]);
    mkdirSync(hostPath, { recursive: true });
    cover(hostPath);
    const before = house.nodeCalls().length;
    await mounts.mount(second);
    expect(house.nodeCalls().slice(before)).to.deep.equal(['Stage', 'Unpublish', 'Publish']);
    expect(house.mounted().filter(({ path }) => path === hostPath)).to.have.length(1);
  });

  it('M2 M11 staged again by a driver that believes it is mounted: the empty directory is no volume', async () => {
    let isBelieving = false;
    house = await MountHouse.start({
      handlers: {
        ...handlers,
        NodeStageVolume: ({ stagingTargetPath }) => {
          if (!isBelieving) execFileSync('mount', ['-t', 'tmpfs', 'own', stagingTargetPath]);
          isBelieving = true;
          return {};
        },
      },
    });
    await house.make('data', many);
    const { mounts } = house.runtime;
    await mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const stagingPath = (await mounts.list())[0]?.stagingPath ?? '';
    execFileSync('umount', ['--lazy', stagingPath]);
    const refusal = await refusalOf(mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: many }));
    expect(refusal.code).to.equal('MOUNT_NOT_AS_ASKED');
    expect(house.mounted().map(({ path }) => path)).to.have.length(1);
  });

  it('M2 M11 the driver binds the empty directory: undone, and staged again before the next use', async () => {
    let isUnmounting = true;
    const unmountFirst: CsiHandlers['NodePublishVolume'] = ({ stagingTargetPath, targetPath }) => {
      if (isUnmounting) execFileSync('umount', ['--lazy', stagingTargetPath]);
      isUnmounting = false;
      return bound(stagingTargetPath, targetPath);
    };
    house = await MountHouse.start({ handlers: { ...handlers, NodePublishVolume: unmountFirst } });
    await house.make('data', many);
    const request = { volume: { id: 'data' }, allocId: 'a', usage: many };
    const refusal = await refusalOf(house.runtime.mounts.mount(request));
    expect(refusal.code).to.equal('MOUNT_NOT_AS_ASKED');
    const { hostPath } = await house.runtime.mounts.mount(request);
    const root = house.mounted().find(({ path }) => path === hostPath)?.root;
    expect(root).to.be.a('string').and.not.contain('/staging/');
    const calls = house.nodeCalls();
    expect(calls.slice(0, 3)).to.deep.equal(['Stage', 'Publish', 'Unpublish']);
    expect(calls.slice(-2)).to.deep.equal(['Stage', 'Publish']);
  });

  it('M2 M12 another mount replaces the stage: nobody gets it, and the volume is staged once it is gone', async () => {
    house = await MountHouse.start({ handlers });
    await house.make('data', many);
    const { mounts } = house.runtime;
    await mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
    const stagingPath = (await mounts.list())[0]?.stagingPath ?? '';
    execFileSync('umount', ['--lazy', stagingPath]);
    cover(stagingPath);
    const second = mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: many });
    expect(await trouble()).to.match(/mounted in its place .*: unmount that first, or release/);
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);

    execFileSync('umount', [stagingPath]);
    await second;
    expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Stage', 'Publish']);
  });

  /** Stages what is of the same kind as what covers it. */
  const likeThat: CsiHandlers = {
    NodeStageVolume: ({ stagingTargetPath }) => {
      execFileSync('mount', ['-t', 'tmpfs', 'own', stagingTargetPath]);
      return {};
    },
  };
  for (const [what, more] of [
    ['something', {}],
    ['something of the same kind', likeThat],
  ] as const) {
    it(`M2 M12 ${what} is mounted over a staging path: nobody gets that as the volume`, async () => {
      house = await MountHouse.start({ handlers: { ...handlers, ...more } });
      await house.make('data', many);
      const { mounts } = house.runtime;
      await mounts.mount({ volume: { id: 'data' }, allocId: 'a', usage: many });
      const stagingPath = (await mounts.list())[0]?.stagingPath ?? '';
      cover(stagingPath);
      const second = mounts.mount({ volume: { id: 'data' }, allocId: 'b', usage: many });
      expect(await trouble()).to.contain(`unmount that at ${stagingPath}`);
      expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish']);

      execFileSync('umount', [stagingPath]);
      await second;
      expect(house.nodeCalls()).to.deep.equal(['Stage', 'Publish', 'Publish']);
    });
  }
});
