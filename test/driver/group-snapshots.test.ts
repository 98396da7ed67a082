/** Group snapshots of the bundled driver: all members as of one moment, or none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { VolumeGroupSnapshot } from '../../src/csi/generated/plain.js';
import { refusalOf } from '../refusal.js';
import { asBlock, codeOf, DriverLab, exactly, gi, mi, there } from './driver-lab.js';

let lab: DriverLab;
let volumeIds: string[];

/** Each test with a driver of its own, and three volumes. */
function isolated(): void {
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start({ capacityBytes: 10 * gi });
    const volumes = [
      await lab.create('a', { capacityRange: exactly(mi) }),
      await lab.create('b', { capacityRange: exactly(2 * mi) }),
      await lab.create('c', { capacityRange: exactly(3 * mi), volumeCapabilities: [asBlock()] }),
    ];
    volumeIds = volumes.map(({ volumeId }) => volumeId);
  });

  afterEach(() => lab.close());
}

async function take(name = 'g', sourceVolumeIds: string[] = volumeIds): Promise<VolumeGroupSnapshot> {
  const { groupSnapshot } = await lab.client.createVolumeGroupSnapshot({ name, sourceVolumeIds });
  return there(groupSnapshot);
}

const idsOf = ({ snapshots }: VolumeGroupSnapshot): string[] => snapshots.map(({ snapshotId }) => snapshotId);
const at = (index: number): string => there(volumeIds[index]);
const contents = (): string[] => readdirSync(lab.contentOf('.')).filter((name) => name.startsWith('snap-'));

