/** Snapshots, restores and clones of the bundled driver: real copies, of all that a file can be. A tmpfs is mounted. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { refusalOf } from '../refusal.js';
import { until } from '../until.js';
import { asBlock, codeOf, DriverLab, exactly, gi, mi, mounted, there } from './driver-lab.js';

let lab: DriverLab;

/** Each test with a driver of its own. */
function isolated(): void {
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start({ capacityBytes: 10 * gi });
  });

  afterEach(() => lab.close());
}

const fromSnapshot = (snapshotId: string) => ({ volumeContentSource: { snapshot: { snapshotId } } });
const fromVolume = (volumeId: string) => ({ volumeContentSource: { volume: { volumeId } } });

/** What the driver keeps. */
const kept = (): string[] => readdirSync(lab.contentOf('.')).filter((name) => !name.startsWith('unfinished-'));
/** What it is at work on. */
const unfinished = (): string[] => readdirSync(lab.contentOf('.')).filter((name) => name.startsWith('unfinished-'));

describe('driver: copies', () => {
  isolated();

  for (const way of ['a clone', 'a restored snapshot'] as const) {
    const copyOf = async (volumeId: string, request: object = {}) => {
      if (way === 'a clone') return lab.create('copy', { ...fromVolume(volumeId), ...request });
      const { snapshotId } = await lab.snapshot('s', volumeId);
      return lab.create('copy', { ...fromSnapshot(snapshotId), ...request });
    };

    it(`${way} has all that was in the directory, and is independent afterwards`, async () => {
      const { volumeId } = await lab.create('a', { capacityRange: exactly(8 * mi) });
      const origin = lab.contentOf(volumeId);
      mkdirSync(join(origin, 'deep/er'), { recursive: true });
      writeFileSync(join(origin, 'deep/er/file'), 'content');
      linkSync(join(origin, 'deep/er/file'), join(origin, 'hard'));
      symlinkSync('/etc/passwd', join(origin, 'soft'));
      symlinkSync('nowhere', join(origin, 'dangling'));
      writeFileSync(join(origin, 'sparse'), 'begin');
      truncateSync(join(origin, 'sparse'), 100 * mi);
      writeFileSync(join(origin, '.with blank\nand newline'), '');
      chmodSync(join(origin, 'deep/er/file'), 0o4751);
      chownSync(join(origin, 'deep'), 12345, 54321);
      chmodSync(origin, 0o2770);
      chownSync(origin, 1000, 1000);

      const volume = await copyOf(volumeId);
      const copy = lab.contentOf(volume.volumeId);
      expect(volume.capacityBytes).to.equal(BigInt(8 * mi));
      execFileSync('diff', ['-r', '--no-dereference', origin, copy]);
      expect(statSync(copy)).to.include({ uid: 1000, gid: 1000, mode: 0o42770 });
      expect(statSync(join(copy, 'deep'))).to.include({ uid: 12345, gid: 54321 });
      const file = statSync(join(copy, 'deep/er/file'));
      expect(file.mode & 0o7777).to.equal(0o4751);
      expect(file.mtimeMs).to.equal(statSync(join(origin, 'deep/er/file')).mtimeMs);
      expect(statSync(join(copy, 'hard')).ino).to.equal(file.ino);
      expect(file.ino).not.to.equal(statSync(join(origin, 'hard')).ino);
      expect(lstatSync(join(copy, 'soft')).isSymbolicLink()).to.equal(true);
      expect(readlinkSync(join(copy, 'dangling'))).to.equal('nowhere');
      expect(statSync(join(copy, 'sparse')).blocks * 512).to.be.lessThan(mi);

      writeFileSync(join(origin, 'deep/er/file'), 'changed');
      expect(readFileSync(join(copy, 'hard'), 'utf8')).to.equal('content');
      writeFileSync(join(copy, 'hard'), 'mine');
      expect(readFileSync(join(origin, 'deep/er/file'), 'utf8')).to.equal('changed');
      await lab.client.deleteVolume({ volumeId });
      expect(readFileSync(join(copy, 'hard'), 'utf8')).to.equal('mine');
    });

    it(`${way} of an image is sparse, as large as was asked for, and tells its source`, async () => {
      const { volumeId } = await lab.create('a', { capacityRange: exactly(gi), volumeCapabilities: [asBlock()] });
      writeFileSync(`${lab.contentOf(volumeId)}.img`, 'content', { flag: 'r+' });
      const capacityRange = { requiredBytes: 2 * gi };
      const volume = await copyOf(volumeId, { volumeCapabilities: [asBlock()], capacityRange });
      const image = `${lab.contentOf(volume.volumeId)}.img`;
      expect(statSync(image).size).to.equal(2 * gi);
      expect(statSync(image).blocks * 512).to.be.lessThan(mi);
      expect(execFileSync('head', ['-c', '7', image], { encoding: 'utf8' })).to.equal('content');
      const source = there(volume.contentSource);
      if (way === 'a clone') expect(source.volume).to.deep.equal({ volumeId });
      else expect(source.snapshot).to.have.property('snapshotId');
      expect((await lab.client.controllerGetVolume({ volumeId: volume.volumeId })).volume).to.deep.equal(volume);
    });

    it(`${way} can't be smaller than its source, nor of the other access type`, async () => {
      const { volumeId } = await lab.create('a', { capacityRange: exactly(2 * mi) });
      for (const capacityRange of [{ requiredBytes: mi }, { limitBytes: mi }]) {
        expect(await codeOf(copyOf(volumeId, { capacityRange }))).to.equal('OUT_OF_RANGE');
      }
      expect(await codeOf(copyOf(volumeId, { volumeCapabilities: [asBlock()] }))).to.equal('INVALID_ARGUMENT');
    });
  }

  it('the same again is the same volume, also when its source is gone; from another source ALREADY_EXISTS', async () => {
    const { volumeId } = await lab.create('a');
    const { volumeId: otherId } = await lab.create('b');
    const clone = await lab.create('copy', fromVolume(volumeId));
    await lab.client.deleteVolume({ volumeId });
    expect(await lab.create('copy', fromVolume(volumeId))).to.deep.equal(clone);
    expect(await codeOf(lab.create('copy', fromVolume(otherId)))).to.equal('ALREADY_EXISTS');
    expect(await codeOf(lab.create('copy'))).to.equal('ALREADY_EXISTS');
  });

  it('what is mounted in a volume is not copied', async () => {
    const { volumeId } = await lab.create('a');
    const point = join(lab.contentOf(volumeId), 'point');
    mkdirSync(point);
    execFileSync('mount', ['-t', 'tmpfs', 'none', point]);
    try {
      writeFileSync(join(point, 'elsewhere'), '');
      const clone = await lab.create('copy', fromVolume(volumeId));
      expect(readdirSync(join(lab.contentOf(clone.volumeId), 'point'))).to.deep.equal([]);
    } finally {
      execFileSync('umount', [point]);
    }
  });

  it('many are restored from one snapshot at the same time', async () => {
    const { volumeId } = await lab.create('a');
    const { snapshotId } = await lab.snapshot('s', volumeId);
    const names = Array.from({ length: 8 }, (_, index) => `copy-${index}`);
    await Promise.all(names.map((name) => lab.create(name, fromSnapshot(snapshotId))));
    expect(await lab.volumeIds()).to.have.length(9);
  });
});

