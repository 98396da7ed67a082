/** CreateVolume of the bundled driver: what it makes, what a repeat is, and what it refuses. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { expect } from 'chai';
import type { Given } from '../../src/csi/codec.js';
import type { CreateVolumeRequest } from '../../src/csi/generated/plain.js';
import { topologyKey } from '../../src/tools/driver/identity.js';
import { refusalOf } from '../refusal.js';
import { asBlock, codeOf, DriverLab, exactly, gi, mi, mounted, nodeId } from './driver-lab.js';

let lab: DriverLab;
/** Each test with a driver of its own. */
function isolated(): void {
  beforeEach(() => {
    lab = new DriverLab();
  });

  afterEach(() => lab.close());
}

describe('driver: CreateVolume', () => {
  isolated();

  beforeEach(() => lab.start({ capacityBytes: 10 * gi }));

  it('34.10 of mount is an empty directory that others may read, below one that nobody else may enter', async () => {
    const volume = await lab.create('a', { capacityRange: { requiredBytes: 5 * mi } });
    expect(volume.capacityBytes).to.equal(BigInt(5 * mi));
    expect(volume.contentSource).to.equal(undefined);
    expect(volume.accessibleTopology).to.deep.equal([{ segments: { [topologyKey]: nodeId } }]);
    const found = statSync(lab.contentOf(volume.volumeId));
    expect(found.isDirectory()).to.equal(true);
    expect(found.mode & 0o7777).to.equal(0o755);
    expect(readdirSync(lab.contentOf(volume.volumeId))).to.deep.equal([]);
    expect(statSync(lab.contentOf('..')).mode & 0o077).to.equal(0);
    expect(statSync(lab.contentOf('.')).mode & 0o077).to.equal(0);
  });

  it('34.10 its root has the mode that was asked for, whatever the umask is; a copy has that of its source', async () => {
    const volume = await lab.create('a', { parameters: { rootMode: '1777' } });
    const volumeContentSource = { volume: { volumeId: volume.volumeId } };
    const copy = await lab.create('b', { volumeContentSource });
    const closed = await lab.create('c', { volumeContentSource, parameters: { rootMode: '0700' } });
    const modes = [volume, copy, closed].map(({ volumeId }) => statSync(lab.contentOf(volumeId)).mode & 0o7777);
    expect(modes).to.deep.equal([0o1777, 0o1777, 0o700]);
    for (const rootMode of ['4755', '2755', '755x', 'rwx', '']) {
      const error = await refusalOf(lab.create('d', { parameters: { rootMode } }));
      expect(`${error.grpcCode} ${error.message}`, rootMode).to.match(/^INVALID_ARGUMENT .*octal digits/);
    }
    const block = { volumeCapabilities: [asBlock()], parameters: { rootMode: '0777' } };
    expect(await codeOf(lab.create('d', block))).to.equal('INVALID_ARGUMENT');
  });

  it('of block is a sparse image of that size', async () => {
    const volume = await lab.create('a', {
      volumeCapabilities: [asBlock()],
      capacityRange: { requiredBytes: gi },
    });
    const { size, blocks } = statSync(`${lab.contentOf(volume.volumeId)}.img`);
    expect(size).to.equal(gi);
    expect(blocks).to.equal(0);
  });

  for (const [range, bytes] of [
    [undefined, gi],
    [{}, gi],
    [{ limitBytes: 3 * mi }, 3 * mi],
    [{ limitBytes: 3 * gi }, gi],
    [{ requiredBytes: 1 }, 1],
    [{ requiredBytes: 2 * mi, limitBytes: 3 * mi }, 2 * mi],
    [exactly(2 * mi), 2 * mi],
  ] as const) {
    it(`of the range ${JSON.stringify(range)} has ${bytes} bytes`, async () => {
      expect(await lab.create('a', { capacityRange: range })).to.include({ capacityBytes: BigInt(bytes) });
    });
  }

  for (const [range, bytes] of [
    [{ requiredBytes: 1 }, 512],
    [{ requiredBytes: 1000, limitBytes: 1024 }, 1024],
    [{ limitBytes: 1000 }, 512],
  ] as const) {
    it(`of block and the range ${JSON.stringify(range)} has whole sectors: ${bytes} bytes`, async () => {
      const volume = await lab.create('a', { volumeCapabilities: [asBlock()], capacityRange: range });
      expect(volume.capacityBytes).to.equal(BigInt(bytes));
    });
  }

  for (const range of [exactly(1000), { limitBytes: 100 }]) {
    it(`of block and the range ${JSON.stringify(range)}, between two sectors, is OUT_OF_RANGE`, async () => {
      const asked = lab.create('a', { volumeCapabilities: [asBlock()], capacityRange: range });
      expect(await codeOf(asked)).to.equal('OUT_OF_RANGE');
    });
  }

  it('a name of 128 bytes works, in any script', async () => {
    await lab.create('n'.repeat(128));
    await lab.create('é'.repeat(64));
    await lab.create('../../etc/passwd');
    expect(await lab.volumeIds()).to.have.length(3);
  });

  const bad: [what: string, code: string, request: Given<CreateVolumeRequest>][] = [
    ['no name', 'INVALID_ARGUMENT', { name: '' }],
    ['a name of 129 bytes', 'INVALID_ARGUMENT', { name: 'n'.repeat(129) }],
    ['a name with NUL', 'INVALID_ARGUMENT', { name: 'a\0b' }],
    ['no capabilities', 'INVALID_ARGUMENT', { volumeCapabilities: [] }],
    ['no access type', 'INVALID_ARGUMENT', { volumeCapabilities: [{ accessMode: { mode: 'SINGLE_NODE_WRITER' } }] }],
    ['no access mode', 'INVALID_ARGUMENT', { volumeCapabilities: [{ mount: {} }] }],
    ['the access mode UNKNOWN', 'INVALID_ARGUMENT', { volumeCapabilities: [mounted('UNKNOWN')] }],
    ['an access mode of the future', 'INVALID_ARGUMENT', { volumeCapabilities: [mounted('99')] }],
    ['both access types', 'INVALID_ARGUMENT', { volumeCapabilities: [mounted(), asBlock()] }],
    ['a limit below what is required', 'INVALID_ARGUMENT', { capacityRange: { requiredBytes: 2, limitBytes: 1 } }],
    ['a negative size', 'INVALID_ARGUMENT', { capacityRange: { requiredBytes: -1 } }],
    ['a negative limit', 'INVALID_ARGUMENT', { capacityRange: { limitBytes: -1 } }],
    ['too large a size', 'OUT_OF_RANGE', { capacityRange: { requiredBytes: 11 * gi } }],
    ['2^63 - 1 bytes', 'OUT_OF_RANGE', { capacityRange: { requiredBytes: 2n ** 63n - 1n } }],
    ['a parameter', 'INVALID_ARGUMENT', { parameters: { color: 'red' } }],
    ['a mutable parameter as a parameter', 'INVALID_ARGUMENT', { parameters: { warnAbovePercent: '50' } }],
    ['another mutable parameter', 'INVALID_ARGUMENT', { mutableParameters: { color: 'red' } }],
    ['a warning above 0 %', 'INVALID_ARGUMENT', { mutableParameters: { warnAbovePercent: '0' } }],
    ['a warning above 101 %', 'INVALID_ARGUMENT', { mutableParameters: { warnAbovePercent: '101' } }],
    ['parameters above 4 KiB', 'INVALID_ARGUMENT', { parameters: { 'csi.storage.k8s.io/x': 'x'.repeat(4096) } }],
    ['secrets above 4 KiB', 'INVALID_ARGUMENT', { secrets: { key: 'x'.repeat(4096) } }],
    ['an empty source', 'INVALID_ARGUMENT', { volumeContentSource: {} }],
    ['a source without an id', 'INVALID_ARGUMENT', { volumeContentSource: { snapshot: {} } }],
    ['a source in a directory', 'INVALID_ARGUMENT', { volumeContentSource: { volume: { volumeId: '../x' } } }],
    ['an unknown snapshot', 'NOT_FOUND', { volumeContentSource: { snapshot: { snapshotId: 'gone' } } }],
    ['an unknown volume', 'NOT_FOUND', { volumeContentSource: { volume: { volumeId: 'gone' } } }],
    [
      'another node',
      'RESOURCE_EXHAUSTED',
      { accessibilityRequirements: { requisite: [{ segments: { [topologyKey]: 'node-2' } }] } },
    ],
    [
      'another kind of place',
      'RESOURCE_EXHAUSTED',
      { accessibilityRequirements: { requisite: [{ segments: { zone: 'z' } }] } },
    ],
  ];
  for (const [what, code, request] of bad) {
    it(`with ${what} is ${code}, and nothing is left`, async () => {
      expect(await codeOf(lab.create('a', request))).to.equal(code);
      expect(await lab.volumeIds()).to.deep.equal([]);
      expect(readdirSync(lab.contentOf('.')).filter((name) => !name.startsWith('unfinished-'))).to.deep.equal([]);
    });
  }

  it('here, among other places or in another case, or preferred elsewhere, works', async () => {
    const here = { segments: { [topologyKey.toUpperCase()]: nodeId } };
    const elsewhere = { segments: { [topologyKey]: 'node-2' } };
    await lab.create('a', { accessibilityRequirements: { requisite: [elsewhere, here], preferred: [elsewhere] } });
    await lab.create('b', { accessibilityRequirements: { preferred: [elsewhere] } });
  });

  it('an unknown parameter is named, with those that there are', async () => {
    const { message } = await refusalOf(lab.create('a', { mutableParameters: { color: 'red' } }));
    expect(message).to.contain('"color"').and.contain('warnAbovePercent');
  });

  it('secrets are taken, and kept nowhere', async () => {
    const volume = await lab.create('a', { secrets: { password: 'xyzzy-secret' } });
    const found = execFileSync('sh', ['-c', `grep -rl xyzzy-secret '${lab.dataDir}' || true`], { encoding: 'utf8' });
    expect(found).to.equal('');
    expect(existsSync(lab.contentOf(volume.volumeId))).to.equal(true);
  });
});

