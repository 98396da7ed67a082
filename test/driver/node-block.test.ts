/** Volumes that are block devices, by real loop devices: needs root and those, and says so where they are missing. */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DriverProcess } from './driver-process.js';
import {
  blockCapability,
  capacityBytes,
  expectRefusal,
  hostTool,
  mountCapability,
  NodeScene,
  needLoopDevices,
} from './node-scene.js';

const block = { volumeCapability: blockCapability() };
const multiWriter = { volumeCapability: blockCapability('SINGLE_NODE_MULTI_WRITER') };

let scene: NodeScene;
let staging: string;
let target: string;

const sizeOf = (device: string): number => Number(hostTool('blockdev', '--getsize64', device));

/** Through to the disk. */
function write(path: string, text: string, at = 0): void {
  const file = openSync(path, 'rs+');
  try {
    writeSync(file, text, at);
  } finally {
    closeSync(file);
  }
}

function read(path: string, length: number, at = 0): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, at);
    return bytes.toString();
  } finally {
    closeSync(file);
  }
}

describe('node service: block devices', () => {
  before(needLoopDevices);

  beforeEach(async () => {
    scene = new NodeScene();
    staging = scene.directory('staging');
    target = scene.path('target');
    await scene.addVolume('vol', 'block');
    await scene.addVolume('dir', 'mount');
    await scene.start();
  });

  afterEach(() => scene.close());

  it('what is written to the device is in the image, and there again after all was undone', async () => {
    await scene.stage('vol', staging, blockCapability());
    expect(readdirSync(staging)).to.deep.equal([]);
    await scene.publish('vol', [staging, target], block);
    expect(lstatSync(target).isBlockDevice()).to.equal(true);
    expect(sizeOf(target)).to.equal(capacityBytes);
    write(target, 'precious', 4096);
    await scene.unpublish('vol', target);
    expect(existsSync(target)).to.equal(false);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
    expect(scene.loopDevices()).to.deep.equal([]);
    expect(read(scene.image('vol'), 8, 4096)).to.equal('precious');

    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    expect(read(target, 8, 4096)).to.equal('precious');
  });

  it('each call can be repeated, and makes one device', async () => {
    for (const _ of [1, 2, 3]) await scene.stage('vol', staging, blockCapability());
    for (const _ of [1, 2, 3]) await scene.publish('vol', [staging, target], block);
    expect(scene.loopDevices()).to.have.length(1);
    expect(scene.mountPaths()).to.deep.equal([target]);
    for (const _ of [1, 2, 3]) await scene.unpublish('vol', target);
    for (const _ of [1, 2, 3]) await scene.unstage('vol', staging);
    expect(scene.loopDevices()).to.deep.equal([]);
  });

  for (const [how, readonly, volumeCapability] of [
    ['the request', true, blockCapability()],
    ['SINGLE_NODE_READER_ONLY', false, blockCapability('SINGLE_NODE_READER_ONLY')],
  ] as const) {
    it(`read-only by ${how}: the device refuses writes`, async () => {
      await scene.stage('vol', staging, volumeCapability);
      await scene.publish('vol', [staging, target], { readonly, volumeCapability });
      expect(() => write(target, 'x')).to.throw(/EPERM|EROFS|EACCES/);
      expect(read(target, 1)).to.equal('\0');
      expect(hostTool('blockdev', '--getro', target).trim()).to.equal('1');
    });
  }

  it('of two targets one can be read-only; both go, and their devices', async () => {
    const reader = scene.path('reader');
    await scene.stage('vol', staging, multiWriter.volumeCapability);
    await scene.publish('vol', [staging, target], multiWriter);
    await scene.publish('vol', [staging, reader], { ...multiWriter, readonly: true });
    write(target, 'seen by both');
    expect(read(reader, 12)).to.equal('seen by both');
    expect(() => write(reader, 'x')).to.throw(/EPERM|EROFS|EACCES/);
    for (const path of [target, reader]) await scene.unpublish('vol', path);
    await scene.unstage('vol', staging);
    expect(scene.loopDevices()).to.deep.equal([]);
  });

  it('expanded online: a device that is open becomes larger, and keeps what is in it', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    write(target, 'precious');
    await scene.stop();
    await scene.addVolume('vol', 'block', { capacityBytes: 2 * capacityBytes });
    await scene.start();
    const open = openSync(target, 'r');
    try {
      const range = { requiredBytes: 2 * capacityBytes };
      const expand = { volumeId: 'vol', volumePath: target, capacityRange: range };
      expect(await scene.client.nodeExpandVolume(expand)).to.deep.equal({ capacityBytes: BigInt(2 * capacityBytes) });
      expect(await scene.client.nodeExpandVolume(expand)).to.deep.equal({ capacityBytes: BigInt(2 * capacityBytes) });
      expect(sizeOf(target)).to.equal(2 * capacityBytes);
    } finally {
      closeSync(open);
    }
    expect(read(target, 8)).to.equal('precious');
    write(target, 'more', capacityBytes + 4096);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
  });

  it('a target that somebody has open stays, and goes once it is closed', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    const open = openSync(target, 'r');
    try {
      await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', /in use.*fuser/);
    } finally {
      closeSync(open);
    }
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
  });

  it('a device that somebody has open by its own name stays staged, and goes once it is closed', async () => {
    await scene.stage('vol', staging, blockCapability());
    const [device = ''] = scene.loopDevices();
    const open = openSync(device, 'r');
    try {
      await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', device);
    } finally {
      closeSync(open);
    }
    await scene.unstage('vol', staging);
    expect(scene.loopDevices()).to.deep.equal([]);
  });

  it('while a device that was to go is open there is no second one of the image', async () => {
    await scene.stage('vol', staging, blockCapability());
    const [device = ''] = scene.loopDevices();
    const open = openSync(device, 'r+');
    try {
      await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', device);
      await expectRefusal(scene.stage('vol', staging, blockCapability()), 'FAILED_PRECONDITION', device);
      expect(scene.loopDevices()).to.deep.equal([device]);
    } finally {
      closeSync(open);
    }
    await scene.stage('vol', staging, blockCapability());
    expect(scene.loopDevices()).to.have.length(1);
  });

  it('a device that was detached by hand is made again by a repeat, and the target shows the new one', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    const [device = ''] = scene.loopDevices();
    hostTool('losetup', '--detach', device);
    await expectRefusal(scene.publish('vol', [staging, target], block), 'FAILED_PRECONDITION', 'NodeStageVolume');
    writeFileSync(scene.path('foreign'), '');
    truncateSync(scene.path('foreign'), capacityBytes);
    // Where another test has taken it meanwhile, that is a foreign one as well.
    const { status, stderr } = spawnSync('losetup', [device, scene.path('foreign')], { encoding: 'utf8' });
    if (status !== 0) expect(stderr).to.include('Device or resource busy');
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    write(target, 'precious');
    expect(read(scene.image('vol'), 8)).to.equal('precious');
    expect(read(scene.path('foreign'), 8)).to.equal('\0'.repeat(8));
    expect(scene.mountPaths()).to.deep.equal([target]);
  });

  it('an image that has gone since can be unpublished and unstaged', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    rmSync(scene.image('vol'));
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.loopDevices()).to.deep.equal([]);
    await expectRefusal(scene.stage('vol', staging, blockCapability()), 'DATA_LOSS', scene.image('vol'));
  });

  it('an image that was put back is not the one that is staged: first that is undone', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    rmSync(scene.image('vol'));
    writeFileSync(scene.image('vol'), Buffer.alloc(capacityBytes));
    const place = { volumeId: 'vol', volumePath: target };
    expect((await scene.client.nodeGetVolumeStats(place)).volumeCondition?.abnormal).to.equal(true);
    await expectRefusal(scene.publish('vol', [staging, target], block), 'FAILED_PRECONDITION', 'NodeStageVolume');
    await expectRefusal(scene.stage('vol', staging, blockCapability()), 'FAILED_PRECONDITION', 'removed since');
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.loopDevices()).to.deep.equal([]);

    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    write(target, 'precious');
    expect(read(scene.image('vol'), 8)).to.equal('precious');
  });

  it('a target that a mount over its parent hides stays published, and its device stays the volume’s', async () => {
    const parent = scene.directory('parent');
    target = join(parent, 'target');
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    hostTool('mount', '--bind', scene.directory('over'), parent);
    await expectRefusal(scene.unpublish('vol', target), 'FAILED_PRECONDITION', parent);
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    expect(scene.loopDevices()).to.have.length(1);
    hostTool('umount', parent);
    await scene.unpublish('vol', target);
    await scene.unstage('vol', staging);
    expect(scene.mounts()).to.deep.equal([]);
  });

  it('a device that is mounted elsewhere too stays', async () => {
    await scene.stage('vol', staging, blockCapability());
    const [device = ''] = scene.loopDevices();
    writeFileSync(scene.path('elsewhere'), '');
    hostTool('mount', '--bind', device, scene.path('elsewhere'));
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', scene.path('elsewhere'));
    hostTool('umount', scene.path('elsewhere'));
    await scene.unstage('vol', staging);
  });

  it('a target with something in it is neither covered nor removed', async () => {
    await scene.stage('vol', staging, blockCapability());
    writeFileSync(target, 'precious');
    await expectRefusal(scene.publish('vol', [staging, target], block), 'FAILED_PRECONDITION', 'something in it');
    expect(readFileSync(target, 'utf8')).to.equal('precious');
    const directory = scene.directory('directory');
    await expectRefusal(scene.publish('vol', [staging, directory], block), 'FAILED_PRECONDITION', 'is no file');
  });

  it('content written to the target after an unmount by hand stays; the volume is unpublished', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    hostTool('umount', target);
    writeFileSync(target, 'precious');
    for (const _ of [1, 2]) await scene.unpublish('vol', target);
    expect(readFileSync(target, 'utf8')).to.equal('precious');
    await expectRefusal(scene.publish('vol', [staging, target], block), 'FAILED_PRECONDITION', 'something in it');
    await scene.unstage('vol', staging);
    expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
  });

  it('a target that shows the device of somebody else is refused', async () => {
    await scene.stage('vol', staging, blockCapability());
    writeFileSync(scene.path('foreign'), Buffer.alloc(capacityBytes));
    const device = hostTool('losetup', '--find', '--show', scene.path('foreign')).trim();
    writeFileSync(target, '');
    hostTool('mount', '--bind', device, target);
    await expectRefusal(scene.publish('vol', [staging, target], block), 'FAILED_PRECONDITION', 'not this volume');
    await scene.unpublish('vol', target);
    expect(scene.mountPaths()).to.deep.equal([target]);
  });

  it('a second target, other arguments, another access type: as with directories', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    const second = scene.path('second');
    await expectRefusal(scene.publish('vol', [staging, second], block), 'FAILED_PRECONDITION', target);
    const readonly = { ...block, readonly: true };
    await expectRefusal(scene.publish('vol', [staging, target], readonly), 'ALREADY_EXISTS', target);
    await expectRefusal(scene.unstage('vol', staging), 'FAILED_PRECONDITION', target);
    await expectRefusal(scene.stage('vol', staging, mountCapability()), 'FAILED_PRECONDITION', 'is block, not mount');
  });

  it('its stats have the size, and say when it is not published any more', async () => {
    await scene.stage('vol', staging, blockCapability());
    await scene.publish('vol', [staging, target], block);
    const place = { volumeId: 'vol', volumePath: target };
    const { usage, volumeCondition } = await scene.client.nodeGetVolumeStats(place);
    expect(usage).to.deep.equal([{ unit: 'BYTES', total: BigInt(capacityBytes), available: 0n, used: 0n }]);
    expect(volumeCondition?.abnormal).to.equal(false);
    hostTool('umount', target);
    const after = await scene.client.nodeGetVolumeStats(place);
    expect(after.volumeCondition).to.include({ abnormal: true });
    expect(after.volumeCondition?.message).to.contain('publish it again');
  });

  it('without loop devices a stage says what is missing, and directories go on', async () => {
    await scene.stop();
    const driver = await DriverProcess.start(scene, { withoutDevices: true });
    try {
      await expectRefusal(
        scene.stage('vol', staging, blockCapability()),
        'FAILED_PRECONDITION',
        /loop devices.*go on without/,
      );
      const other = scene.directory('other');
      await scene.stage('dir', other);
      await scene.unstage('dir', other);
      await scene.unstage('vol', staging);
    } finally {
      await driver.kill();
    }
  });

  it('without root a stage says so', async () => {
    await scene.stop();
    const driver = await DriverProcess.start(scene, { withoutRoot: true });
    try {
      await expectRefusal(scene.stage('vol', staging, blockCapability()), 'FAILED_PRECONDITION', 'need root');
      const other = scene.directory('other');
      await expectRefusal(scene.stage('dir', other), 'FAILED_PRECONDITION', 'as root');
      await scene.unstage('vol', staging);
      await scene.unstage('dir', other);
      expect(readdirSync(join(scene.dataDir, 'uses'))).to.deep.equal([]);
    } finally {
      await driver.kill();
    }
  });
});