describe('driver: copies that end early', () => {
  isolated();

  let path: string | undefined;
  beforeEach(() => {
    path = process.env.PATH;
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  /** Copies begin, and go on until they are killed. */
  function hangCopies(): void {
    const tools = mkdtempSync(join(lab.folder, 'tools-'));
    const script = '#!/bin/sh\nfor last; do :; done\nmkdir "$last"\necho > "$last/half"\nexec sleep 1000\n';
    writeFileSync(join(tools, 'cp'), script, { mode: 0o755 });
    process.env.PATH = `${tools}:${path}`;
  }

  /** Real copies, which begin once they are released. */
  function holdCopies(): { hasBegun(): boolean; release(): void } {
    const tools = mkdtempSync(join(lab.folder, 'tools-'));
    const gate = join(tools, 'gate');
    const begun = join(tools, 'begun');
    const script = `#!/bin/sh\n: > ${begun}\nwhile [ ! -e ${gate} ]; do sleep 0.01; done\nexec /bin/cp "$@"\n`;
    writeFileSync(join(tools, 'cp'), script, { mode: 0o755 });
    process.env.PATH = `${tools}:${path}`;
    return { hasBegun: () => existsSync(begun), release: () => writeFileSync(gate, '') };
  }

  it('a symlink that comes in its way while it copies is not followed: ABORTED, and nothing of it is there', async () => {
    const { volumeId } = await lab.create('a');
    writeFileSync(join(lab.folder, 'secret'), 'secret');
    symlinkSync(lab.folder, join(lab.contentOf(volumeId), 'way'));
    const tools = mkdtempSync(join(lab.folder, 'tools-'));
    const script = '#!/bin/sh\nshift 5\nmkdir "$2" && exec cat "$1/way/secret" > "$2/stolen"\n';
    writeFileSync(join(tools, 'cp'), script, { mode: 0o755 });
    process.env.PATH = `${tools}:${path}`;
    expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('ABORTED');
    expect(kept()).to.deep.equal([volumeId]);
    expect(unfinished()).to.deep.equal([]);
  });

  it('the caller gives up: the copy goes on; ABORTED for volume and name until it is done, then OK', async () => {
    const { volumeId } = await lab.create('a');
    const copies = holdCopies();
    const controller = new AbortController();
    const request = { name: 's', sourceVolumeId: volumeId };
    const copying = codeOf(lab.client.createSnapshot(request, { signal: controller.signal }));
    await until(copies.hasBegun);
    expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('ABORTED');
    expect(await codeOf(lab.snapshot('other', volumeId))).to.equal('ABORTED');
    expect(await codeOf(lab.client.deleteVolume({ volumeId }))).to.equal('ABORTED');
    const capacityRange = { requiredBytes: 2 * gi };
    expect(await codeOf(lab.client.controllerExpandVolume({ volumeId, capacityRange }))).to.equal('ABORTED');
    expect(await codeOf(lab.create('copy', fromVolume(volumeId)))).to.equal('ABORTED');
    controller.abort();
    expect(await copying).to.equal('CANCELLED');
    expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('ABORTED');
    copies.release();
    let made = await codeOf(lab.snapshot('s', volumeId));
    for (; made === 'ABORTED'; made = await codeOf(lab.snapshot('s', volumeId)));
    expect(made).to.equal('OK');
    expect(await lab.snapshotIds()).to.have.length(1);
  });

  it('a stopped driver ends its copies and removes their remains before it unlocks the data directory', async () => {
    const { volumeId } = await lab.create('a');
    const before = kept();
    await lab.restart({ stopGraceMs: 20 });
    hangCopies();
    const copying = codeOf(lab.snapshot('s', volumeId));
    await until(() => unfinished().length > 0);
    await lab.stop();
    expect(unfinished()).to.deep.equal([]);
    expect(kept()).to.deep.equal(before);
    expect(await copying).to.equal('UNAVAILABLE');
  });

  /** With 8 MiB for all that the driver keeps. */
  async function inLittleRoom(work: () => Promise<void>): Promise<void> {
    await lab.stop();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', lab.dataDir]);
    try {
      await lab.start({ capacityBytes: gi });
      await work();
    } finally {
      await lab.stop();
      execFileSync('umount', [lab.dataDir]);
    }
  }

  it('out of room, a copy is RESOURCE_EXHAUSTED and nothing is left', () =>
    inLittleRoom(async () => {
      const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
      writeFileSync(join(lab.contentOf(volumeId), 'file'), Buffer.alloc(5 * mi, 1));
      const before = kept();
      expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('RESOURCE_EXHAUSTED');
      expect(await codeOf(lab.create('copy', fromVolume(volumeId)))).to.equal('RESOURCE_EXHAUSTED');
      const group = lab.client.createVolumeGroupSnapshot({ name: 'g', sourceVolumeIds: [volumeId] });
      expect(await codeOf(group)).to.equal('RESOURCE_EXHAUSTED');
      expect(kept()).to.deep.equal(before);
      expect(unfinished()).to.deep.equal([]);
      expect(await lab.snapshotIds()).to.deep.equal([]);
    }));

  it('with no room for a record, there is no volume and no snapshot either', () =>
    inLittleRoom(async () => {
      const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
      const filler = join(lab.dataDir, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(9 * mi, 1))).to.throw('ENOSPC');
      const small = { capacityRange: exactly(mi) };
      expect(await codeOf(lab.create('b', small))).to.equal('RESOURCE_EXHAUSTED');
      expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('RESOURCE_EXHAUSTED');
      const group = lab.client.createVolumeGroupSnapshot({ name: 'g', sourceVolumeIds: [volumeId] });
      expect(await codeOf(group)).to.equal('RESOURCE_EXHAUSTED');
      expect(kept()).to.deep.equal([volumeId]);
      expect(await lab.volumeIds()).to.deep.equal([volumeId]);
      rmSync(filler);
      await lab.create('b', small);
      expect(await lab.volumeIds()).to.have.length(2);
    }));

  it('a tool that is not installed is named', async () => {
    const { volumeId } = await lab.create('a');
    const tools = mkdtempSync(join(lab.folder, 'tools-'));
    const others = ['setpriv', 'rm', 'unshare', 'sh', 'mount'];
    for (const tool of others) symlinkSync(`/usr/bin/${tool}`, join(tools, tool));
    process.env.PATH = tools;
    const refusal = await refusalOf(lab.snapshot('s', volumeId));
    expect(refusal).to.include({ grpcCode: 'INTERNAL' });
    expect(refusal.message).to.contain('cp: not found').and.contain('coreutils');
  });
});

describe('driver: CreateSnapshot and DeleteSnapshot', () => {
  isolated();

  it('is ready at once, knows its source, size and time, and is the same again after a restart', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
    const before = BigInt(Math.floor(Date.now() / 1000));
    const snapshot = await lab.snapshot('n'.repeat(128), volumeId);
    expect(snapshot).to.include({ sourceVolumeId: volumeId, readyToUse: true, groupSnapshotId: '' });
    expect(snapshot.sizeBytes).to.equal(BigInt(mi));
    expect(there(snapshot.creationTime).seconds >= before).to.equal(true);
    await lab.restart();
    expect(await lab.snapshot('n'.repeat(128), volumeId)).to.deep.equal(snapshot);
    expect((await lab.client.getSnapshot({ snapshotId: snapshot.snapshotId })).snapshot).to.deep.equal(snapshot);
  });

  it('the name with another source is ALREADY_EXISTS', async () => {
    const [{ volumeId: a }, { volumeId: b }] = [await lab.create('a'), await lab.create('b')];
    await lab.snapshot('s', a);
    expect(await codeOf(lab.snapshot('s', b))).to.equal('ALREADY_EXISTS');
  });

  it('the volume can go before its snapshot, which is as good afterwards', async () => {
    const { volumeId } = await lab.create('a');
    writeFileSync(join(lab.contentOf(volumeId), 'file'), 'content');
    const { snapshotId } = await lab.snapshot('s', volumeId);
    await lab.client.deleteVolume({ volumeId });
    expect(await lab.snapshotIds()).to.deep.equal([snapshotId]);
    const restored = await lab.create('copy', fromSnapshot(snapshotId));
    expect(readFileSync(join(lab.contentOf(restored.volumeId), 'file'), 'utf8')).to.equal('content');
    expect(await lab.snapshot('s', volumeId)).to.include({ snapshotId });
  });

  it('is refused where it can not be', async () => {
    const { volumeId: sourceVolumeId } = await lab.create('a');
    const take = (request: object) => codeOf(lab.client.createSnapshot(request));
    expect(await take({ sourceVolumeId })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 's' })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 's', sourceVolumeId: '../a' })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 'n'.repeat(129), sourceVolumeId })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 'a\u0007', sourceVolumeId })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 's', sourceVolumeId, parameters: { color: 'red' } })).to.equal('INVALID_ARGUMENT');
    expect(await take({ name: 's', sourceVolumeId: 'vol-unknown' })).to.equal('NOT_FOUND');
    expect(await lab.snapshotIds()).to.deep.equal([]);
  });

  it('is deleted with its content; again is OK; no id, or one that is none, INVALID_ARGUMENT', async () => {
    const { volumeId } = await lab.create('a');
    const { snapshotId } = await lab.snapshot('s', volumeId);
    await lab.client.deleteSnapshot({ snapshotId });
    await lab.client.deleteSnapshot({ snapshotId });
    expect(kept()).to.deep.equal([volumeId]);
    expect(await codeOf(lab.client.deleteSnapshot({}))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(lab.client.deleteSnapshot({ snapshotId: '../x' }))).to.equal('INVALID_ARGUMENT');
    await lab.client.deleteSnapshot({ snapshotId: 'reallyfakesnapshotid' });
  });

  it('20 at once of one name are one snapshot', async () => {
    const { volumeId } = await lab.create('a');
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(lab.snapshot('s', volumeId))));
    expect(codes).to.include('OK');
    expect(codes.filter((code) => code !== 'OK' && code !== 'ABORTED')).to.deep.equal([]);
    expect(await lab.snapshotIds()).to.have.length(1);
  });
});

