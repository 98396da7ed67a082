/** The codec: every message there and back, beside the generated classes, and what it refuses. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Codec, requestCodec, responseCodec } from '../../src/csi/codec.js';
import { rpcs } from '../../src/csi/generated/plain.js';
import { masked, secretsIn } from '../../src/csi/secrets.js';
import { csi } from '../generated/csi.js';
import { asGenerated, oneofsOf, plainValue, shapeOf, shapes, withoutEmpty } from './plain-values.js';

/** What an RPC takes, and what it gives. */
const ends: Array<[name: string, codec: Codec<object>]> = Object.keys(rpcs)
  .filter((rpc): rpc is keyof typeof rpcs => rpc in rpcs)
  .flatMap((rpc) => [
    [rpcs[rpc].request, requestCodec(rpc)],
    [rpcs[rpc].response, responseCodec(rpc)],
  ]);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const runs = { numRuns: 60 };

/** A field that no message has: number 1000, three bytes. */
const strangeField = Buffer.from([0xc2, 0x3e, 3, 1, 2, 3]);

const publish = requestCodec('ControllerPublishVolume');
const createVolume = requestCodec('CreateVolume');
const capacity = responseCodec('GetCapacity');

/** Also what the compiler would refuse. */
const encodeAny = (request: unknown): Buffer => Reflect.apply(publish.encode, publish, [request]);

function faultOf(encode: () => unknown): string {
  try {
    encode();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  throw new Error('expected a TypeError');
}

const byteOrderMark = '\uFEFF';

/**
 * The generated classes lose an entry of a map whose key is `__proto__`, and a byte order mark at the beginning of a text.
 */
function generatedClassKeeps(value: unknown): boolean {
  if (typeof value === 'string') return !value.startsWith(byteOrderMark);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(
    ([key, part]) => key !== '__proto__' && generatedClassKeeps(key) && generatedClassKeeps(part),
  );
}

describe('csi codec: there and back', () => {
  it('every message of the package is part of what an RPC takes or gives', () => {
    const seen = new Set<string>();
    const visit = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      for (const { kind, of } of shapeOf(name).fields) if (kind === 'message' && of) visit(of);
    };
    for (const [name] of ends) visit(name);
    expect([...seen].sort()).to.deep.equal(Object.keys(shapes).sort());
  });

  it('texts that begin with a byte order mark come back as they were', () => {
    const text = `${byteOrderMark}a`;
    const request = {
      name: text,
      parameters: { [text]: text },
      secrets: {},
      mutableParameters: {},
      volumeCapabilities: [],
    };
    expect(createVolume.decode(createVolume.encode(request))).to.deep.equal(request);
  });

  for (const [name, { encode, decode }] of ends) {
    it(`${name}: any value comes back as it was`, () => {
      fc.assert(
        fc.property(plainValue(name), (value) => {
          expect(decode(encode(value))).to.deep.equal(value);
        }),
        runs,
      );
    });

    it(`${name}: the generated class writes the same bytes, and reads the same from them`, () => {
      const { type } = shapeOf(name);
      fc.assert(
        fc.property(plainValue(name).filter(generatedClassKeeps), (value) => {
          const bytes = encode(value);
          expect(hex(type.fromObject(asGenerated(name, value)).serialize())).to.equal(hex(bytes));
          expect(type.deserialize(bytes).toObject()).to.deep.equal(asGenerated(name, value));
        }),
        runs,
      );
    });

    it(`${name}: what is empty may be left out, and what is unknown on the wire is ignored`, () => {
      fc.assert(
        fc.property(plainValue(name), (value) => {
          const bytes = encode(withoutEmpty(name, value));
          expect(hex(bytes)).to.equal(hex(encode(value)));
          expect(decode(Buffer.concat([strangeField, bytes, strangeField]))).to.deep.equal(value);
        }),
        runs,
      );
    });
  }
});

