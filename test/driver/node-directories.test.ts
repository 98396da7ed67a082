/** Volumes that are directories, by real bind mounts: needs root, as `npm test` says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openState } from '../../src/tools/driver/state.js';
import { expectRefusal, hostTool, mountCapability, NodeScene } from './node-scene.js';

let scene: NodeScene;
let staging: string;
let target: string;

/** One volume, `vol`, and a driver that runs. */
function directoryScene(): void {
  beforeEach(async () => {
    scene = new NodeScene();
    staging = scene.directory('staging');
    target = scene.path('target');
    await scene.addVolume('vol', 'mount');
    await scene.addVolume('other', 'mount');
    await scene.start();
  });

  afterEach(() => scene.close());
}

const multiWriter = mountCapability('SINGLE_NODE_MULTI_WRITER');
const optionsAt = (path: string): string[] => [...(scene.mounts().find((entry) => entry.path === path)?.options ?? [])];

describe('node service: directories', () => {
  directoryScene();

  it('what is written through the target is in the volume, and there again after all was undone', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    writeFileSync(join(target, 'file'), 'precious');
    expect(readFileSync(join(scene.content('vol'), 'file'), 'utf8')).to.equal('precious');
    await scene.unpublish('vol', target);
    expect(existsSync(target)).to.equal(false);
    await scene.unstage('vol', staging);
    expect(readdirSync(staging)).to.deep.equal([]);
    expect(scene.mounts()).to.deep.equal([]);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);

    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    expect(readFileSync(join(target, 'file'), 'utf8')).to.equal('precious');
  });

  it('each call can be repeated', async () => {
    for (const _ of [1, 2, 3]) await scene.stage('vol', staging);
    for (const _ of [1, 2, 3]) await scene.publish('vol', [staging, target]);
    expect(scene.mountPaths()).to.have.members([staging, target]);
    for (const _ of [1, 2, 3]) await scene.unpublish('vol', target);
    for (const _ of [1, 2, 3]) await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });

  it('paths with doubled and trailing slashes are the same paths', async () => {
    await scene.stage('vol', `${staging}//`);
    await scene.publish('vol', [`${staging}/`, `${scene.folder}//./target/`]);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });

  for (const [how, readonly, capability] of [
    ['the request', true, mountCapability()],
    ['SINGLE_NODE_READER_ONLY', false, mountCapability('SINGLE_NODE_READER_ONLY')],
    ['MULTI_NODE_READER_ONLY', false, mountCapability('MULTI_NODE_READER_ONLY')],
    ['the mount flag ro', false, mountCapability('SINGLE_NODE_WRITER', ['ro'])],
  ] as const) {
    it(`read-only by ${how}: writes fail`, async () => {
      await scene.stage('vol', staging, capability);
      await scene.publish('vol', [staging, target], { readonly, volumeCapability: capability });
      expect(() => writeFileSync(join(target, 'file'), '')).to.throw('EROFS');
    });
  }

  for (const [attach, then] of [
    [true, 'is read-only'],
    [false, 'is not, where nothing is published by the controller any more'],
  ] as const) {
    it(`a volume that the controller published read-only ${then}`, async () => {
      await scene.stop();
      await scene.addVolume('vol', 'mount', {
        publications: { 'node-1': { capability: mountCapability(), readonly: true } },
      });
      await scene.start({ attach });
      await scene.stage('vol', staging);
      await scene.publish('vol', [staging, target]);
      expect(optionsAt(target)).to.include(attach ? 'ro' : 'rw');
    });
  }

  it('of two targets one can be read-only', async () => {
    const reader = scene.path('reader');
    await scene.stage('vol', staging, multiWriter);
    await scene.publish('vol', [staging, target], { volumeCapability: multiWriter });
    await scene.publish('vol', [staging, reader], { volumeCapability: multiWriter, readonly: true });
    writeFileSync(join(target, 'file'), 'seen by both');
    expect(readFileSync(join(reader, 'file'), 'utf8')).to.equal('seen by both');
    expect(() => writeFileSync(join(reader, 'file'), '')).to.throw('EROFS');
    await scene.unpublish('vol', reader);
    expect(scene.mountPaths()).to.have.members([staging, target]);
  });

  it('mount flags become options of the mounts', async () => {
    const volumeCapability = mountCapability('SINGLE_NODE_WRITER', ['noexec', 'nosuid', 'nodev', 'noatime', 'rw']);
    await scene.stage('vol', staging, volumeCapability);
    await scene.publish('vol', [staging, target], { volumeCapability });
    for (const path of [staging, target]) {
      expect(optionsAt(path)).to.include.members(['rw', 'noexec', 'nosuid', 'nodev', 'noatime']);
    }
  });

  it('a mount flag that no bind mount can have is refused by name, and nothing is done', async () => {
    for (const flag of ['discard', 'uid=0', 'bind', 'remount', 'ro,exec', '-o', 'constructor', '']) {
      const capability = mountCapability('SINGLE_NODE_WRITER', ['noexec', flag]);
      await expectRefusal(scene.stage('vol', staging, capability), 'INVALID_ARGUMENT', JSON.stringify(flag));
    }
    expect(scene.mounts()).to.deep.equal([]);
  });

  for (const name of [
    'with blanks  and end ',
    'tab\tand\nline feed',
    'back\\slash\\040',
    'ünï日本\u{1f4be}',
    '-o bind',
    'a,b=c"\'#$(touch x)',
    'deleted',
  ]) {
    it(`paths with ${JSON.stringify(name)} in them`, async () => {
      const [odd, at] = [scene.directory(`${name} staging`), scene.path(`${name} target`)];
      const volumeCapability = mountCapability('SINGLE_NODE_WRITER', ['noexec']);
      await scene.stage('vol', odd, volumeCapability);
      await scene.publish('vol', [odd, at], { readonly: true, volumeCapability });
      await scene.publish('vol', [odd, at], { readonly: true, volumeCapability });
      expect(scene.mountPaths()).to.have.members([odd, at]);
      expect(optionsAt(at)).to.include.members(['ro', 'noexec']);
      await scene.unpublish('vol', at);
      await scene.unstage('vol', odd);
      expect(scene.mounts()).to.deep.equal([]);
      expect(existsSync(at)).to.equal(false);
    });
  }

  it('a path of thousands of bytes', async () => {
    const parent = scene.directory(...Array.from({ length: 18 }, () => 'd'.repeat(200)));
    target = join(parent, 'target');
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    expect(scene.mountPaths()).to.have.members([staging, target]);
    await scene.unpublish('vol', target);
    expect(readdirSync(parent)).to.deep.equal([]);
  });

  it('symlinks on the way are followed', async () => {
    symlinkSync(scene.directory('real'), scene.path('link'));
    target = scene.path('link', 'target');
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    await scene.publish('vol', [staging, target]);
    expect(scene.mountPaths()).to.have.members([staging, scene.path('real', 'target')]);
    await scene.unpublish('vol', target);
    expect(readdirSync(scene.path('real'))).to.deep.equal([]);
  });

  it('the data directory may be reached by a symlink', async () => {
    await scene.close();
    scene = new NodeScene();
    symlinkSync(scene.directory('real'), scene.dataDir);
    await scene.addVolume('vol', 'mount');
    await scene.start();
    [staging, target] = [scene.directory('staging'), scene.path('target')];
    for (const _ of [1, 2]) await scene.stage('vol', staging);
    for (const _ of [1, 2]) await scene.publish('vol', [staging, target]);
    expect(scene.mountPaths()).to.have.members([staging, target]);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });
});

