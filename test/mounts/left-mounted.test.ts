/**
 * Mounts that a plugin has forgotten: the plugin reports them as unmounted and leaves them. The runtime unmounts mounts that
 * are certain to be ours. Other mounts are left to the user. Runs the bundled driver in a process of its own. Needs root.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import type { Logger } from '../../src/engine/logger.js';
import { until } from '../until.js';
import { block, MountHouse, many } from './mount-house.js';

describe('mounts that their plugin has forgotten', () => {
  let house: MountHouse;
  let warnings: string[];
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (_, message) => void warnings.push(message) };

  beforeEach(async () => {
    warnings = [];
    house = await MountHouse.start({ attach: true, ownProcess: true, logger });
  });
  afterEach(() => house.end());

  /** From here on it says that it has done so, and does nothing. */
  const forgets = (rpc: 'NodeUnpublishVolume' | 'NodeUnstageVolume'): void => {
    house.driver.script(rpc, { answer: {} }, { times: 'always' });
  };
  const release = async (): Promise<void> => {
    await house.runtime.allocations.release('web', { timeoutMs: 120_000 });
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    const volume = await house.runtime.volumes.get({ id: 'data' });
    expect([volume?.claims, volume?.publications]).to.deep.equal([[], {}]);
  };

  for (const capability of [many, block]) {
    const what = capability.attachmentMode;
    it(`M10 H2 its driver says OK to an unpublish and leaves our ${what} mounted: it is unmounted here`, async () => {
      await house.make('data', capability);
      const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', capability)]);
      forgets('NodeUnpublishVolume');
      await release();
      const event = await house.told('unmounted-for-plugin');
      expect(event).to.deep.include({ plugin: 'disk', path: mount?.hostPath, allocId: 'web' });
      expect(warnings.filter((line) => line.includes('disk') && line.includes(mount?.hostPath ?? ''))).to.have.length(
        1,
      );
    });
  }

  it('M10 H2 the same of an unstage: the staging path is unmounted here', async () => {
    await house.make('data', many);
    await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const [{ stagingPath } = {}] = await house.runtime.mounts.list();
    forgets('NodeUnstageVolume');
    await release();
    expect(await house.told('unmounted-for-plugin')).to.deep.include({ plugin: 'disk', path: stagingPath });
  });

  it('M7 M10 its driver was killed in a publish and has forgotten the mount: it is unmounted here', async () => {
    await house.make('data', many);
    house.driver.script('NodePublishVolume', { die: 'after' });
    const prepared = house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
    const { number } = await house.driver.waitForCall('NodePublishVolume');
    await house.driver.waitForEnd(number);
    forgets('NodeUnpublishVolume');
    const released = release();
    await house.startDriver();
    await released;
    await prepared;
    expect(await house.told('unmounted-for-plugin')).to.deep.include({ plugin: 'disk', allocId: 'web' });
  });

  it('M10 something else is mounted in the place of ours: it and the claim stay until it is cleaned', async () => {
    await house.make('data', many);
    const [mount] = await house.runtime.allocations.prepare('web', [house.wanted('data', many)]);
    const path = mount?.hostPath ?? '';
    forgets('NodeUnpublishVolume');
    execFileSync('umount', [path]);
    execFileSync('mount', ['-t', 'tmpfs', 'else', path]);
    const released = house.runtime.allocations.release('web');
    await until(() => house.nodeCalls().filter((call) => call === 'Unpublish').length > 1);
    expect(house.mounted().map((one) => one.path)).to.include(path);
    expect((await house.runtime.volumes.get({ id: 'data' }))?.claims).to.have.length(1);
    // Unmounts the orphan as a user would who knows that mount.
    const orphans = await house.runtime.mounts.orphans();
    expect(orphans.map((orphan) => [orphan.path, orphan.plugin])).to.deep.equal([[path, 'disk']]);
    expect((await house.runtime.mounts.list())[0]?.error?.message).to.contain(`stagecraft mount clean ${path}`);
    await house.runtime.mounts.cleanOrphan(path);
    await released;
    expect(house.events.map(({ kind }) => kind)).not.to.include('unmounted-for-plugin');
  });
});

describe('mounts that were made by a call whose answer was lost', () => {
  let house: MountHouse;
  afterEach(() => house.end());

  /** As the file system of a server: it is mounted right at the target, and shows nothing of where the volume is staged. */
  const mountOf = (path: string): void => {
    mkdirSync(path, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'server:/export', path]);
  };
  const lost = new CsiStatus('INTERNAL', 'the mount may be there');
  const handlers: CsiHandlers = {
    NodePublishVolume: ({ targetPath }) => {
      if (!house.mounted().some(({ path }) => path === targetPath)) mountOf(targetPath);
      throw lost;
    },
    NodeUnpublishVolume: () => ({}),
  };

  it('M7 M10 nothing was there before the call: the mount that its plugin has forgotten is unmounted', async () => {
    house = await MountHouse.start({ attach: true, handlers });
    await house.make('data', many);
    const prepared = house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
    await until(() => house.nodeCalls().filter((call) => call === 'Publish').length > 1);
    await house.runtime.allocations.release('web', { timeoutMs: 120_000 });
    await prepared;
    expect([house.mounted(), house.leftovers()]).to.deep.equal([[], []]);
    expect(await house.told('unmounted-for-plugin')).to.deep.include({ plugin: 'disk', allocId: 'web' });
  });

  it('M10 what is in use is not unmounted lazily: it is tried again until its user ends', async () => {
    house = await MountHouse.start({ attach: true, handlers });
    await house.make('data', many);
    const prepared = house.runtime.allocations.prepare('web', [house.wanted('data', many)]).catch(() => {});
    await until(() => house.mounted().some(({ path }) => path.includes('per-alloc')));
    const path = house.mounted().find((one) => one.path.includes('per-alloc'))?.path ?? '';
    const user = spawn('sleep', ['1000'], { cwd: path, stdio: 'ignore' });
    try {
      await until(() => house.nodeCalls().filter((call) => call === 'Publish').length > 1);
      const released = house.runtime.allocations.release('web', { timeoutMs: 120_000 });
      await until(() => house.nodeCalls().filter((call) => call === 'Unpublish').length > 1);
      expect(house.mounted().map((one) => one.path)).to.include(path);
      expect((await house.runtime.mounts.list())[0]?.error?.message).to.contain(
        "can't be unmounted by Stagecraft either",
      );
      user.kill('SIGKILL');
      await released;
      await prepared;
      expect(house.mounted()).to.deep.equal([]);
    } finally {
      user.kill('SIGKILL');
    }
  });
});
