/** What the Node service refuses before it does anything, and what it is to whom it asks; with mounts that are only remembered. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VolumeCapability } from '../../src/csi/generated/plain.js';
import { memoryLoopDevices, memoryMounts } from '../../src/tools/driver/memory-mounts.js';
import { blockCapability, capacityBytes, expectRefusal, mountCapability, NodeScene } from './node-scene.js';

let scene: NodeScene;
let staging: string;
let target: string;

function memoryScene(): void {
  beforeEach(async () => {
    scene = new NodeScene();
    staging = scene.directory('staging');
    target = scene.path('target');
    await scene.addVolume('vol', 'mount');
    await scene.addVolume('block', 'block');
    await scene.start({ mounts: memoryMounts(), loopDevices: memoryLoopDevices(), maxVolumesPerNode: 7 });
  });

  afterEach(async () => {
    const { folder } = scene;
    expect(scene.mounts()).to.deep.equal([]);
    await scene.close();
    expect(existsSync(folder)).to.equal(false);
  });
}

type Call = (id: string, path: string) => Promise<unknown>;

/** Each with its id and its path given. */
const calls: Record<string, Call> = {
  NodeStageVolume: (id, path) => scene.stage(id, path),
  NodeUnstageVolume: (id, path) => scene.unstage(id, path),
  NodePublishVolume: (id, path) => scene.publish(id, [staging, path]),
  NodeUnpublishVolume: (id, path) => scene.unpublish(id, path),
  NodeGetVolumeStats: (volumeId, volumePath) => scene.client.nodeGetVolumeStats({ volumeId, volumePath }),
  NodeExpandVolume: (volumeId, volumePath) => scene.client.nodeExpandVolume({ volumeId, volumePath }),
};
const changing = ['NodeStageVolume', 'NodeUnstageVolume', 'NodePublishVolume', 'NodeUnpublishVolume'];