describe('driver: GetSnapshot and ListSnapshots', () => {
  isolated();

  it('GetSnapshot of none is NOT_FOUND', async () => {
    expect(await codeOf(lab.client.getSnapshot({ snapshotId: 'snap-unknown' }))).to.equal('NOT_FOUND');
    expect(await codeOf(lab.client.getSnapshot({}))).to.equal('INVALID_ARGUMENT');
  });

  it('filters by snapshot and by source, and answers an empty list for what is not there', async () => {
    const [{ volumeId: a }, { volumeId: b }] = [await lab.create('a'), await lab.create('b')];
    const [first, second, third] = [await lab.snapshot('1', a), await lab.snapshot('2', a), await lab.snapshot('3', b)];
    const list = async (request: object) => {
      const { entries } = await lab.client.listSnapshots(request);
      return entries.map(({ snapshot }) => snapshot?.snapshotId);
    };
    expect(await list({})).to.have.members([first.snapshotId, second.snapshotId, third.snapshotId]);
    expect(await list({ snapshotId: second.snapshotId })).to.deep.equal([second.snapshotId]);
    expect(await list({ sourceVolumeId: a })).to.have.members([first.snapshotId, second.snapshotId]);
    expect(await list({ sourceVolumeId: a, snapshotId: third.snapshotId })).to.deep.equal([]);
    expect(await list({ snapshotId: 'none-exist-id' })).to.deep.equal([]);
    for (const none of ['vol-unknown', 'a/b', '..']) {
      expect(await list({ sourceVolumeId: none })).to.deep.equal([]);
      expect(await list({ snapshotId: none })).to.deep.equal([]);
    }
  });

  it('comes in pages, whose tokens are those of this list only', async () => {
    const { volumeId } = await lab.create('a');
    await lab.create('b');
    for (const name of ['1', '2', '3', '4', '5']) await lab.snapshot(name, volumeId);
    const { entries, nextToken } = await lab.client.listSnapshots({ maxEntries: 2, sourceVolumeId: volumeId });
    const rest = await lab.client.listSnapshots({ startingToken: nextToken, sourceVolumeId: volumeId });
    expect(rest.nextToken).to.equal('');
    expect([...entries, ...rest.entries].map(({ snapshot }) => snapshot?.snapshotId)).to.deep.equal(
      await lab.snapshotIds(),
    );
    const { nextToken: ofVolumes } = await lab.client.listVolumes({ maxEntries: 1 });
    expect(await codeOf(lab.client.listSnapshots({ startingToken: ofVolumes }))).to.equal('ABORTED');
    expect(await codeOf(lab.client.listSnapshots({ startingToken: 'bad' }))).to.equal('ABORTED');
    expect(await codeOf(lab.client.listSnapshots({ maxEntries: -1 }))).to.equal('INVALID_ARGUMENT');
  });
});

