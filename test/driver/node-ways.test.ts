/**
 * Directories where the ways to them change: what is mounted over them, symlinks that lead elsewhere, content that is
 * removed and put back. By real bind mounts: needs root, as `npm test` says.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runner } from '../../src/tools/driver/commands.js';
import { hostMounts } from '../../src/tools/driver/mounts.js';
import { expectRefusal, hostTool, mountCapability, NodeScene } from './node-scene.js';

let scene: NodeScene;
let staging: string;
let target: string;

const multiWriter = mountCapability('SINGLE_NODE_MULTI_WRITER');
const shared = { volumeCapability: multiWriter };

/** `vol` is staged, `other` is there. */
function stagedScene(): void {
  beforeEach(async () => {
    scene = new NodeScene();
    [staging, target] = [scene.directory('staging'), scene.path('target')];
    await scene.addVolume('vol', 'mount');
    await scene.addVolume('other', 'mount');
    await scene.start();
    await scene.stage('vol', staging, multiWriter);
  });

  afterEach(() => scene.close());
}

async function expectUndone(): Promise<void> {
  await scene.unpublish('vol', target);
  await scene.unstage('vol', staging);
  expect(scene.mounts()).to.deep.equal([]);
}

describe('node service: hidden and covered', () => {
  stagedScene();

  it('a target that a mount over its parent hides stays published until that is gone', async () => {
    const parent = scene.directory('parent');
    target = join(parent, 'target');
    await scene.publish('vol', [staging, target], shared);
    hostTool('mount', '--bind', scene.directory('over'), parent);
    await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', `a mount at ${parent} hides it`);
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    hostTool('umount', parent);
    await expectUndone();
    expect(readdirSync(parent)).to.deep.equal([]);
  });

  it('so does a target whose parent can no longer be found', async () => {
    const parent = scene.directory('grand', 'parent');
    target = join(parent, 'target');
    await scene.publish('vol', [staging, target], shared);
    hostTool('mount', '--bind', scene.directory('over'), scene.path('grand'));
    await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', scene.path('grand'));
    hostTool('umount', scene.path('grand'));
    await expectUndone();
  });

  it('a staging path that a mount over its parent hides stays staged until that is gone', async () => {
    const hidden = scene.directory('parent', 'staging');
    await scene.stage('other', hidden);
    hostTool('mount', '--bind', scene.directory('over'), scene.path('parent'));
    await expectRefusal(scene.unstage('other', hidden), 'FAILED_PRECONDITION', 'hides it');
    hostTool('umount', scene.path('parent'));
    await scene.unstage('other', hidden);
    expect(scene.mountPaths()).to.deep.equal([staging]);
  });

  it('what covers the staging path is not published', async () => {
    writeFileSync(join(scene.directory('foreign'), 'secret'), '');
    hostTool('mount', '--bind', scene.path('foreign'), staging);
    await expectRefusal(scene.publish('vol', [staging, target], shared), 'FAILED_PRECONDITION', 'not staged');
    const { volumeCondition } = await scene.client.nodeGetVolumeStats({ volumeId: 'vol', volumePath: staging });
    expect(volumeCondition?.abnormal).to.equal(true);
    expect(existsSync(target)).to.equal(false);
    expect(scene.mountPaths()).to.deep.equal([staging, staging]);
    hostTool('umount', staging);
    await scene.publish('vol', [staging, target], shared);
    await expectUndone();
  });

  it('what is mounted on the staging path at the last moment is published for no longer than a look', async () => {
    await scene.stop();
    const real = hostMounts(runner({ timeoutMs: 120_000 }));
    const bind = async (source: string, place: string): Promise<void> => {
      if (source === staging) hostTool('mount', '--bind', scene.directory('foreign'), staging);
      await real.bind(source, place);
    };
    await scene.start({ mounts: { ...real, bind } });
    await expectRefusal(scene.publish('vol', [staging, target], shared), 'FAILED_PRECONDITION', 'not this volume');
    expect(scene.mountPaths()).to.deep.equal([staging, staging]);
    hostTool('umount', staging);
    await expectUndone();
  });

  it('a volume that is mounted elsewhere too is neither unstaged nor deleted', async () => {
    hostTool('mount', '--bind', staging, scene.directory('elsewhere'));
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', scene.path('elsewhere'));
    await expectRefusal(scene.client.deleteVolume({ volumeId: 'vol' }), 'FAILED_PRECONDITION', 'staged');
    hostTool('umount', scene.path('elsewhere'));
    await scene.unstage('vol', staging);
    mkdirSync(join(scene.content('vol'), 'part'));
    hostTool('mount', '--bind', join(scene.content('vol'), 'part'), scene.path('elsewhere'));
    const remove = scene.client.deleteVolume({ volumeId: 'vol' });
    await expectRefusal(remove, 'FAILED_PRECONDITION', scene.path('elsewhere'));
    hostTool('umount', scene.path('elsewhere'));
    await scene.client.deleteVolume({ volumeId: 'vol' });
  });
});