describe('node service: requests', () => {
  memoryScene();

  for (const [rpc, call] of Object.entries(calls)) {
    it(`${rpc} without an id, or with one that is too long, is INVALID_ARGUMENT`, async () => {
      await expectRefusal(call('', target), 'INVALID_ARGUMENT', 'volume_id is missing');
      await expectRefusal(call('x'.repeat(129), target), 'INVALID_ARGUMENT', 'allows 128');
    });

    it(`${rpc} without a path is INVALID_ARGUMENT, also of an unknown volume`, async () => {
      for (const id of ['vol', 'unknown']) await expectRefusal(call(id, ''), 'INVALID_ARGUMENT', /path is missing/);
    });

    it(`${rpc} of an unknown volume is NOT_FOUND`, async () => {
      for (const id of ['unknown', '../vol', 'vol/', '.']) await expectRefusal(call(id, target), 'NOT_FOUND', id);
    });
  }

  for (const rpc of changing) {
    for (const [what, path] of [
      ['relative', 'some/path'],
      ['with a NUL', '/tmp/x\0y'],
      ['longer than any can be', `/${'x/'.repeat(2048)}`],
      ['with .. in it', '/tmp/x/../y'],
      ['the root', '//'],
    ] as const) {
      it(`${rpc} at a path that is ${what} is INVALID_ARGUMENT`, async () => {
        await expectRefusal(calls[rpc]?.('vol', path) ?? Promise.resolve(), 'INVALID_ARGUMENT', 'path');
      });
    }
  }

  it('a name in a path that no file system takes is INVALID_ARGUMENT', async () => {
    await scene.stage('vol', staging);
    const long = join(scene.folder, 'n'.repeat(256));
    await expectRefusal(scene.publish('vol', [staging, long]), 'INVALID_ARGUMENT', 'ENAMETOOLONG');
    await expectRefusal(scene.publish('vol', [staging, join(long, 'x')]), 'INVALID_ARGUMENT', 'ENAMETOOLONG');
  });

  for (const [what, volumeCapability] of [
    ['no capability', undefined],
    ['no access type', { accessMode: { mode: 'SINGLE_NODE_WRITER' } }],
    ['no access mode', { block: {} }],
    ['an access mode that is unknown', mountCapability('UNKNOWN')],
    ['an access mode of the future', mountCapability('99')],
    [
      'a mount group',
      {
        mount: { fsType: '', mountFlags: [], volumeMountGroup: '12' },
        accessMode: { mode: 'SINGLE_NODE_WRITER' },
      },
    ],
  ] satisfies [string, VolumeCapability | undefined][]) {
    it(`stage and publish with ${what} are INVALID_ARGUMENT, also of an unknown volume`, async () => {
      const capability = volumeCapability === undefined ? {} : { volumeCapability };
      for (const volumeId of ['vol', 'unknown']) {
        const stage = scene.client.nodeStageVolume({ volumeId, stagingTargetPath: staging, ...capability });
        await expectRefusal(stage, 'INVALID_ARGUMENT', '');
        const paths = { stagingTargetPath: staging, targetPath: target };
        const publish = scene.client.nodePublishVolume({ volumeId, ...paths, ...capability });
        await expectRefusal(publish, 'INVALID_ARGUMENT', '');
      }
    });
  }

  it('what is larger than CSI allows is INVALID_ARGUMENT; paths may be as long as they are', async () => {
    const large = { ...mountCapability(), mount: { fsType: 'x'.repeat(129), mountFlags: [], volumeMountGroup: '' } };
    await expectRefusal(scene.stage('vol', staging, large), 'INVALID_ARGUMENT', 'fs_type');
    const context = { volumeContext: { key: 'x'.repeat(4094) }, volumeCapability: mountCapability() };
    const stage = { volumeId: 'vol', stagingTargetPath: staging, ...context };
    await expectRefusal(scene.client.nodeStageVolume(stage), 'INVALID_ARGUMENT', 'volume_context');
    await scene.stage('vol', scene.directory('s'.repeat(200)));
  });

  it('stats and expand at a path where the volume is not are NOT_FOUND, whatever the path', async () => {
    await scene.stage('vol', staging);
    for (const path of ['some/path', scene.folder, target]) {
      await expectRefusal(calls.NodeGetVolumeStats?.('vol', path) ?? Promise.resolve(), 'NOT_FOUND', path);
      await expectRefusal(calls.NodeExpandVolume?.('vol', path) ?? Promise.resolve(), 'NOT_FOUND', path);
    }
  });

  it('unstage and unpublish of a known volume that is not there are OK, and touch nothing', async () => {
    await scene.unstage('vol', staging);
    await scene.unpublish('vol', scene.directory('target'));
    expect(readdirSync(scene.folder)).to.include.members(['staging', 'target']);
  });

  it('expand answers the size, refuses a larger one, a smaller limit, and a range that is none', async () => {
    await scene.stage('vol', staging);
    const expand = (requiredBytes: number, limitBytes = 0): Promise<unknown> =>
      scene.client.nodeExpandVolume({
        volumeId: 'vol',
        volumePath: staging,
        capacityRange: { requiredBytes, limitBytes },
      });
    for (const size of [0, 1, capacityBytes]) {
      expect(await expand(size)).to.deep.equal({ capacityBytes: BigInt(capacityBytes) });
    }
    await expectRefusal(expand(capacityBytes + 1), 'OUT_OF_RANGE', 'ControllerExpandVolume');
    await expectRefusal(expand(0, capacityBytes - 1), 'OUT_OF_RANGE', 'already');
    await expectRefusal(expand(2, 1), 'INVALID_ARGUMENT', 'capacity_range');
    await expectRefusal(expand(-1), 'INVALID_ARGUMENT', 'capacity_range');
    const volumeCapability = blockCapability();
    const asBlock = scene.client.nodeExpandVolume({ volumeId: 'vol', volumePath: staging, volumeCapability });
    await expectRefusal(asBlock, 'INVALID_ARGUMENT', 'access type mount');
  });

  it('says what it can, and where it is', async () => {
    expect(await scene.client.nodeGetCapabilities()).to.have.members([
      'STAGE_UNSTAGE_VOLUME',
      'GET_VOLUME_STATS',
      'EXPAND_VOLUME',
      'VOLUME_CONDITION',
      'SINGLE_NODE_MULTI_WRITER',
    ]);
    expect(await scene.client.nodeGetInfo()).to.deep.equal({
      nodeId: 'node-1',
      maxVolumesPerNode: 7,
      topology: { 'topology.hostpath.csi.stagecraft/node': 'node-1' },
    });
  });
});

describe('node service: mounts that are only remembered', () => {
  memoryScene();

  for (const [id, capability] of [
    ['vol', mountCapability('SINGLE_NODE_WRITER', ['noexec'])],
    ['block', blockCapability()],
  ] as const) {
    it(`${id} is answered as on a real host, and its target comes and goes`, async () => {
      const request = { volumeCapability: capability, readonly: true };
      await expectRefusal(scene.publish(id, [staging, target], request), 'FAILED_PRECONDITION', 'NodeStageVolume');
      for (const _ of [1, 2]) await scene.stage(id, staging, capability);
      for (const _ of [1, 2]) await scene.publish(id, [staging, target], request);
      expect(existsSync(target)).to.equal(true);
      await expectRefusal(scene.unstage(id, staging), 'FAILED_PRECONDITION', target);
      const { volumeCondition } = await scene.client.nodeGetVolumeStats({ volumeId: id, volumePath: target });
      expect(volumeCondition?.abnormal).to.equal(false);
      for (const _ of [1, 2]) await scene.unpublish(id, target);
      expect(existsSync(target)).to.equal(false);
      for (const _ of [1, 2]) await scene.unstage(id, staging);
    });
  }
});