describe('driver: CreateVolume again', () => {
  isolated();

  beforeEach(() => lab.start({ capacityBytes: 10 * gi }));

  it('with the same request is the same volume, also after a restart', async () => {
    const request = {
      capacityRange: exactly(mi),
      parameters: { 'csi.storage.k8s.io/pvc/name': 'data' },
      accessibilityRequirements: { requisite: [{ segments: { [topologyKey]: nodeId } }] },
    };
    const first = await lab.create('a', request);
    expect(await lab.create('a', request)).to.deep.equal(first);
    await lab.restart({ capacityBytes: mi });
    expect(await lab.create('a', request)).to.deep.equal(first);
    expect(await lab.volumeIds()).to.deep.equal([first.volumeId]);
  });

  for (const range of [
    undefined,
    { requiredBytes: 1 },
    { limitBytes: gi },
    { requiredBytes: mi, limitBytes: 2 * mi },
  ]) {
    it(`with the range ${JSON.stringify(range)}, which it is in, is the same volume`, async () => {
      const first = await lab.create('a', { capacityRange: exactly(2 * mi) });
      expect(await lab.create('a', { capacityRange: range })).to.deep.equal(first);
    });
  }

  it('with other secrets, mutable parameters or order of capabilities is the same volume', async () => {
    const first = await lab.create('a', { volumeCapabilities: [mounted(), mounted('MULTI_NODE_MULTI_WRITER')] });
    const again = await lab.create('a', {
      volumeCapabilities: [mounted('MULTI_NODE_MULTI_WRITER'), mounted()],
      secrets: { a: 'b' },
      mutableParameters: { warnAbovePercent: '5' },
    });
    expect(again).to.deep.equal(first);
  });

  const others: [what: string, request: Given<CreateVolumeRequest>][] = [
    ['a larger size', { capacityRange: { requiredBytes: 3 * mi } }],
    ['a lower limit', { capacityRange: { limitBytes: mi } }],
    ['another access type', { volumeCapabilities: [asBlock()] }],
    ['another access mode', { volumeCapabilities: [mounted('MULTI_NODE_MULTI_WRITER')] }],
    ['another fs type', { volumeCapabilities: [{ ...mounted(), mount: { fsType: 'xfs' } }] }],
    ['mount flags', { volumeCapabilities: [{ ...mounted(), mount: { mountFlags: ['noatime'] } }] }],
    ['other parameters', { parameters: { 'csi.storage.k8s.io/pvc/name': 'data' } }],
    ['a source', { volumeContentSource: { volume: { volumeId: 'gone' } } }],
    ['another place', { accessibilityRequirements: { requisite: [{ segments: { [topologyKey]: 'node-2' } }] } }],
  ];
  for (const [what, request] of others) {
    it(`with ${what} is ALREADY_EXISTS, and names the volume`, async () => {
      const first = await lab.create('a', { capacityRange: exactly(2 * mi) });
      const refusal = await refusalOf(lab.create('a', request));
      expect(refusal).to.include({ grpcCode: 'ALREADY_EXISTS' });
      expect(refusal.message).to.contain(first.volumeId);
    });
  }

  it('20 at once make one volume: the others are ABORTED or have the same answer', async () => {
    const calls = await Promise.allSettled(Array.from({ length: 20 }, () => lab.create('a')));
    const ids = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value.volumeId] : []));
    const codes = calls.flatMap((call) => (call.status === 'rejected' ? [call.reason.grpcCode] : []));
    expect(new Set(ids).size).to.equal(1);
    expect(codes.filter((code) => code !== 'ABORTED')).to.deep.equal([]);
    expect(await lab.volumeIds()).to.deep.equal([...new Set(ids)]);
  });
});