describe('node service: shared mounts', () => {
  beforeEach(() => {
    scene = new NodeScene();
  });

  afterEach(() => scene.close());

  it('where mounts are shared, as systemd has them, each comes and goes once', async () => {
    for (const path of [scene.directory('data'), scene.directory('shared')]) {
      hostTool('mount', '--bind', path, path);
      hostTool('mount', '--make-shared', path);
    }
    const before = scene.mountPaths();
    await scene.addVolume('vol', 'mount');
    await scene.start();
    [staging, target] = [scene.directory('shared', 'staging'), scene.path('shared', 'target')];
    for (const _ of [1, 2]) await scene.stage('vol', staging);
    for (const _ of [1, 2]) await scene.publish('vol', [staging, target]);
    expect(scene.mountPaths()).to.have.members([...before, staging, target]);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mountPaths()).to.have.members(before);
  });
});

describe('node service: what is not ours', () => {
  directoryScene();
  beforeEach(() => scene.stage('vol', staging));

  it('a target that is a symlink is refused, and what it points to is untouched', async () => {
    symlinkSync(scene.directory('elsewhere'), target);
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', /is a symlink.*another path/);
    expect(readdirSync(scene.path('elsewhere'))).to.deep.equal([]);
  });

  it('a staging path that is a symlink is refused', async () => {
    symlinkSync(scene.directory('elsewhere'), scene.path('link'));
    await expectRefusal(scene.stage('other', scene.path('link')), 'FAILED_PRECONDITION', 'is a symlink');
  });

  it('a directory with something in it is neither covered nor removed', async () => {
    writeFileSync(join(scene.directory('target'), 'file'), 'precious');
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'something in it');
    await scene.unpublish('vol', target);
    expect(readFileSync(join(target, 'file'), 'utf8')).to.equal('precious');
  });

  it('an empty directory is used', async () => {
    scene.directory('target');
    await scene.publish('vol', [staging, target]);
    await scene.unpublish('vol', target);
    expect(existsSync(target)).to.equal(false);
  });

  it('a file is refused', async () => {
    writeFileSync(target, '');
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'is no directory');
  });

  it('a path on which something else is mounted is refused', async () => {
    hostTool('mount', '--bind', scene.directory('foreign'), scene.directory('target'));
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'not this volume');
    await scene.unpublish('vol', target);
    expect(scene.mountPaths()).to.have.members([staging, target]);
  });

  it('what was mounted over the volume is left, and told, until it is gone', async () => {
    await scene.publish('vol', [staging, target]);
    hostTool('mount', '--bind', scene.directory('foreign'), target);
    await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', 'unmount that');
    hostTool('umount', target);
    await scene.unpublish('vol', target);
    expect(scene.mountPaths()).to.deep.equal([staging]);
  });

  it('what somebody put into the target after it was unmounted by hand is left; the volume is unpublished', async () => {
    await scene.publish('vol', [staging, target]);
    hostTool('umount', target);
    writeFileSync(join(target, 'file'), 'precious');
    for (const _ of [1, 2]) await scene.unpublish('vol', target);
    expect(readFileSync(join(target, 'file'), 'utf8')).to.equal('precious');
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'something in it');
    await scene.unstage('vol', staging);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
    expect(readdirSync(scene.content('vol'))).to.deep.equal([]);
  });

  it('so is what somebody put in the place of the target', async () => {
    await scene.publish('vol', [staging, target]);
    hostTool('umount', target);
    renameSync(target, scene.path('moved'));
    symlinkSync(scene.directory('elsewhere'), target);
    await scene.unpublish('vol', target);
    expect(readlinkSync(target)).to.equal(scene.path('elsewhere'));
    await scene.publish('vol', [staging, scene.path('second')]);
    hostTool('umount', scene.path('second'));
    renameSync(scene.path('second'), scene.path('moved too'));
    writeFileSync(scene.path('second'), '');
    await scene.unpublish('vol', scene.path('second'));
    expect(existsSync(scene.path('second'))).to.equal(true);
    await scene.unstage('vol', staging);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
  });

  it('content written to the staging path after an unmount by hand stays; the volume is unstaged', async () => {
    hostTool('umount', staging);
    writeFileSync(join(staging, 'file'), 'precious');
    await expectRefusal(scene.stage('vol', staging), 'FAILED_PRECONDITION', 'something in it');
    for (const _ of [1, 2]) await scene.unstage('vol', staging);
    expect(readFileSync(join(staging, 'file'), 'utf8')).to.equal('precious');
    await expectRefusal(scene.stage('vol', staging), 'FAILED_PRECONDITION', 'something in it');
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
  });

  it('the target of another volume is refused, mounted or not', async () => {
    const second = scene.directory('second');
    await scene.stage('other', second);
    await scene.publish('vol', [staging, target]);
    await expectRefusal(scene.publish('other', [second, target]), 'FAILED_PRECONDITION', 'the volume vol is published');
    await scene.unpublish('other', target);
    expect(scene.mountPaths()).to.include(target);
    await expectRefusal(scene.stage('other', staging), 'FAILED_PRECONDITION', 'the volume vol is staged');
    await expectRefusal(scene.publish('vol', [staging, staging]), 'FAILED_PRECONDITION', 'the volume vol is staged');
  });
});