describe('driver: CreateVolumeGroupSnapshot', () => {
  isolated();

  it('has snapshots of all volumes at one time; a repeat in any order or after a restart returns the same', async () => {
    writeFileSync(join(lab.contentOf(at(0)), 'file'), 'content');
    const group = await take();
    expect(group.readyToUse).to.equal(true);
    expect(group.snapshots.map(({ sourceVolumeId }) => sourceVolumeId)).to.deep.equal(volumeIds);
    for (const snapshot of group.snapshots) {
      expect(snapshot).to.include({ groupSnapshotId: group.groupSnapshotId, readyToUse: true });
      expect(snapshot.creationTime).to.deep.equal(group.creationTime);
      expect((await lab.client.getSnapshot({ snapshotId: snapshot.snapshotId })).snapshot).to.deep.equal(snapshot);
    }
    await lab.restart();
    expect(await take('g', [...volumeIds].reverse())).to.deep.equal(group);
    expect(await lab.snapshotIds()).to.have.members(idsOf(group));
    const volumeContentSource = { snapshot: { snapshotId: there(idsOf(group)[0]) } };
    const restored = await lab.create('copy', { volumeContentSource });
    expect(readFileSync(join(lab.contentOf(restored.volumeId), 'file'), 'utf8')).to.equal('content');
  });

  it('the name with other volumes is ALREADY_EXISTS', async () => {
    await take('g', [at(0), at(1)]);
    for (const others of [[at(0)], [at(0), at(2)], volumeIds])
      expect(await codeOf(take('g', others))).to.equal('ALREADY_EXISTS');
  });

  it('one volume that is not there, and there is no snapshot at all', async () => {
    expect(await codeOf(take('g', [at(0), 'vol-unknown', at(1)]))).to.equal('NOT_FOUND');
    expect(await lab.snapshotIds()).to.deep.equal([]);
    expect(contents()).to.deep.equal([]);
  });

  it('refuses what is no group', async () => {
    expect(await codeOf(take(''))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(take('g', []))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(take('g', [at(0), at(0)]))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(take('g', [at(0), '../x']))).to.equal('INVALID_ARGUMENT');
    const strange = { name: 'g', sourceVolumeIds: volumeIds, parameters: { color: 'red' } };
    expect(await codeOf(lab.client.createVolumeGroupSnapshot(strange))).to.equal('INVALID_ARGUMENT');
  });

  it('of volumes that are written to is refused, and nothing is left; when the writer stops it works', async () => {
    const file = join(lab.contentOf(at(1)), 'file');
    const writer = spawn('sh', ['-c', `while :; do echo x > '${file}'; done`]);
    try {
      while (!existsSync(file)) await new Promise((resolve) => setImmediate(resolve));
      const refusal = await refusalOf(take());
      expect(refusal).to.include({ grpcCode: 'FAILED_PRECONDITION' });
      expect(refusal.message).to.contain('freeze');
      expect(await lab.snapshotIds()).to.deep.equal([]);
      expect(contents()).to.deep.equal([]);
    } finally {
      const ended = once(writer, 'exit');
      writer.kill('SIGKILL');
      await ended;
    }
    expect((await take()).snapshots).to.have.length(3);
  });

  it('of a volume that loses a file while it is copied is taken anew', async () => {
    const tools = join(lab.folder, 'tools');
    mkdirSync(tools);
    const once = `[ -e ${tools}/lost ] || { : > ${tools}/lost; echo "cp: 'x': No such file or directory" >&2; exit 1; }`;
    writeFileSync(join(tools, 'cp'), `#!/bin/sh\n${once}\nexec /bin/cp "$@"\n`, { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${tools}:${path}`;
    try {
      expect((await take()).snapshots).to.have.length(3);
    } finally {
      process.env.PATH = path;
    }
    expect(contents()).to.have.length(3);
  });

  it('20 at once of one name are one group', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(take())));
    expect(codes).to.include('OK');
    expect(codes.filter((code) => code !== 'OK' && code !== 'ABORTED')).to.deep.equal([]);
    expect(await lab.snapshotIds()).to.have.length(3);
  });
});

describe('driver: a group snapshot that is there', () => {
  isolated();

  let group: VolumeGroupSnapshot;
  beforeEach(async () => {
    group = await take();
  });

  const get = (groupSnapshotId: string, snapshotIds: string[]) =>
    lab.client.getVolumeGroupSnapshot({ groupSnapshotId, snapshotIds });
  const remove = (groupSnapshotId: string, snapshotIds: string[]) =>
    lab.client.deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds });

  it('can be got by its id and members', async () => {
    const { groupSnapshot } = await get(group.groupSnapshotId, idsOf(group).reverse());
    expect(groupSnapshot).to.deep.equal(group);
  });

  it('with a list of members that does not match is INVALID_ARGUMENT, and stays', async () => {
    const ids = idsOf(group);
    for (const wrong of [[], ids.slice(1), [...ids, 'snap-unknown'], ['snap-unknown'], ['../x']]) {
      expect(await codeOf(get(group.groupSnapshotId, wrong))).to.equal('INVALID_ARGUMENT');
      expect(await codeOf(remove(group.groupSnapshotId, wrong))).to.equal('INVALID_ARGUMENT');
    }
    expect(await lab.snapshotIds()).to.have.length(3);
  });

  it('its members can not be deleted alone: INVALID_ARGUMENT names the group', async () => {
    const refusal = await refusalOf(lab.client.deleteSnapshot({ snapshotId: there(idsOf(group)[0]) }));
    expect(refusal).to.include({ grpcCode: 'INVALID_ARGUMENT' });
    expect(refusal.message).to.contain(group.groupSnapshotId);
  });

  it('is deleted with all of its members; again is OK', async () => {
    await remove(group.groupSnapshotId, idsOf(group));
    await remove(group.groupSnapshotId, idsOf(group));
    expect(await lab.snapshotIds()).to.deep.equal([]);
    expect(contents()).to.deep.equal([]);
    expect(await codeOf(get(group.groupSnapshotId, idsOf(group)))).to.equal('NOT_FOUND');
  });

  it('none: get is NOT_FOUND, delete OK; no id, or one that is none, INVALID_ARGUMENT', async () => {
    expect(await codeOf(get('group-unknown', []))).to.equal('NOT_FOUND');
    await remove('group-unknown', []);
    for (const id of ['', '../x']) {
      expect(await codeOf(get(id, []))).to.equal('INVALID_ARGUMENT');
      expect(await codeOf(remove(id, []))).to.equal('INVALID_ARGUMENT');
    }
  });

  it('killed before the last record, or after the first was removed: nothing of the group is left', async () => {
    await lab.stop();
    rmSync(join(lab.dataDir, 'groups', `${group.groupSnapshotId}.json`));
    for (const name of contents()) renameSync(lab.contentOf(name), lab.contentOf(`unfinished-${name}`));
    await lab.start();
    expect(await lab.snapshotIds()).to.deep.equal([]);
    expect(readdirSync(lab.contentOf('.')).filter((name) => name.includes('snap-'))).to.deep.equal([]);
    expect(readdirSync(join(lab.dataDir, 'snapshots'))).to.deep.equal([]);
    expect((await take()).groupSnapshotId).not.to.equal(group.groupSnapshotId);
  });

  it('its record moved away and put back: all of it is there again', async () => {
    const record = join(lab.dataDir, 'groups', `${group.groupSnapshotId}.json`);
    const [ids, before] = [idsOf(group), contents()];
    await lab.stop();
    renameSync(record, join(lab.folder, 'aside'));
    await lab.start();
    expect(await lab.snapshotIds()).to.deep.equal([]);
    await lab.stop();
    renameSync(join(lab.folder, 'aside'), record);
    await lab.start();
    expect(await lab.snapshotIds()).to.have.members(ids);
    expect(contents()).to.deep.equal(before);
  });
});

describe('driver: what a group offers', () => {
  isolated();

  it('is told by GroupControllerGetCapabilities and the plugin', async () => {
    expect(await lab.client.groupControllerGetCapabilities()).to.deep.equal([
      'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT',
    ]);
    expect(await lab.client.getPluginCapabilities()).to.include('GROUP_CONTROLLER_SERVICE');
  });
});
