/** Volumes of the bundled driver once they are there: get, list, validate, expand, modify, delete. Bind mounts are made. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Given } from '../../src/csi/codec.js';
import type { ValidateVolumeCapabilitiesRequest } from '../../src/csi/generated/plain.js';
import { refusalOf } from '../refusal.js';
import { asBlock, codeOf, DriverLab, exactly, gi, mi, mounted, nodeId, there } from './driver-lab.js';

let lab: DriverLab;
/** Each test with a driver of its own. */
function isolated(): void {
  beforeEach(async () => {
    lab = new DriverLab();
    await lab.start({ capacityBytes: 10 * gi });
  });

  afterEach(() => lab.close());
}

/** Ids that would leave the driver's directory, or are none at all. */
const strayIds = ['', '../volumes', '/etc', 'a/b', '..', '.', 'a\0b', 'x'.repeat(129)];

describe('driver: what it offers as a controller', () => {
  isolated();

  it('is what it can do, no more; controller publishing only where it was asked for', async () => {
    const offered = [
      'CLONE_VOLUME',
      'CREATE_DELETE_SNAPSHOT',
      'CREATE_DELETE_VOLUME',
      'EXPAND_VOLUME',
      'GET_CAPACITY',
      'GET_SNAPSHOT',
      'GET_VOLUME',
      'LIST_SNAPSHOTS',
      'LIST_VOLUMES',
      'MODIFY_VOLUME',
      'SINGLE_NODE_MULTI_WRITER',
      'VOLUME_CONDITION',
    ];
    expect(await lab.client.controllerGetCapabilities()).to.deep.equal(offered);
    expect(await codeOf(lab.client.controllerUnpublishVolume({ volumeId: 'a' }))).to.equal('UNIMPLEMENTED');
    await lab.restart({ attach: true });
    const more = ['LIST_VOLUMES_PUBLISHED_NODES', 'PUBLISH_READONLY', 'PUBLISH_UNPUBLISH_VOLUME'];
    expect(await lab.client.controllerGetCapabilities()).to.deep.equal([...offered, ...more].sort());
  });

  it('GetSnapshot is offered only where it was asked for', async () => {
    await lab.restart({ getSnapshot: false });
    expect(await lab.client.controllerGetCapabilities()).not.to.include('GET_SNAPSHOT');
    expect(await codeOf(lab.client.getSnapshot({ snapshotId: 'snap-unknown' }))).to.equal('UNIMPLEMENTED');
  });

  for (const [call, code] of [
    ['deleteVolume', 'OK'],
    ['controllerGetVolume', 'NOT_FOUND'],
  ] as const) {
    it(`${call} refuses ids that leave its directory, and answers ${code} to unknown ones`, async () => {
      for (const volumeId of strayIds)
        expect(await codeOf(lab.client[call]({ volumeId }))).to.equal('INVALID_ARGUMENT');
      expect(await codeOf(lab.client[call]({ volumeId: 'vol-unknown' }))).to.equal(code);
      expect(await codeOf(lab.client[call]({ volumeId: 'x'.repeat(128) }))).to.equal(code);
    });
  }
});

