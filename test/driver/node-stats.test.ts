/** What is told of a volume that is a directory: usage, and whether it is well. Needs root, as `npm test` says. */
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { NodeGetVolumeStatsResponse, VolumeUsage } from '../../src/csi/generated/plain.js';
import { runner } from '../../src/tools/driver/commands.js';
import { memoryLoopDevices, memoryMounts } from '../../src/tools/driver/memory-mounts.js';
import { NodeVolumes } from '../../src/tools/driver/node-volumes.js';
import { stats } from '../../src/tools/driver/node-watch.js';
import { openState } from '../../src/tools/driver/state.js';
import { patientMeter, type Usage, usageMeter } from '../../src/tools/driver/usage.js';
import { capacityBytes, hostTool, mountCapability, NodeScene } from './node-scene.js';

let scene: NodeScene;
let staging: string;
let target: string;

const statsAt = (volumePath: string): Promise<NodeGetVolumeStatsResponse> =>
  scene.client.nodeGetVolumeStats({ volumeId: 'vol', volumePath });

function usageIn({ usage }: NodeGetVolumeStatsResponse, unit: 'BYTES' | 'INODES'): VolumeUsage {
  const found = usage.find((one) => one.unit === unit);
  if (!found) throw new Error(`no usage in ${unit}`);
  return found;
}

describe('node service: stats', () => {
  beforeEach(async () => {
    scene = new NodeScene();
    staging = scene.directory('staging');
    target = scene.path('target');
    await scene.addVolume('vol', 'mount', { mutableParameters: { warnAbovePercent: '57' } });
    await scene.start();
    await scene.stage('vol', staging);
    await scene.publish('vol', [staging, target]);
  });

  afterEach(() => scene.close());

  it('bytes are of the capacity that was asked for, inodes those that are used, at both paths', async () => {
    writeFileSync(join(target, 'file'), Buffer.alloc(2 ** 20, 1));
    for (const path of [staging, `${target}/`]) {
      const stats = await statsAt(path);
      const bytes = usageIn(stats, 'BYTES');
      expect(bytes.total).to.equal(BigInt(capacityBytes));
      expect(Number(bytes.used)).to.be.within(2 ** 20, 2 ** 20 + 65_536);
      expect(bytes.available).to.equal(bytes.total - bytes.used);
      expect(usageIn(stats, 'INODES').used).to.equal(2n);
      expect(stats.volumeCondition).to.deep.equal({ abnormal: false, message: 'in use as asked for' });
    }
  });

  it('a volume that has more in it than its capacity has nothing left, never less', async () => {
    writeFileSync(join(target, 'file'), Buffer.alloc(capacityBytes + 2 ** 20, 1));
    expect(usageIn(await statsAt(target), 'BYTES').available).to.equal(0n);
  });

  it('above the share that the volume warns at, it is abnormal', async () => {
    writeFileSync(join(target, 'file'), Buffer.alloc(capacityBytes * 0.6, 1));
    const { volumeCondition } = await statsAt(target);
    expect(volumeCondition?.abnormal).to.equal(true);
    expect(volumeCondition?.message).to.contain(' 57 %');
  });

  it('not mounted any more, it is abnormal, and its usage still told', async () => {
    hostTool('umount', target);
    const stats = await statsAt(target);
    expect(stats.volumeCondition).to.deep.equal({
      abnormal: true,
      message: `it is not mounted at ${target} any more: publish it again`,
    });
    expect(usageIn(stats, 'INODES').used).to.equal(1n);
    hostTool('umount', staging);
    expect((await statsAt(staging)).volumeCondition?.message).to.contain('stage it again');
  });

  it('its content gone, it is abnormal', async () => {
    rmSync(scene.content('vol'), { recursive: true, force: true });
    const { usage, volumeCondition } = await statsAt(target);
    expect(usage).to.deep.equal([]);
    expect(volumeCondition?.abnormal).to.equal(true);
    expect(volumeCondition?.message).to.contain(scene.content('vol'));
  });

  it('published again read-only, it is well', async () => {
    await scene.unpublish('vol', target);
    await scene.publish('vol', [staging, target], { readonly: true, volumeCapability: mountCapability() });
    expect((await statsAt(target)).volumeCondition?.abnormal).to.equal(false);
  });
});

