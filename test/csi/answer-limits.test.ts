/** Bounds of answers: ids and what else is sent back must be UTF-8, no text or map too long, no size negative. */
import { isUtf8 } from 'node:buffer';
import { expect } from 'chai';
import fc from 'fast-check';
import { answerClassOf, type RpcName } from '../../src/csi/answers.js';
import { requestCodec, responseCodec } from '../../src/csi/codec.js';
import { leftOutOf } from '../../src/csi/fields.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import { csiSnapshots } from '../../src/csi-plugins/snapshots.js';
import { refusalOf } from '../refusal.js';
import { type Field, type PlainRecord, shapeOf } from './plain-values.js';
import { RawAnswers } from './raw-answers.js';

const names = Object.keys(rpcs).filter((rpc): rpc is RpcName => rpc in rpcs);

/** A field of an answer, with the path that leads to it. */
interface Leaf {
  rpc: RpcName;
  path: readonly Field[];
  field: Field;
}

const leavesOf = (rpc: RpcName, name: string, path: readonly Field[] = []): Leaf[] =>
  shapeOf(name).fields.flatMap((field) =>
    field.kind === 'message' ? leavesOf(rpc, field.of ?? '', [...path, field]) : [{ rpc, path, field }],
  );

const leaves = names.flatMap((rpc) => leavesOf(rpc, rpcs[rpc].response));
const titleOf = ({ rpc, path, field }: Leaf): string => [rpc, ...path.map(({ name }) => name), field.name].join('.');

/** An answer with this value in one field. */
function answerWith({ path, field }: Leaf, value: unknown): PlainRecord {
  const wrapped = (one: unknown, { name, isRepeated }: Field): PlainRecord => ({ [name]: isRepeated ? [one] : one });
  return path.reduceRight((inner, outer) => wrapped(inner, outer), wrapped(value, field));
}

const encoded = (leaf: Leaf, value: unknown): Buffer => responseCodec(leaf.rpc).encode(answerWith(leaf, value));

/** Puts other bytes of the same length into an encoded answer. */
function corrupted(bytes: Buffer, from: string, to: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  Buffer.from(to).copy(copy, copy.indexOf(from));
  return copy;
}

const isOfEntry = ({ rpc, path }: Leaf): boolean =>
  (rpc === 'ListVolumes' || rpc === 'ListSnapshots') && path[0]?.name === 'entries';

/** Refuses the answer, or leaves the entry out of a list. */
const refuses = (leaf: Leaf, bytes: Buffer, fault: string): void => {
  if (isOfEntry(leaf)) {
    const { entries } = responseCodec(leaf.rpc).decode(bytes) as { entries: object[] };
    expect(entries, titleOf(leaf)).to.deep.equal([]);
    expect(leftOutOf(entries)?.why, titleOf(leaf)).to.include(fault);
  } else expect(() => responseCodec(leaf.rpc).decode(bytes), titleOf(leaf)).to.throw(TypeError, fault);
};

const isForPeople = ({ field }: Leaf): boolean => field.name === 'message';
const texts = leaves.filter((leaf) => leaf.field.kind === 'string' && !isForPeople(leaf));
const maps = leaves.filter(({ field }) => field.kind === 'map');
const sizes = leaves.filter(
  ({ field, path }) => ['int64', 'int64Value'].includes(field.kind) && path.at(-1)?.of !== 'Timestamp',
);
const times = leaves.filter(({ field }) => field.name === 'seconds');