describe('driver: DeleteVolume', () => {
  isolated();

  for (const [kind, capability] of [
    ['a directory', mounted()],
    ['an image', asBlock()],
  ] as const) {
    it(`removes ${kind} with what is in it; again is OK; its name is free`, async () => {
      const { volumeId } = await lab.create('a', { volumeCapabilities: [capability] });
      if (kind === 'a directory') {
        mkdirSync(join(lab.contentOf(volumeId), 'x/y'), { recursive: true });
        writeFileSync(join(lab.contentOf(volumeId), 'x/y/file'), 'content');
      }
      await lab.client.deleteVolume({ volumeId });
      await lab.client.deleteVolume({ volumeId });
      expect(await lab.volumeIds()).to.deep.equal([]);
      expect(readdirSync(lab.contentOf('.')).filter((name) => name.startsWith('vol-'))).to.deep.equal([]);
      expect((await lab.create('a')).volumeId).not.to.equal(volumeId);
    });
  }

  it('never goes into what is mounted in the volume: FAILED_PRECONDITION, until that is unmounted', async () => {
    const { volumeId } = await lab.create('a');
    const [elsewhere, point] = [join(lab.folder, 'else where'), join(lab.contentOf(volumeId), 'mount point')];
    for (const directory of [elsewhere, point]) mkdirSync(directory);
    writeFileSync(join(elsewhere, 'precious'), 'content');
    execFileSync('mount', ['--bind', elsewhere, point]);
    try {
      const refusal = await refusalOf(lab.client.deleteVolume({ volumeId }));
      expect(refusal).to.include({ grpcCode: 'FAILED_PRECONDITION' });
      expect(refusal.message).to.contain(point);
      expect(await lab.volumeIds()).to.deep.equal([volumeId]);
    } finally {
      execFileSync('umount', [point]);
    }
    await lab.client.deleteVolume({ volumeId });
    expect(existsSync(join(elsewhere, 'precious'))).to.equal(true);
  });

  it('is refused while the volume is staged or published on this node', async () => {
    const { volumeId } = await lab.create('a');
    await lab.stop();
    const use = join(lab.dataDir, 'uses', `${volumeId}.json`);
    const staging = { path: '/staging', capability: mounted() };
    writeFileSync(use, JSON.stringify({ id: volumeId, stagings: [staging], targets: [] }));
    await lab.start();
    const refusal = await refusalOf(lab.client.deleteVolume({ volumeId }));
    expect(refusal).to.include({ grpcCode: 'FAILED_PRECONDITION' });
    expect(refusal.message).to.contain('unstage');
    expect(await lab.volumeIds()).to.deep.equal([volumeId]);
    await lab.stop();
    rmSync(use);
    await lab.start();
    await lab.client.deleteVolume({ volumeId });
  });

  it('20 at once: each is OK or ABORTED', async () => {
    const { volumeId } = await lab.create('a');
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(lab.client.deleteVolume({ volumeId }))));
    expect(codes).to.include('OK');
    expect(codes.filter((code) => code !== 'OK' && code !== 'ABORTED')).to.deep.equal([]);
    expect(await lab.volumeIds()).to.deep.equal([]);
  });

  it('what can not be removed is an error, again and again, until it can', async () => {
    const { volumeId } = await lab.create('a');
    const tools = join(lab.folder, 'tools');
    mkdirSync(tools);
    writeFileSync(join(tools, 'rm'), '#!/bin/sh\necho "not permitted" >&2\nexit 1\n', { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${tools}:${path}`;
    try {
      for (const _ of ['first', 'again']) {
        const refusal = await refusalOf(lab.client.deleteVolume({ volumeId }));
        expect(refusal).to.include({ grpcCode: 'INTERNAL' });
        expect(refusal.message).to.contain('not permitted');
      }
    } finally {
      process.env.PATH = path;
    }
    await lab.client.deleteVolume({ volumeId });
    expect(existsSync(lab.contentOf(volumeId))).to.equal(false);
  });
});

describe('driver: ControllerGetVolume and its condition', () => {
  isolated();

  const conditionOf = async (volumeId: string) =>
    there(there((await lab.client.controllerGetVolume({ volumeId })).status).volumeCondition);

  it('tells what CreateVolume told, and that all is well', async () => {
    const volume = await lab.create('a');
    const { volume: told, status } = await lab.client.controllerGetVolume({ volumeId: volume.volumeId });
    expect(told).to.deep.equal(volume);
    expect(status?.publishedNodeIds).to.deep.equal([]);
    expect(status?.volumeCondition).to.include({ abnormal: false });
  });

  it('content that is gone is abnormal, in the list too', async () => {
    const { volumeId } = await lab.create('a');
    rmSync(lab.contentOf(volumeId), { recursive: true });
    expect(await conditionOf(volumeId)).to.include({ abnormal: true });
    const { entries } = await lab.client.listVolumes({});
    expect(entries[0]?.status?.volumeCondition).to.include({ abnormal: true });
  });

  for (const capability of [mounted(), asBlock()]) {
    it(`more in it than ${Object.keys(capability)[0]} was to be warned of is abnormal, until that is raised`, async () => {
      const { volumeId } = await lab.create('a', {
        capacityRange: exactly(4 * mi),
        volumeCapabilities: [capability],
        mutableParameters: { warnAbovePercent: '50' },
      });
      expect(await conditionOf(volumeId)).to.include({ abnormal: false });
      const path = lab.contentOf(volumeId);
      writeFileSync('block' in capability ? `${path}.img` : join(path, 'file'), Buffer.alloc(3 * mi, 1));
      expect(await conditionOf(volumeId)).to.include({ abnormal: true });
      await lab.client.controllerModifyVolume({ volumeId, mutableParameters: { warnAbovePercent: '90' } });
      expect(await conditionOf(volumeId)).to.include({ abnormal: false });
    });
  }
});

describe('driver: ControllerModifyVolume', () => {
  isolated();

  it('is kept, is repeatable, and survives a restart', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
    const modify = () => lab.client.controllerModifyVolume({ volumeId, mutableParameters: { warnAbovePercent: '1' } });
    await modify();
    await modify();
    writeFileSync(join(lab.contentOf(volumeId), 'file'), Buffer.alloc(mi / 2, 1));
    await lab.restart();
    const { status } = await lab.client.controllerGetVolume({ volumeId });
    expect(status?.volumeCondition).to.include({ abnormal: true });
  });

  it('of something unknown changes nothing', async () => {
    const { volumeId } = await lab.create('a', { mutableParameters: { warnAbovePercent: '50' } });
    const modify = (id: string, mutableParameters: Record<string, string>) =>
      codeOf(lab.client.controllerModifyVolume({ volumeId: id, mutableParameters }));
    expect(await modify(volumeId, { warnAbovePercent: '1', color: 'red' })).to.equal('INVALID_ARGUMENT');
    expect(await modify(volumeId, { warnAbovePercent: '1.5' })).to.equal('INVALID_ARGUMENT');
    expect(await modify(volumeId, {})).to.equal('INVALID_ARGUMENT');
    expect(await modify('', { warnAbovePercent: '1' })).to.equal('INVALID_ARGUMENT');
    expect(await modify('vol-unknown', { warnAbovePercent: '1' })).to.equal('NOT_FOUND');
    const same = { volumeId, volumeCapabilities: [mounted()], mutableParameters: { warnAbovePercent: '50' } };
    expect((await lab.client.validateVolumeCapabilities(same)).confirmed).not.to.equal(undefined);
  });
});

describe('driver: ControllerExpandVolume', () => {
  isolated();

  it('makes a directory larger, with no node part; again, or less, is OK', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(mi) });
    const expand = (requiredBytes: number) =>
      lab.client.controllerExpandVolume({ volumeId, capacityRange: { requiredBytes }, volumeCapability: mounted() });
    const larger = { capacityBytes: BigInt(2 * mi), nodeExpansionRequired: false };
    expect(await expand(2 * mi)).to.deep.equal(larger);
    expect(await expand(2 * mi)).to.deep.equal(larger);
    expect(await expand(mi)).to.deep.equal(larger);
    await lab.restart();
    expect((await lab.client.controllerGetVolume({ volumeId })).volume).to.include({ capacityBytes: BigInt(2 * mi) });
  });

  it('makes an image larger, with what is in it', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(mi), volumeCapabilities: [asBlock()] });
    const image = `${lab.contentOf(volumeId)}.img`;
    writeFileSync(image, 'content', { flag: 'r+' });
    const larger = await lab.client.controllerExpandVolume({ volumeId, capacityRange: { requiredBytes: 2 * mi + 1 } });
    expect(larger).to.deep.equal({ capacityBytes: BigInt(2 * mi + 512), nodeExpansionRequired: false });
    expect(statSync(image).size).to.equal(2 * mi + 512);
    expect(execFileSync('head', ['-c', '7', image], { encoding: 'utf8' })).to.equal('content');
  });

  it('of an image that is in use needs the node, a repeat too', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(mi), volumeCapabilities: [asBlock()] });
    await lab.stop();
    const staging = { path: '/staging', capability: asBlock() };
    const use = { id: volumeId, stagings: [staging], targets: [] };
    writeFileSync(join(lab.dataDir, 'uses', `${volumeId}.json`), JSON.stringify(use));
    await lab.start();
    for (const _ of ['first', 'again']) {
      const answer = await lab.client.controllerExpandVolume({ volumeId, capacityRange: { requiredBytes: 2 * mi } });
      expect(answer.nodeExpansionRequired).to.equal(true);
    }
  });

  it('is refused where it can not be', async () => {
    const { volumeId } = await lab.create('a', { capacityRange: exactly(2 * mi) });
    const expand = (request: object) => codeOf(lab.client.controllerExpandVolume({ volumeId, ...request }));
    expect(await expand({})).to.equal('INVALID_ARGUMENT');
    expect(await expand({ capacityRange: {} })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ capacityRange: { requiredBytes: -1 } })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ capacityRange: { requiredBytes: 3, limitBytes: 2 } })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ capacityRange: { limitBytes: mi } })).to.equal('OUT_OF_RANGE');
    expect(await expand({ capacityRange: { requiredBytes: 11 * gi } })).to.equal('OUT_OF_RANGE');
    const larger = { capacityRange: { requiredBytes: 3 * mi } };
    expect(await expand({ ...larger, volumeCapability: asBlock() })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ ...larger, volumeId: '' })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ ...larger, volumeId: '../a' })).to.equal('INVALID_ARGUMENT');
    expect(await expand({ ...larger, volumeId: 'vol-unknown' })).to.equal('NOT_FOUND');
    expect(await lab.create('a')).to.include({ capacityBytes: BigInt(2 * mi) });
  });
});

describe('driver: ValidateVolumeCapabilities', () => {
  isolated();

  const parameters = { 'csi.storage.k8s.io/pvc/name': 'data' };
  const validate = (request: Given<ValidateVolumeCapabilitiesRequest>) =>
    lab.client.validateVolumeCapabilities(request);
  let volumeId: string;
  beforeEach(async () => {
    const volumeCapabilities = [mounted('MULTI_NODE_SINGLE_WRITER')];
    ({ volumeId } = await lab.create('a', { volumeCapabilities, parameters }));
  });

  it('confirms what the volume can do, in the words of the request', async () => {
    const asked = {
      volumeCapabilities: [mounted(), mounted('MULTI_NODE_READER_ONLY'), mounted('MULTI_NODE_SINGLE_WRITER')],
      parameters,
    };
    const { confirmed, message } = await validate({ volumeId, ...asked });
    expect(message).to.equal('');
    expect(confirmed?.parameters).to.deep.equal(parameters);
    expect(confirmed?.volumeCapabilities.map(({ accessMode }) => accessMode?.mode)).to.deep.equal([
      'SINGLE_NODE_WRITER',
      'MULTI_NODE_READER_ONLY',
      'MULTI_NODE_SINGLE_WRITER',
    ]);
  });

  const unfit: [what: string, request: Given<ValidateVolumeCapabilitiesRequest>][] = [
    ['another access type', { volumeCapabilities: [mounted(), asBlock()] }],
    ['a wider access mode', { volumeCapabilities: [mounted('MULTI_NODE_MULTI_WRITER')] }],
    ['an access mode of the future', { volumeCapabilities: [mounted('99')] }],
    ['other parameters', { volumeCapabilities: [mounted()], parameters: { color: 'red' } }],
    ['other mutable parameters', { volumeCapabilities: [mounted()], mutableParameters: { warnAbovePercent: '5' } }],
    ['another context', { volumeCapabilities: [mounted()], volumeContext: { color: 'red' } }],
  ];
  for (const [what, request] of unfit) {
    it(`does not confirm ${what}, and says why`, async () => {
      const { confirmed, message } = await validate({ volumeId, ...request });
      expect(confirmed).to.equal(undefined);
      expect(message).not.to.equal('');
    });
  }

  it('refuses what is no question', async () => {
    expect(await codeOf(validate({ volumeCapabilities: [mounted()] }))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(validate({ volumeId }))).to.equal('INVALID_ARGUMENT');
    expect(await codeOf(validate({ volumeId, volumeCapabilities: [{}] }))).to.equal('INVALID_ARGUMENT');
    const unknown = validate({ volumeId: 'vol-unknown', volumeCapabilities: [mounted()] });
    expect(await codeOf(unknown)).to.equal('NOT_FOUND');
  });
});

describe('driver: ListVolumes', () => {
  isolated();

  const page = (maxEntries: number, startingToken = '') => lab.client.listVolumes({ maxEntries, startingToken });
  const idsOf = (entries: Awaited<ReturnType<typeof page>>['entries']) =>
    entries.map((entry) => entry.volume?.volumeId);

  beforeEach(async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await lab.create(name);
  });

  for (const size of [1, 2, 4, 5, 6]) {
    it(`in pages of ${size} shows each of 5 volumes once`, async () => {
      const seen = [];
      for (let token: string | undefined; token !== ''; ) {
        const { entries, nextToken } = await page(size, token);
        expect(entries.length <= size).to.equal(true);
        seen.push(...idsOf(entries));
        token = nextToken;
      }
      expect(seen).to.deep.equal(await lab.volumeIds());
      expect(seen).to.have.length(5);
    });
  }

  it('goes on where it was when what was shown is deleted, others come, and the driver is started again', async () => {
    const before = await lab.volumeIds();
    const { entries, nextToken } = await page(2);
    for (const volumeId of idsOf(entries)) await lab.client.deleteVolume({ volumeId: there(volumeId) });
    const { volumeId: added } = await lab.create('f');
    await lab.restart();
    const rest = idsOf((await page(0, nextToken)).entries);
    expect(rest.filter((id) => id !== added)).to.deep.equal(before.slice(2));
  });

  it('entries have the volume and its status', async () => {
    const { entries } = await page(1);
    expect(entries[0]?.volume?.accessibleTopology[0]?.segments).to.deep.include({
      'topology.hostpath.csi.stagecraft/node': nodeId,
    });
    expect(entries[0]?.status?.volumeCondition).to.include({ abnormal: false });
  });

  it('a token that is none is ABORTED; a negative number of entries INVALID_ARGUMENT', async () => {
    const { nextToken } = await page(1);
    const bad = [
      'invalid-token',
      '0',
      `${nextToken}=`,
      nextToken.slice(0, -2),
      'x'.repeat(500),
      nextToken.toUpperCase(),
    ];
    for (const token of bad) expect(await codeOf(page(0, token))).to.equal('ABORTED');
    expect(await codeOf(page(-1))).to.equal('INVALID_ARGUMENT');
  });
});