describe('usage', () => {
  beforeEach(() => {
    scene = new NodeScene();
  });

  afterEach(() => scene.close());

  /** A du of our own before the real one. */
  function fakeDu(script: string): void {
    const path = join(scene.directory('bin'), 'du');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  const measureWith = (timeoutMs: number): Promise<unknown> => {
    const run = runner({ timeoutMs });
    return usageMeter((tool, args) => run(tool === 'du' ? scene.path('bin', 'du') : tool, args))(scene.folder);
  };

  it('a du that hangs is killed at its deadline, and told', async () => {
    fakeDu('exec sleep 1000');
    const error = await measureWith(50).catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('killed').and.contain('50 ms');
  });

  it('a du that complains of a file that went away still counts', async () => {
    fakeDu('echo "du: cannot access x" >&2; echo "12 ."; exit 1');
    expect(await measureWith(10_000)).to.include({ usedBytes: 12, usedInodes: 12 });
  });

  it('a du that says nothing is an error that has its words', async () => {
    fakeDu('echo "du: no" >&2; exit 1');
    expect(String(await measureWith(10_000).catch((thrown: unknown) => thrown))).to.contain('du: no');
  });

  it('a count that takes too long goes on, and is told to who asks next; so is its failure', async () => {
    const counts: { resolve(usage: Usage): void; reject(error: Error): void }[] = [];
    const measure = patientMeter(() => new Promise((resolve, reject) => counts.push({ resolve, reject })), 5);
    const usage: Usage = { usedBytes: 1, usedInodes: 2, freeBytes: 3, freeInodes: 4 };
    expect(await measure('/x')).to.equal(undefined);
    counts[0]?.resolve(usage);
    expect(await measure('/x')).to.equal(usage);
    counts[1]?.reject(new Error('du: no'));
    expect(String(await measure('/x').catch((error: unknown) => error))).to.contain('du: no');
    const quick = measure('/x');
    counts[3]?.resolve({ ...usage, usedBytes: 9 });
    expect(await quick).to.include({ usedBytes: 9 });
  });

  it('a volume that is counted still is told of by its file system, and its condition', async () => {
    await scene.addVolume('vol', 'mount');
    const { state, close } = await openState({ nodeId: 'node-1', dataDir: scene.dataDir });
    try {
      const ports = { mounts: memoryMounts(), loopDevices: memoryLoopDevices() };
      const volumes = new NodeVolumes(state, { attach: false, ...ports });
      const volumePath = scene.directory('staging');
      const staged = { path: volumePath, place: volumePath, capability: mountCapability() };
      await volumes.remember({ id: 'vol', stagings: [staged], targets: [] });
      const request = { volumeId: 'vol', volumePath, stagingTargetPath: '' };
      const lost = await stats(volumes, async () => undefined, request);
      expect(lost.volumeCondition).to.include({ abnormal: true });
      await volumes.accessTo('vol', 'mount').stage(staged);
      const { usage, volumeCondition } = await stats(volumes, async () => undefined, request);
      expect(volumeCondition?.abnormal).to.equal(false);
      expect(volumeCondition?.message).to.contain('still being counted');
      const { blocks, bsize } = statfsSync(scene.dataDir, { bigint: true });
      expect(usage.map(({ unit, total }) => [unit, total])).to.deep.include(['BYTES', blocks * bsize]);
    } finally {
      close();
    }
  });

  it('those who ask at once get one answer', async () => {
    const ran: string[] = [];
    const measure = usageMeter(async (_, args) => {
      ran.push(args.join(' '));
      return { status: 0, stdout: '1 .', stderr: '' };
    });
    mkdirSync(scene.path('x'));
    await Promise.all([measure(scene.path('x')), measure(scene.path('x'))]);
    expect(ran).to.have.length(2);
    await measure(scene.path('x'));
    expect(ran).to.have.length(4);
  });
});