describe('driver: capacity', () => {
  isolated();

  it('is what is left of --capacity, and comes back with what is deleted', async () => {
    await lab.start({ capacityBytes: 10 * mi });
    const capacity = async () => lab.client.getCapacity({});
    const volume = await lab.create('a', { capacityRange: { requiredBytes: 7 * mi } });
    expect(await capacity()).to.include({ availableCapacity: BigInt(3 * mi), maximumVolumeSize: BigInt(3 * mi) });
    const refusal = await refusalOf(lab.create('b', { capacityRange: { requiredBytes: 3 * mi + 1 } }));
    expect(refusal).to.include({ grpcCode: 'OUT_OF_RANGE' });
    expect(refusal.message).to.contain(`${3 * mi} bytes are left`);
    await lab.create('b', { capacityRange: { requiredBytes: 3 * mi } });
    expect(await capacity()).to.include({ availableCapacity: 0n });
    await lab.client.deleteVolume({ volumeId: volume.volumeId });
    expect(await capacity()).to.include({ availableCapacity: BigInt(7 * mi) });
  });

  it('is 0, not less, where more was given away than there is now', async () => {
    await lab.start({ capacityBytes: 10 * mi });
    await lab.create('a', { capacityRange: { requiredBytes: 7 * mi } });
    await lab.restart({ capacityBytes: mi });
    expect(await lab.client.getCapacity({})).to.include({ availableCapacity: 0n });
  });

  it('is by default that of the file system', async () => {
    await lab.start();
    const { availableCapacity } = await lab.client.getCapacity({});
    expect(availableCapacity > BigInt(mi)).to.equal(true);
  });

  it('is 0 elsewhere; what can not be made at all is INVALID_ARGUMENT', async () => {
    await lab.start({ capacityBytes: mi });
    const at = (place: string) =>
      lab.client.getCapacity({ accessibleTopology: { segments: { [topologyKey]: place } } });
    expect(await at('node-2')).to.include({ availableCapacity: 0n });
    expect(await at(nodeId)).to.include({ availableCapacity: BigInt(mi) });
    expect(await codeOf(lab.client.getCapacity({ parameters: { color: 'red' } }))).to.equal('INVALID_ARGUMENT');
    const both = lab.client.getCapacity({ volumeCapabilities: [mounted(), asBlock()] });
    expect(await codeOf(both)).to.equal('INVALID_ARGUMENT');
  });

  it('is given away once, by volumes made at the same time too', async () => {
    await lab.start({ capacityBytes: 10 * mi });
    const calls = Array.from({ length: 20 }, (_, index) =>
      codeOf(lab.create(`v${index}`, { capacityRange: { requiredBytes: mi } })),
    );
    const codes = await Promise.all(calls);
    expect(codes.filter((code) => code === 'OK')).to.have.length(10);
    expect(codes.filter((code) => code === 'OUT_OF_RANGE')).to.have.length(10);
    expect(await lab.client.getCapacity({})).to.include({ availableCapacity: 0n });
  });
});