describe('node service: order, and what stands in the way', () => {
  directoryScene();

  it('a second staging path is refused, and the first is named', async () => {
    await scene.stage('vol', staging);
    await expectRefusal(scene.stage('vol', scene.directory('second')), 'FAILED_PRECONDITION', staging);
  });

  it('staged with another capability is ALREADY_EXISTS, also for the flags', async () => {
    await scene.stage('vol', staging);
    await expectRefusal(scene.stage('vol', staging, multiWriter), 'ALREADY_EXISTS', staging);
    const flagged = mountCapability('SINGLE_NODE_WRITER', ['noexec']);
    await expectRefusal(scene.stage('vol', staging, flagged), 'ALREADY_EXISTS', staging);
  });

  it('published with other arguments is ALREADY_EXISTS', async () => {
    await scene.stage('vol', staging, multiWriter);
    await scene.publish('vol', [staging, target], { volumeCapability: multiWriter });
    await expectRefusal(
      scene.publish('vol', [staging, target], { volumeCapability: multiWriter, readonly: true }),
      'ALREADY_EXISTS',
      target,
    );
    await expectRefusal(scene.publish('vol', [staging, target]), 'ALREADY_EXISTS', target);
    expect(optionsAt(target)).to.include('rw');
  });

  for (const mode of ['SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER', 'SINGLE_NODE_READER_ONLY'] as const) {
    it(`${mode} allows one target, and after it has gone another`, async () => {
      const volumeCapability = mountCapability(mode);
      const second = scene.path('second');
      await scene.stage('vol', staging, volumeCapability);
      await scene.publish('vol', [staging, target], { volumeCapability });
      await expectRefusal(scene.publish('vol', [staging, second], { volumeCapability }), 'FAILED_PRECONDITION', target);
      expect(existsSync(second)).to.equal(false);
      await scene.unpublish('vol', target);
      await scene.publish('vol', [staging, second], { volumeCapability });
    });
  }

  for (const mode of [
    'SINGLE_NODE_MULTI_WRITER',
    'MULTI_NODE_READER_ONLY',
    'MULTI_NODE_SINGLE_WRITER',
    'MULTI_NODE_MULTI_WRITER',
  ] as const) {
    it(`${mode} allows two targets`, async () => {
      const volumeCapability = mountCapability(mode);
      await scene.stage('vol', staging, volumeCapability);
      for (const path of [target, scene.path('second')]) {
        await scene.publish('vol', [staging, path], { volumeCapability });
      }
      expect(scene.mounts()).to.have.length(3);
    });
  }

  it('publish without a stage, at another path, or without a path is FAILED_PRECONDITION', async () => {
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'NodeStageVolume it first');
    await scene.stage('vol', staging);
    const elsewhere = scene.directory('elsewhere');
    await expectRefusal(scene.publish('vol', [elsewhere, target]), 'FAILED_PRECONDITION', elsewhere);
    await expectRefusal(scene.publish('vol', ['', target]), 'FAILED_PRECONDITION', 'staging_target_path');
    expect(existsSync(target)).to.equal(false);
  });

  it('unstage while published names the target, and changes nothing', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    expect(scene.mountPaths()).to.have.members([staging, target]);
  });

  it('a staging directory, or the parent of a target, that is not there is for the caller to make', async () => {
    const missing = scene.path('missing');
    await expectRefusal(scene.stage('vol', missing), 'FAILED_PRECONDITION', missing);
    await scene.stage('vol', staging);
    const below = join(missing, 'target');
    await expectRefusal(scene.publish('vol', [staging, below]), 'FAILED_PRECONDITION', missing);
    await scene.unpublish('vol', below);
    expect(existsSync(missing)).to.equal(false);
  });

  it('a mode that the volume was not made for is refused', async () => {
    await scene.stop();
    await scene.addVolume('vol', 'mount', { capabilities: [mountCapability()] });
    await scene.start();
    const shared = mountCapability('MULTI_NODE_MULTI_WRITER');
    await expectRefusal(scene.stage('vol', staging, shared), 'FAILED_PRECONDITION', 'not made for');
    await scene.stage('vol', staging);
    const publish = scene.publish('vol', [staging, target], { volumeCapability: shared });
    await expectRefusal(publish, 'INVALID_ARGUMENT', 'not made for');
  });

  it('staged for reading only it is not published to be written to', async () => {
    const reader = mountCapability('MULTI_NODE_READER_ONLY');
    await scene.stage('vol', staging, reader);
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'for reading only');
    await scene.publish('vol', [staging, target], { readonly: true });
  });

  it('so is one that is staged with the mount flag ro', async () => {
    await scene.stage('vol', staging, mountCapability('SINGLE_NODE_WRITER', ['ro']));
    for (const flags of [[], ['rw'], ['rw', 'noexec']]) {
      const volumeCapability = mountCapability('SINGLE_NODE_WRITER', flags);
      await expectRefusal(
        scene.publish('vol', [staging, target], { volumeCapability }),
        'FAILED_PRECONDITION',
        'for reading only',
      );
    }
    await scene.publish('vol', [staging, target], { readonly: true });
  });

  it('mount flags that are opposites are INVALID_ARGUMENT, and nothing is mounted', async () => {
    for (const flags of [
      ['ro', 'rw'],
      ['exec', 'nodev', 'noexec'],
      ['noatime', 'strictatime'],
      ['relatime', 'noatime'],
    ]) {
      const capability = mountCapability('SINGLE_NODE_WRITER', flags);
      await expectRefusal(scene.stage('vol', staging, capability), 'INVALID_ARGUMENT', 'opposites');
    }
    expect(scene.mounts()).to.deep.equal([]);
  });

  it('a request for reading only outweighs the mount flag rw', async () => {
    const volumeCapability = mountCapability('SINGLE_NODE_WRITER', ['rw', 'noexec']);
    await scene.stage('vol', staging, volumeCapability);
    await scene.publish('vol', [staging, target], { volumeCapability, readonly: true });
    expect(optionsAt(target)).to.include.members(['ro', 'noexec']);
  });

  it('another access type than the volume has', async () => {
    const block = { block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } } as const;
    await expectRefusal(scene.stage('vol', staging, block), 'FAILED_PRECONDITION', 'is mount, not block');
    await scene.stage('vol', staging);
    await expectRefusal(
      scene.publish('vol', [staging, target], { volumeCapability: block }),
      'INVALID_ARGUMENT',
      'is mount, not block',
    );
  });

  it('a volume whose content is gone is DATA_LOSS', async () => {
    rmSync(scene.content('vol'), { recursive: true });
    await expectRefusal(scene.stage('vol', staging), 'DATA_LOSS', scene.content('vol'));
  });

  it('a volume whose content has gone since can be unpublished and unstaged', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    rmSync(scene.content('vol'), { recursive: true, force: true });
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });

  it('of many calls at once for one volume all are answered OK or ABORTED', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => scene.stage('vol', staging)));
    const codes = results.map((result) => (result.status === 'fulfilled' ? 'OK' : result.reason.grpcCode));
    expect(new Set(codes)).to.deep.equal(new Set(['OK', 'ABORTED']));
    expect(scene.mountPaths()).to.deep.equal([staging]);
  });

  it('a mount that lost its options gets them back by a repeat', async () => {
    const volumeCapability = mountCapability('SINGLE_NODE_WRITER', ['noexec']);
    await scene.stage('vol', staging, volumeCapability);
    await scene.publish('vol', [staging, target], { volumeCapability, readonly: true });
    hostTool('mount', '-o', 'remount,bind,rw,exec', target);
    await scene.publish('vol', [staging, target], { volumeCapability, readonly: true });
    expect(optionsAt(target)).to.include.members(['ro', 'noexec']);
  });

  describe('in use', () => {
    let user: ChildProcess;
    afterEach(async () => {
      if (user.exitCode === null && user.signalCode === null) {
        user.kill('SIGKILL');
        await once(user, 'exit');
      }
    });

    it('a target with a process in it stays whole, and goes once that has ended', async () => {
      await scene.stage('vol', staging);
      await scene.publish('vol', [staging, target]);
      user = spawn('sleep', ['1000'], { cwd: target });
      await once(user, 'spawn');
      await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', /in use.*fuser/);
      writeFileSync(join(target, 'file'), 'still there');
      await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
      user.kill('SIGKILL');
      await once(user, 'exit');
      await scene.unpublish('vol', target);
      await scene.unstage('vol', staging);
      expect(scene.mounts()).to.deep.equal([]);
    });
  });
});