describe('csi answers: bounds', () => {
  it('34.8 a text of an answer that is not UTF-8 is refused, whatever its field', () => {
    expect(texts.map(titleOf)).to.include.members([
      'CreateVolume.volume.volumeId',
      'ListVolumes.nextToken',
      'ListVolumes.entries.status.publishedNodeIds',
      'CreateSnapshot.snapshot.snapshotId',
      'NodeGetInfo.nodeId',
    ]);
    for (const leaf of texts)
      refuses(leaf, corrupted(encoded(leaf, 'XYZ'), 'XYZ', [0xff, 0xfe, 0x41]), 'must be a text in UTF-8');
  });

  it('34.8 a key or value of a context or a topology that is not UTF-8 is refused', () => {
    for (const leaf of maps) {
      refuses(leaf, corrupted(encoded(leaf, { XYZ: 'v' }), 'XYZ', [0xff, 0xfe, 0x41]), 'must be a text in UTF-8');
      refuses(leaf, corrupted(encoded(leaf, { k: 'XYZ' }), 'XYZ', [0xed, 0xa0, 0x80]), 'must be a text in UTF-8');
    }
  });

  it('34.8 a text comes back byte by byte, or is refused', () => {
    const { encode, decode } = responseCodec('NodeGetInfo');
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 4 }), (bytes) => {
        const sent = corrupted(encode({ nodeId: 'X'.repeat(bytes.length) }), 'X', [...bytes]);
        if (isUtf8(bytes)) expect([...Buffer.from(decode(sent).nodeId)]).to.deep.equal([...bytes]);
        else expect(() => decode(sent)).to.throw(TypeError, 'must be a text in UTF-8');
      }),
    );
  });

  it('34.8 a text for people that is not UTF-8 is shown all the same', () => {
    const bytes = responseCodec('NodeGetVolumeStats').encode({ volumeCondition: { abnormal: true, message: 'caf#' } });
    const { volumeCondition } = responseCodec('NodeGetVolumeStats').decode(corrupted(bytes, '#', [0xe9]));
    expect(volumeCondition).to.deep.equal({ abnormal: true, message: 'caf\ufffd' });
  });

  it('34.17 an id or token above 4 KiB is refused, one of 4 KiB is taken', () => {
    for (const leaf of texts) {
      responseCodec(leaf.rpc).decode(encoded(leaf, 'x'.repeat(4096)));
      refuses(leaf, encoded(leaf, 'x'.repeat(4097)), 'must be at most 4096 bytes long, and has 4097');
    }
  });

  it('34.17 a context or topology above 64 KiB is refused, one of 64 KiB is taken', () => {
    const entries = (count: number): PlainRecord =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`key-${String(index).padStart(4, '0')}`, 'v'.repeat(56)]),
      );
    for (const leaf of maps) {
      responseCodec(leaf.rpc).decode(encoded(leaf, entries(1024)));
      refuses(leaf, encoded(leaf, entries(1025)), 'must be at most 65536 bytes in all its keys and values');
    }
  });

  it('34.17 a negative size or count is refused, whatever its field', () => {
    expect(sizes.map(titleOf)).to.include.members([
      'NodeGetInfo.maxVolumesPerNode',
      'GetCapacity.availableCapacity',
      'GetCapacity.maximumVolumeSize',
      'CreateVolume.volume.capacityBytes',
    ]);
    for (const leaf of sizes) refuses(leaf, encoded(leaf, -5n), ', and is -5');
  });

  it('34.17 bad entries of a list, one after another: left out and counted, the others are taken', () => {
    const listed = responseCodec('ListVolumes');
    const ids = ['a', 'XYZ', 'b', 'XYZ', 'c'];
    const entries = ids.map((volumeId) => ({
      volume: { volumeId, volumeContext: { k: 'v' } },
      status: { publishedNodeIds: ['n'] },
    }));
    let bytes = listed.encode({ entries: [...entries, { volume: { capacityBytes: -1n } }], nextToken: 't' });
    for (const _ of [1, 2]) bytes = corrupted(bytes, 'XYZ', [0xff, 0xfe, 0x41]);
    const page = listed.decode(bytes);
    expect(page.entries.map(({ volume }) => volume?.volumeId)).to.deep.equal(['a', 'b', 'c']);
    expect(page.entries[1]?.status).to.deep.equal({ publishedNodeIds: ['n'] });
    expect(page.nextToken).to.equal('t');
    expect(leftOutOf(page.entries)).to.deep.equal({
      count: 3,
      why: 'entries.volume.volumeId must be a text in UTF-8',
    });
  });

  it('34.17 a negative limit of volumes on a node: the reason says that 0 means no limit', () => {
    const { encode, decode } = responseCodec('NodeGetInfo');
    expect(() => decode(encode({ nodeId: 'n', maxVolumesPerNode: -1n }))).to.throw(
      TypeError,
      'NodeGetInfoResponse.maxVolumesPerNode must not be negative (0: no limit), and is -1',
    );
  });

  it('34.17 a time outside of the years 1 to 9999 is refused', () => {
    for (const leaf of times) {
      responseCodec(leaf.rpc).decode(encoded(leaf, -1n));
      for (const seconds of [-62_135_596_801n, 253_402_300_800n]) refuses(leaf, encoded(leaf, seconds), 'must be ');
    }
  });

  it('34.17 an answer above 4 MiB is refused, unless it is a list', () => {
    const message = 'x'.repeat(4 * 1024 * 1024);
    const validated = responseCodec('ValidateVolumeCapabilities');
    expect(() => validated.decode(validated.encode({ message }))).to.throw(TypeError, 'must be at most 4194304 bytes');
    const status = { volumeCondition: { message } };
    const listed = responseCodec('ListVolumes');
    expect(listed.decode(listed.encode({ entries: [{ status }] })).entries).to.have.length(1);
  });

  it('34.17 requests have no such bounds: drivers judge them', () => {
    const { encode, decode } = requestCodec('CreateVolume');
    const request = { name: 'x'.repeat(5000), capacityRange: { requiredBytes: -1n, limitBytes: 0n } };
    expect(decode(encode(request))).to.deep.include(request);
  });
});