describe('driver: what a killed driver left', () => {
  isolated();
  const uuid = '01234567-89ab-4cde-8f01-23456789abcd';

  it('unfinished and without a record is removed at the start; what is not of the driver stays', async () => {
    const { volumeId } = await lab.create('a');
    await lab.stop();
    for (const name of [`unfinished-vol-${uuid}/x`, `unfinished-${uuid}/snap-${uuid}`, 'lost+found/x'])
      mkdirSync(lab.contentOf(name), { recursive: true });
    writeFileSync(lab.contentOf(`unfinished-snap-${uuid}.img`), '');
    writeFileSync(lab.contentOf('readme'), '');
    await lab.start();
    expect(kept()).to.have.members([volumeId, 'lost+found', 'readme']);
    expect(unfinished()).to.deep.equal([]);
  });

  it('unfinished, but with a record, is finished at the start', async () => {
    const { volumeId } = await lab.create('a');
    await lab.stop();
    renameSync(lab.contentOf(volumeId), lab.contentOf(`unfinished-${volumeId}`));
    await lab.start();
    expect(kept()).to.deep.equal([volumeId]);
    expect(unfinished()).to.deep.equal([]);
    await lab.snapshot('s', volumeId);
  });

  it('and something is mounted below stays, and what is mounted there too', async () => {
    await lab.stop();
    const point = join(lab.contentOf(`unfinished-vol-${uuid}`), 'point');
    mkdirSync(point, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', 'none', point]);
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    try {
      writeFileSync(join(point, 'precious'), '');
      await lab.start();
      expect((await warned).message).to.contain(point);
      expect(existsSync(join(point, 'precious'))).to.equal(true);
    } finally {
      execFileSync('umount', [point]);
    }
    await lab.restart();
    expect(unfinished()).to.deep.equal([]);
  });

  it('a volume whose content is gone is told of, is no source, and can be deleted', async () => {
    const { volumeId } = await lab.create('a', { volumeCapabilities: [mounted()] });
    rmSync(lab.contentOf(volumeId), { recursive: true });
    await lab.restart();
    expect(await lab.volumeIds()).to.deep.equal([volumeId]);
    expect(await codeOf(lab.snapshot('s', volumeId))).to.equal('DATA_LOSS');
    expect(await codeOf(lab.create('copy', fromVolume(volumeId)))).to.equal('DATA_LOSS');
    await lab.client.deleteVolume({ volumeId });
  });
});