describe('node service: after a crash, or a reboot', () => {
  directoryScene();

  const restart = async (): Promise<void> => {
    await scene.stop();
    await scene.start();
  };

  it('a driver that starts anew knows what is staged and published', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    await restart();
    await scene.publish('vol', [staging, target]);
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });

  it('records without mounts stand in nobody’s way, and a repeat mounts again', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    hostTool('umount', target);
    hostTool('umount', staging);
    await restart();
    await expectRefusal(scene.publish('vol', [staging, target]), 'FAILED_PRECONDITION', 'NodeStageVolume it first');
    await scene.stage('vol', staging, multiWriter);
    const second = scene.path('second');
    await scene.publish('vol', [staging, second], { volumeCapability: mountCapability() });
    await scene.unpublish('vol', target);
    expect(existsSync(target)).to.equal(false);
    await scene.unpublish('vol', second);
    await scene.unstage('vol', staging);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
  });

  it('records without mounts are forgotten by unpublish and unstage', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    hostTool('umount', target);
    hostTool('umount', staging);
    rmSync(target, { recursive: true });
    await restart();
    await scene.unstage('vol', staging);
    await scene.unpublish('vol', target);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
  });

  it('a volume that nobody knows any more, but is mounted, can be taken away', async () => {
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
    await scene.stop();
    const { state, close } = await openState({ nodeId: 'node-1', dataDir: scene.dataDir });
    await state.volumes.remove('vol');
    close();
    await scene.start();
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
    await expectRefusal(scene.unstage('vol', staging), 'NOT_FOUND', 'vol');
  });

  it('a directory made before a kill, with nothing mounted, is used by the repeat', async () => {
    await scene.stage('vol', staging);
    mkdirSync(target);
    await scene.publish('vol', [staging, target]);
    expect(statSync(target).ino).to.equal(statSync(realpathSync(scene.content('vol'))).ino);
  });
});