describe('csi answers: outside of the bounds, over a socket', () => {
  const raw = new RawAnswers('/csi.v1.Controller/CreateVolume');
  before(() => raw.listen());
  after(() => raw.end());

  it('34.8 an id that is not UTF-8 is a fault of the driver, which names the field', async () => {
    const answer = responseCodec('CreateVolume').encode({ volume: { volumeId: 'XYZ' } });
    raw.answers = [corrupted(answer, 'XYZ', [0xff, 0xfe, 0x41])];
    const failure = await refusalOf(raw.client.createVolume({ name: 'v' }));
    expect(failure).to.include({ code: 'CSI_ERROR', answerClass: 'driver-bug', final: false });
    expect(failure.answerClass).to.equal(answerClassOf('CreateVolume', 'INTERNAL'));
    expect(failure.message).to.equal(
      'CreateVolume: a fault of the driver: its answer is not as CSI wants it: CreateVolumeResponse.volume.volumeId must be a text in UTF-8',
    );
    raw.answers = [answer];
    expect((await raw.client.createVolume({ name: 'v' })).volume?.volumeId).to.equal('XYZ');
  });
});

describe('csi lists: a bad entry, over a socket', () => {
  const raw = new RawAnswers('/csi.v1.Controller/ListSnapshots');
  before(() => raw.listen());
  after(() => raw.end());

  it('34.17 the snapshot looked for may be the one left out: a fault of the driver, not its absence', async () => {
    const { listedSnapshot } = csiSnapshots({ timeoutMs: 5_000 });
    const bounds = { secrets: {}, signal: new AbortController().signal };
    const find = () => listedSnapshot(raw.client, { csiId: 'snap', memberIds: [] }, bounds);
    const listed = (...ids: string[]): Buffer => {
      const entries = ids.map((snapshotId) => ({ snapshot: { snapshotId } }));
      return corrupted(responseCodec('ListSnapshots').encode({ entries }), 'XYZ', [0xff, 0xfe, 0x41]);
    };
    raw.answers = [listed('XYZ', 'snap')];
    expect(await find()).to.include({ csiId: 'snap' });
    raw.answers = [listed('XYZ')];
    const failure = await refusalOf(find());
    expect(failure).to.include({ code: 'CSI_ERROR', answerClass: 'driver-bug', final: false });
    expect(failure.message).to.include('entries.snapshot.snapshotId must be a text in UTF-8');
  });
});