describe('csi codec: what is easily lost', () => {
  it('an entry of a map whose key is __proto__', () => {
    const { parameters } = createVolume.decode(createVolume.encode({ parameters: { ['__proto__']: 'kept' } }));
    expect(Object.entries(parameters)).to.deep.equal([['__proto__', 'kept']]);
  });

  it('sizes are exact: zero, negative, above 2^53, and a number where it is exact', () => {
    const { encode, decode } = requestCodec('ControllerExpandVolume');
    for (const requiredBytes of [-1n, -(2n ** 63n)])
      expect(decode(encode({ capacityRange: { requiredBytes } })).capacityRange).to.include({ requiredBytes });
    for (const size of [0n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
      expect(capacity.decode(capacity.encode({ availableCapacity: size, maximumVolumeSize: size }))).to.deep.equal({
        availableCapacity: size,
        maximumVolumeSize: size,
      });
    }
    expect(capacity.decode(capacity.encode({ availableCapacity: 2 ** 40 })).availableCapacity).to.equal(2n ** 40n);
  });

  it('absent is told from empty: a message, a wrapper of false or 0; a map is empty either way', () => {
    const { encode, decode } = responseCodec('Probe');
    expect(decode(encode({}))).to.deep.equal({});
    expect(decode(encode({ ready: false }))).to.deep.equal({ ready: false });
    expect(capacity.decode(capacity.encode({ minimumVolumeSize: 0 }))).to.deep.equal({
      availableCapacity: 0n,
      minimumVolumeSize: 0n,
    });
    const bare = createVolume.decode(createVolume.encode({}));
    expect(bare).to.not.have.property('capacityRange');
    expect(bare.parameters).to.deep.equal({});
    const withRange = createVolume.decode(createVolume.encode({ capacityRange: {}, parameters: {} }));
    expect(withRange.capacityRange).to.deep.equal({ requiredBytes: 0n, limitBytes: 0n });
    expect(withRange.parameters).to.deep.equal({});
  });

  it('undefined counts as left out, also in a map', () => {
    const bytes = publish.encode({ volumeId: undefined, secrets: { a: undefined, b: '' } });
    expect(publish.decode(bytes).secrets).to.deep.equal({ b: '' });
  });

  it('an enum value that this version does not know goes both ways as its number', () => {
    const mode = { volumeCapability: { accessMode: { mode: '-7' } } } as const;
    expect(publish.decode(publish.encode(mode)).volumeCapability?.accessMode).to.deep.equal({ mode: '-7' });
    const number = csi.v1.ControllerPublishVolumeRequest.deserialize(publish.encode(mode));
    expect(number.volume_capability?.access_mode?.mode).to.equal(-7);
  });

  it('the number of a known enum value is that value', () => {
    const bytes = publish.encode({ volumeCapability: { accessMode: { mode: '1' } } });
    expect(publish.decode(bytes).volumeCapability?.accessMode?.mode).to.equal('SINGLE_NODE_WRITER');
  });

  it('a map keeps the key __proto__ and changes no prototype', () => {
    const secrets = Object.fromEntries([
      ['__proto__', 'p'],
      ['constructor', 'c'],
    ]);
    const read = publish.decode(publish.encode({ secrets })).secrets;
    expect(Object.entries(read)).to.deep.equal(Object.entries(secrets));
    expect(Object.getPrototypeOf(read)).to.equal(Object.prototype);
  });

  it('a record without a prototype is a record', () => {
    const secrets: Record<string, string> = Object.assign(Object.create(null), { key: 'value' });
    expect(publish.decode(publish.encode({ secrets })).secrets).to.deep.equal({ key: 'value' });
  });
});

describe('csi codec: what it refuses', () => {
  const at = 'ControllerPublishVolumeRequest';
  const refused: Array<[what: string, request: unknown, message: string]> = [
    ['nothing at all', null, `${at} must be an object`],
    ['a list for a request', [], `${at} must be an object`],
    ['a field of no such name', { volumeID: 'v' }, `${at} has no field 'volumeID', but: volumeId, nodeId,`],
    ['a key __proto__', JSON.parse('{"__proto__":{}}'), `${at} has no field '__proto__'`],
    ['a number for a text', { volumeId: 1 }, `${at}.volumeId must be a string`],
    ['null for a text', { volumeId: null }, `${at}.volumeId must be a string`],
    ['half a surrogate pair', { volumeId: '\ud800' }, `${at}.volumeId must be whole characters`],
    ['a text for a boolean', { readonly: 'yes' }, `${at}.readonly must be a boolean`],
    ['a Map for a record', { secrets: new Map([['a', 'b']]) }, `${at}.secrets must be a record of strings`],
    ['a list for a record', { secrets: ['a'] }, `${at}.secrets must be a record of strings`],
    ['a number in a record', { volumeContext: { a: 1 } }, `${at}.volumeContext.a must be a string`],
    ['half a pair in a key', { volumeContext: { '\udc00': '' } }, `a key of ${at}.volumeContext must be whole`],
    ['a text for a message', { volumeCapability: 'rw' }, `${at}.volumeCapability must be an object`],
    ['a list for a message', { volumeCapability: [] }, `${at}.volumeCapability must be an object`],
    [
      'a field deep down',
      { volumeCapability: { mount: { fs: '' } } },
      `${at}.volumeCapability.mount has no field 'fs'`,
    ],
    [
      'no list',
      { volumeCapability: { mount: { mountFlags: 'ro' } } },
      `${at}.volumeCapability.mount.mountFlags must be a list`,
    ],
    [
      'a wrong item of a list',
      { volumeCapability: { mount: { mountFlags: ['ro', 7] } } },
      `${at}.volumeCapability.mount.mountFlags[1] must be a string`,
    ],
    [
      'a hole in a list',
      // biome-ignore lint/suspicious/noSparseArray: that is the case
      { volumeCapability: { mount: { mountFlags: [, 'ro'] } } },
      `${at}.volumeCapability.mount.mountFlags[0] must be a string`,
    ],
    [
      'an enum value of no such name',
      { volumeCapability: { accessMode: { mode: 'RW' } } },
      `${at}.volumeCapability.accessMode.mode must be one of UNKNOWN, SINGLE_NODE_WRITER,`,
    ],
    [
      'an enum value as a number',
      { volumeCapability: { accessMode: { mode: 1 } } },
      `${at}.volumeCapability.accessMode.mode must be one of`,
    ],
    [
      'an enum value of more than 32 bits',
      { volumeCapability: { accessMode: { mode: '4294967297' } } },
      `${at}.volumeCapability.accessMode.mode must be one of`,
    ],
    [
      'two of which CSI wants one',
      { volumeCapability: { block: {}, mount: {} } },
      `${at}.volumeCapability.mount can't be given beside block: CSI wants one of them`,
    ],
  ];

  for (const [what, request, message] of refused) {
    it(`${what} is a TypeError that names the path`, () => {
      expect(faultOf(() => encodeAny(request))).to.contain(message);
    });
  }

  it('every group of which CSI wants one: two of them are refused', () => {
    const groups = Object.keys(shapes).flatMap((name) => oneofsOf(name).filter((group) => group.length > 1));
    expect(groups).to.deep.include.members([
      ['block', 'mount'],
      ['snapshot', 'volume'],
      ['service', 'volumeExpansion'],
    ]);
    const source = { volumeContentSource: { snapshot: {}, volume: {} } };
    expect(faultOf(() => createVolume.encode(source))).to.contain('volumeContentSource.volume ');
    const capabilities = [{ service: {}, volumeExpansion: {} }];
    expect(faultOf(() => responseCodec('GetPluginCapabilities').encode({ capabilities }))).to.contain(
      '[0].volumeExpansion ',
    );
  });

  for (const size of [0.5, 2 ** 53, Number.NaN, 2n ** 63n, -(2n ** 63n) - 1n]) {
    it(`${size} is no size of 64 bits that is exact`, () => {
      const message = 'CreateVolumeRequest.capacityRange.requiredBytes must be a whole number of 64 bits';
      expect(faultOf(() => createVolume.encode({ capacityRange: { requiredBytes: size } }))).to.contain(message);
      expect(faultOf(() => capacity.encode({ minimumVolumeSize: size }))).to.contain('minimumVolumeSize must be');
    });
  }

  for (const count of [0.5, 2 ** 31, Number.NaN]) {
    it(`${count} is no number of 32 bits`, () => {
      const { encode } = requestCodec('ListVolumes');
      expect(faultOf(() => encode({ maxEntries: count }))).to.contain('ListVolumesRequest.maxEntries must be a whole');
    });
  }
});

describe('csi codec: secrets', () => {
  const withSecrets = Object.keys(rpcs)
    .filter((rpc): rpc is keyof typeof rpcs => rpc in rpcs)
    .filter((rpc) => shapeOf(rpcs[rpc].request).fields.some(({ isSecret }) => isSecret));

  it('19 requests have some', () => {
    expect(withSecrets).to.have.length(19);
  });

  for (const rpc of withSecrets) {
    it(`masked: ${rpc} shows the keys, no value, and all else as it was`, () => {
      const { fields } = shapeOf(rpcs[rpc].request);
      fc.assert(
        fc.property(plainValue(rpcs[rpc].request), (request) => {
          const before = structuredClone(request);
          const shown = new Map(Object.entries(masked(rpc, request)));
          for (const { name, isSecret } of fields) {
            const value = request[name];
            if (!isSecret) expect(shown.get(name)).to.deep.equal(value);
            else {
              const keys = Object.keys(Object(value));
              expect(Object.entries(Object(shown.get(name)))).to.deep.equal(keys.map((key) => [key, '***']));
            }
          }
          expect(request).to.deep.equal(before);
        }),
        runs,
      );
    });
  }

  it('masked: secrets of an odd form are not shown either', () => {
    const bare = Object.assign(Object.create(null), { key: 'hunter2' });
    for (const secrets of ['hunter2', ['hunter2'], new Map([['key', 'hunter2']]), bare]) {
      expect(JSON.stringify(masked('NodeStageVolume', { volumeId: 'v', secrets }))).to.not.contain('hunter2');
    }
  });

  it('a request without secrets has none', () => {
    expect(secretsIn('NodeUnstageVolume', { volumeId: 'v' })).to.deep.equal([]);
    expect(secretsIn('NodeStageVolume', {})).to.deep.equal([]);
  });

  it('what is wrong with a secret is told without it', () => {
    const secrets: unknown = { password: { deep: 'hunter2' }, other: 'hunter2' };
    const message = faultOf(() => encodeAny({ secrets }));
    expect(message).to.equal('ControllerPublishVolumeRequest.secrets.password must be a string');
  });
});