describe('node service: content that was put back', () => {
  stagedScene();

  it('is not the content that is staged: first that is undone', async () => {
    await scene.publish('vol', [staging, target], shared);
    rmSync(scene.content('vol'), { recursive: true });
    mkdirSync(scene.content('vol'));
    for (const volumePath of [staging, target]) {
      const { volumeCondition } = await scene.client.nodeGetVolumeStats({ volumeId: 'vol', volumePath });
      expect(volumeCondition?.abnormal).to.equal(true);
    }
    await expectRefusal(scene.publish('vol', [staging, target], shared), 'FAILED_PRECONDITION', 'NodeStageVolume');
    await expectRefusal(scene.stage('vol', staging, multiWriter), 'FAILED_PRECONDITION', 'removed since');
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    await expectUndone();

    await scene.stage('vol', staging, multiWriter);
    await scene.publish('vol', [staging, target], shared);
    writeFileSync(join(target, 'file'), '');
    expect(readdirSync(scene.content('vol'))).to.deep.equal(['file']);
  });
});

describe('node service: places under several names', () => {
  stagedScene();

  it('a target stays where it was published when the way to it leads elsewhere', async () => {
    symlinkSync(scene.directory('real'), scene.path('way'));
    target = scene.path('way', 'target');
    await scene.publish('vol', [staging, target], shared);
    unlinkSync(scene.path('way'));
    symlinkSync(scene.directory('elsewhere'), scene.path('way'));
    scene.directory('elsewhere', 'target');
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    await expectRefusal(
      scene.publish('vol', [staging, target], shared),
      'ALREADY_EXISTS',
      scene.path('real', 'target'),
    );
    await expectUndone();
    expect(readdirSync(scene.path('real'))).to.deep.equal([]);
    expect(readdirSync(scene.path('elsewhere'))).to.deep.equal(['target']);
  });

  it('a volume stays staged where it was when the way there is gone', async () => {
    symlinkSync(scene.directory('real'), scene.path('way'));
    const way = scene.path('way', 'staging');
    scene.directory('real', 'staging');
    await scene.stage('other', way);
    unlinkSync(scene.path('way'));
    await scene.unstage('other', way);
    expect(scene.mountPaths()).to.deep.equal([staging]);
  });

  it('one place under two names is one target', async () => {
    symlinkSync(scene.directory('real'), scene.path('alias'));
    target = scene.path('real', 'target');
    const alias = scene.path('alias', 'target');
    await scene.publish('vol', [staging, target], shared);
    for (const readonly of [true, false]) {
      const second = scene.publish('vol', [staging, alias], { ...shared, readonly });
      await expectRefusal(second, 'FAILED_PRECONDITION', target);
    }
    await scene.unpublish('vol', alias);
    writeFileSync(join(target, 'file'), '');
    await expectUndone();
  });
});

describe('node service: places of the driver’s own', () => {
  stagedScene();

  const expectRefused = async (path: string): Promise<void> => {
    await expectRefusal(scene.publish('vol', [staging, path], shared), 'INVALID_ARGUMENT', 'where volumes are kept');
    await expectRefusal(scene.stage('other', path), 'INVALID_ARGUMENT', 'where volumes are kept');
  };

  it('nothing is mounted in the data directory', async () => {
    for (const names of [['groups'], ['uses', 'x'], ['content'], ['content', 'other'], ['content', 'x'], []]) {
      await expectRefused(join(scene.dataDir, ...names));
    }
    expect(readdirSync(scene.dataDir)).to.include('groups');
  });

  it('nor through a symlink, or another mount of it', async () => {
    symlinkSync(scene.dataDir, scene.path('link'));
    hostTool('mount', '--bind', scene.dataDir, scene.directory('bound'));
    for (const way of ['link', 'bound']) {
      await expectRefused(scene.path(way, 'groups'));
      await expectRefused(scene.path(way, 'content', 'other'));
    }
    expect(scene.mountPaths()).to.have.members([staging, scene.path('bound')]);
  });

  it('nor in a volume', async () => {
    const within = scene.directory('staging', 'of its user');
    await expectRefused(within);
    await scene.stage('other', scene.directory('second'));
    await expectRefusal(scene.publish('other', [scene.path('second'), within]), 'INVALID_ARGUMENT', 'nor in a volume');
    expect(readdirSync(staging)).to.deep.equal(['of its user']);
  });
});
