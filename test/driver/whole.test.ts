/** Both sides of the driver together: a volume's whole life, as an orchestrator leads it. Needs root and loop devices. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blockCapability, expectRefusal, hostTool, mountCapability, NodeScene, needLoopDevices } from './node-scene.js';

const mebibyte = 2 ** 20;

describe('driver: the whole life of a volume', () => {
  let scene: NodeScene;
  let staging: string;
  let target: string;

  before(needLoopDevices);

  beforeEach(async () => {
    scene = new NodeScene();
    staging = scene.directory('staging');
    target = scene.path('target');
    await scene.start({ attach: true });
  });

  afterEach(() => scene.close());

  for (const [accessType, volumeCapability] of [
    ['mount', mountCapability()],
    ['block', blockCapability()],
  ] as const) {
    it(`${accessType}: made, published, staged, in use, larger, copied, and gone again`, async () => {
      const { client } = scene;
      const { nodeId } = await client.nodeGetInfo();
      const name = 'data';
      const made = await client.createVolume({
        name,
        capacityRange: { requiredBytes: mebibyte },
        volumeCapabilities: [volumeCapability],
      });
      const volumeId = made.volume?.volumeId ?? '';
      await client.controllerPublishVolume({ volumeId, nodeId, volumeCapability });
      for (const _ of [1, 2]) await scene.stage(volumeId, staging, volumeCapability);
      for (const _ of [1, 2]) await scene.publish(volumeId, [staging, target], { volumeCapability });
      await expectRefusal(client.deleteVolume({ volumeId }), 'FAILED_PRECONDITION', '');

      const range = { requiredBytes: 2 * mebibyte };
      await client.controllerExpandVolume({ volumeId, capacityRange: range });
      const expanded = await client.nodeExpandVolume({ volumeId, volumePath: target, capacityRange: range });
      expect(expanded.capacityBytes).to.equal(BigInt(2 * mebibyte));
      const { usage, volumeCondition } = await client.nodeGetVolumeStats({ volumeId, volumePath: target });
      expect(usage[0]?.total).to.equal(BigInt(2 * mebibyte));
      expect(volumeCondition?.abnormal).to.equal(false);

      if (accessType === 'mount') writeFileSync(join(target, 'file'), 'precious');
      else hostTool('sh', '-c', 'printf precious | dd of="$0" conv=fsync,notrunc status=none', target);
      const copy = await client.createVolume({
        name: 'copy',
        volumeCapabilities: [volumeCapability],
        volumeContentSource: { volume: { volumeId } },
      });
      const copied = scene.content(copy.volume?.volumeId ?? '');
      const text = readFileSync(accessType === 'mount' ? join(copied, 'file') : `${copied}.img`);
      expect(text.subarray(0, 8).toString()).to.equal('precious');

      for (const id of [copy.volume?.volumeId ?? '', volumeId]) {
        await scene.unpublish(id, target);
        await scene.unstage(id, staging);
        await client.controllerUnpublishVolume({ volumeId: id, nodeId });
        await client.deleteVolume({ volumeId: id });
      }
      expect(existsSync(target)).to.equal(false);
      expect(scene.mounts()).to.deep.equal([]);
      expect(scene.loopDevices()).to.deep.equal([]);
      for (const records of ['volumes', 'uses']) expect(readdirSync(join(scene.dataDir, records))).to.deep.equal([]);
      await expectRefusal(scene.unpublish(volumeId, target), 'NOT_FOUND', volumeId);
    });
  }
});
