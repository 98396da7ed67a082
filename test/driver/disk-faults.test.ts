/** What a disk can do to the bundled driver: no room, failed syncs, records that are none. File systems are mounted. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isContentAt } from '../../src/tools/driver/disk.js';
import { memoryLoopDevices, memoryMounts } from '../../src/tools/driver/memory-mounts.js';
import { refusalOf } from '../refusal.js';
import { codeOf, DriverLab, exactly, mi, mounted } from './driver-lab.js';

let lab: DriverLab;

/** Each test with a driver of its own. */
function isolated(): void {
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start();
  });

  afterEach(() => lab.close());
}

describe('driver: a record that is written, but not known to outlive a power cut', () => {
  isolated();

  let prototype: FileHandle;
  let sync: FileHandle['sync'];
  beforeEach(async () => {
    const handle = await open(lab.folder);
    prototype = Object.getPrototypeOf(handle);
    sync = prototype.sync;
    await handle.close();
  });
  afterEach(() => {
    prototype.sync = sync;
  });

  /** As of a disk that fails. */
  async function failingToSync<T>(directory: string, work: () => Promise<T>): Promise<T> {
    prototype.sync = async function (this: FileHandle) {
      const path = await readlink(`/proc/self/fd/${this.fd}`);
      if (path.endsWith(directory)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' });
      await sync.call(this);
    };
    try {
      return await work();
    } finally {
      prototype.sync = sync;
    }
  }

  it('a volume has its content: INTERNAL, and asked again it is there', async () => {
    expect(await failingToSync('/volumes', () => codeOf(lab.create('a')))).to.equal('INTERNAL');
    const { volumeId } = await lab.create('a');
    expect(existsSync(lab.contentOf(volumeId))).to.equal(true);
    expect((await lab.snapshot('s', volumeId)).readyToUse).to.equal(true);
  });

  it('a snapshot has its content, a group its members', async () => {
    const { volumeId } = await lab.create('a');
    expect(await failingToSync('/snapshots', () => codeOf(lab.snapshot('s', volumeId)))).to.equal('INTERNAL');
    const { snapshotId } = await lab.snapshot('s', volumeId);
    expect(existsSync(lab.contentOf(snapshotId))).to.equal(true);
    const take = () => lab.client.createVolumeGroupSnapshot({ name: 'g', sourceVolumeIds: [volumeId] });
    expect(await failingToSync('/groups', () => codeOf(take()))).to.equal('INTERNAL');
    const { groupSnapshot } = await take();
    expect(groupSnapshot?.snapshots).to.have.length(1);
    expect(existsSync(lab.contentOf(groupSnapshot?.snapshots[0]?.snapshotId ?? ''))).to.equal(true);
  });

  it('deleted, a volume leaves no content', async () => {
    const { volumeId } = await lab.create('a');
    const remove = () => codeOf(lab.client.deleteVolume({ volumeId }));
    expect(await failingToSync('/volumes', remove)).to.equal('INTERNAL');
    expect(await remove()).to.equal('OK');
    expect(readdirSync(lab.contentOf('.'))).to.deep.equal([]);
  });
});

describe('driver: content that is not there, or can not be looked at', () => {
  isolated();

  it('is not gone as long as that is not known', async () => {
    const loop = join(lab.folder, 'loop');
    symlinkSync(loop, loop);
    expect(await isContentAt(join(loop, 'x'), 'mount').catch(String)).to.contain('ELOOP');
    for (const gone of [join(lab.folder, 'x'), join(lab.folder, 'x', 'y'), join(lab.socketPath, 'x')])
      expect(await isContentAt(gone, 'mount')).to.equal(false);
  });

  it('is to be put back: nobody is told to delete the volume', async () => {
    const { volumeId } = await lab.create('a');
    rmSync(lab.contentOf(volumeId), { recursive: true });
    const refusal = await refusalOf(lab.snapshot('s', volumeId));
    expect(refusal).to.include({ grpcCode: 'DATA_LOSS' });
    expect(refusal.message).to.contain('put it back').and.not.contain('delete');
  });
});

describe('driver: records that are none', () => {
  isolated();

  let volumeId: string;
  let record: string;
  beforeEach(async () => {
    ({ volumeId } = await lab.create('a'));
    record = join(lab.dataDir, 'volumes', `${volumeId}.json`);
    writeFileSync(join(lab.contentOf(volumeId), 'precious'), 'content');
    await lab.stop();
  });

  const expectWhole = async (): Promise<void> => {
    await lab.start();
    expect(await lab.volumeIds()).to.deep.equal([volumeId]);
    expect(readFileSync(join(lab.contentOf(volumeId), 'precious'), 'utf8')).to.equal('content');
  };

  it('moved away, a warning names the content, which stays for when the record is put back', async () => {
    renameSync(record, join(lab.folder, 'aside'));
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    await lab.start();
    expect((await warned).message)
      .to.contain(lab.contentOf(volumeId))
      .and.contain('no record');
    expect(await lab.volumeIds()).to.deep.equal([]);
    await lab.stop();
    renameSync(join(lab.folder, 'aside'), record);
    await expectWhole();
  });

  for (const [what, spoilt] of [
    ['half of one', (text: string) => text.slice(0, 40)],
    ['an empty object', () => '{}'],
    ['of another volume', (text: string) => text.replaceAll(/vol-[0-9a-f]{8}/g, 'vol-00000000')],
    ['with another access type', (text: string) => text.replace('"mount",', '"tape",')],
  ] as const) {
    it(`${what}: DRIVER_STATE_BROKEN names it, and nothing is lost`, async () => {
      const text = readFileSync(record, 'utf8');
      writeFileSync(record, spoilt(text));
      const refusal = await refusalOf(lab.start());
      expect(refusal.code).to.equal('DRIVER_STATE_BROKEN');
      expect(refusal.message).to.contain(record).and.contain('repair it');
      writeFileSync(record, text);
      await expectWhole();
    });
  }
});

describe('driver: one volume that can not be looked at', () => {
  isolated();

  let path: string | undefined;
  let gate: string;
  /** For du: it says no, once it is let. */
  beforeEach(() => {
    const tools = join(lab.folder, 'tools');
    gate = join(tools, 'gate');
    mkdirSync(tools);
    execFileSync('mkfifo', [gate]);
    writeFileSync(join(tools, 'du'), `#!/bin/sh\ncat ${gate}\nexit 1\n`, { mode: 0o755 });
    path = process.env.PATH;
    process.env.PATH = `${tools}:${path}`;
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  it('is told of as such, and one that is deleted meanwhile is not; all others are there', async () => {
    const plain = await lab.create('plain');
    const watched = await lab.create('watched', { mutableParameters: { warnAbovePercent: '7' } });
    const listing = lab.client.listVolumes({});
    await (await open(gate, 'w')).close(); // once du reads
    const { entries } = await listing;
    expect(entries.map(({ volume }) => volume?.volumeId)).to.have.members([plain.volumeId, watched.volumeId]);
    const condition = entries.find(({ volume }) => volume?.volumeId === watched.volumeId)?.status?.volumeCondition;
    expect(condition?.message).to.contain('usage is not known');

    const again = lab.client.listVolumes({});
    const held = await open(gate, 'w');
    await lab.client.deleteVolume({ volumeId: watched.volumeId });
    await held.close();
    expect((await again).entries.map(({ volume }) => volume?.volumeId)).to.deep.equal([plain.volumeId]);
  });
});

describe('driver: a full file system', () => {
  isolated();

  it('new volumes are refused with RESOURCE_EXHAUSTED; existing ones can be deleted, also after a restart', async () => {
    const image = join(lab.folder, 'image');
    const options = { attach: true, mounts: memoryMounts(), loopDevices: memoryLoopDevices() };
    await lab.stop();
    rmSync(lab.dataDir, { recursive: true });
    mkdirSync(lab.dataDir);
    execFileSync('truncate', ['-s', '16M', image]);
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
    execFileSync('mount', ['-o', 'loop', image, lab.dataDir]);
    try {
      await lab.start(options);
      const { nodeId } = await lab.client.nodeGetInfo();
      const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
      const stagingTargetPath = join(lab.folder, 'staging');
      const targetPath = join(lab.folder, 'target');
      mkdirSync(stagingTargetPath);
      const use = { volumeId, stagingTargetPath, volumeCapability: mounted() };
      await lab.client.controllerPublishVolume({ volumeId, nodeId, volumeCapability: mounted() });
      await lab.client.nodeStageVolume(use);
      await lab.client.nodePublishVolume({ ...use, targetPath });
      fill(lab.contentOf(volumeId));

      expect(await codeOf(lab.create('b', { capacityRange: exactly(mi) }))).to.equal('RESOURCE_EXHAUSTED');
      await lab.client.nodeUnpublishVolume({ volumeId, targetPath });
      fill(lab.contentOf(volumeId));
      await lab.restart(options);
      await lab.client.nodeUnstageVolume({ volumeId, stagingTargetPath });
      await lab.client.controllerUnpublishVolume({ volumeId, nodeId });
      await lab.client.deleteVolume({ volumeId });
      await lab.create('b', { capacityRange: exactly(mi) });
    } finally {
      await lab.stop();
      execFileSync('umount', [lab.dataDir]);
    }
  });

  /** With a file for the bytes, and many for the inodes, as long as there are any. */
  function fill(directory: string): void {
    const script =
      'cat /dev/zero > zero; i=0; while : > "f$i.$$"; do i=$((i+1)); done 2> /dev/null; cat /dev/zero > more';
    execFileSync('sh', ['-c', `(${script}) 2> /dev/null || true`], { cwd: directory });
  }
});
