/** Two drivers with block volumes on one host, and a loop device that changes hands: needs root and loop devices. */
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { blockCapability, hostTool, NodeScene, needLoopDevices } from './node-scene.js';

const textBytes = 'of the second'.length;

function textAt(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(textBytes);
    readSync(file, bytes, 0, textBytes, 0);
    return bytes.toString();
  } finally {
    closeSync(file);
  }
}

describe('block volumes of two drivers on one host', () => {
  let first: NodeScene;
  let second: NodeScene;
  const block = { volumeCapability: blockCapability() };

  before(needLoopDevices);

  beforeEach(async () => {
    [first, second] = [new NodeScene(), new NodeScene()];
    for (const scene of [first, second]) {
      await scene.addVolume('vol', 'block');
      await scene.start();
    }
  });

  afterEach(async () => {
    for (const scene of [first, second]) await scene.close();
  });

  const placesIn = (scene: NodeScene): [staging: string, target: string] => [
    scene.directory('staging'),
    scene.path('target'),
  ];

  it('34.28c a device taken from under a target: no other volume gets it while the target stands', async () => {
    const [staging, target] = placesIn(first);
    await first.stage('vol', staging, blockCapability());
    await first.publish('vol', [staging, target], block);
    const [device = ''] = first.loopDevices();
    hostTool('losetup', '--detach', device);

    writeFileSync(second.image('vol'), 'of the second', { flag: 'r+' });
    const [otherStaging, otherTarget] = placesIn(second);
    await second.stage('vol', otherStaging, blockCapability());
    await second.publish('vol', [otherStaging, otherTarget], block);
    expect(second.loopDevices()).to.have.length(1).and.not.to.include(device);
    expect(textAt(otherTarget)).to.equal('of the second');
    await second.unpublish('vol', otherTarget);
    await second.unstage('vol', otherStaging);
    expect([second.mountPaths(), second.loopDevices()]).to.deep.equal([[], []]);

    await first.unpublish('vol', target);
    await first.unstage('vol', staging);
    expect([first.mountPaths(), first.loopDevices()]).to.deep.equal([[], []]);
  });
});
