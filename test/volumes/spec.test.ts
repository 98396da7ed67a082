/** Tests the check of volume specs: each field at its limits, and all faults at once. */
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { nodeIdSchema } from '../../src/host/names.js';
import { checked, volumeKeyOf } from '../../src/requests/fields.js';
import { knownSpec, specSchema, type VolumeSpec } from '../../src/volumes/spec.js';

const capability = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const whole: VolumeSpec = { id: 'data', plugin: 'disk', capabilities: [capability] };

function faultsOf(value: unknown): string[] {
  try {
    checked(specSchema, value, 'the spec');
  } catch (error) {
    expect(error).to.be.instanceOf(StagecraftError).and.include({ code: 'INVALID_ARGUMENT' });
    return (error as StagecraftError).faults ?? [];
  }
  return [];
}
const taken = (more: object) => knownSpec(checked(specSchema, { ...whole, ...more }, 'the spec'), '');

describe('the spec of a volume', () => {
  const faults: [title: string, more: unknown, fault: string][] = [
    ['no id', { id: undefined }, 'id: is missing'],
    ['an empty id', { id: '' }, 'id: must not be empty'],
    ['an id of 129 bytes', { id: `${'é'.repeat(64)}x` }, 'id: must have at most 128 bytes'],
    ['a number as id', { id: 7 }, 'id: must be a text'],
    ['a line end in the id', { id: 'a\nb' }, 'id: must have no control characters'],
    ['half of a surrogate pair', { id: 'a\ud800' }, 'id: must have no control characters or broken surrogate pairs'],
    ['an empty namespace', { namespace: '' }, 'namespace: must not be empty'],
    ['no plugin', { plugin: undefined }, 'plugin: is missing'],
    ['no capabilities', { capabilities: [] }, 'capabilities: must name at least one'],
    [
      'an unknown mode',
      { capabilities: [{ ...capability, accessMode: 'any' }] },
      'capabilities[0].accessMode: must be "single-',
    ],
    [
      'no attachment',
      { capabilities: [{ accessMode: 'single-node-writer' }] },
      'capabilities[0].attachmentMode: must be',
    ],
    [
      'a file system on a block device',
      { capabilities: [{ accessMode: 'x', attachmentMode: 'block-device', fsType: 'ext4' }] },
      'capabilities[0].fsType: is for file systems',
    ],
    [
      'flags for a block device',
      { capabilities: [{ ...capability, attachmentMode: 'block-device', mountFlags: ['ro'] }] },
      'capabilities[0].mountFlags: is for file systems',
    ],
    [
      'too many flags',
      { capabilities: [{ ...capability, mountFlags: ['a'.repeat(4_096), 'b'] }] },
      'capabilities[0].mountFlags: must have at most 4096 bytes',
    ],
    ['no bytes', { capacity: { requiredBytes: 0 } }, 'capacity.requiredBytes: must be'],
    ['half a byte', { capacity: { limitBytes: 0.5 } }, 'capacity.limitBytes: must be a whole number of bytes'],
    ['a size that is not exact', { capacity: { requiredBytes: 2 ** 53 } }, 'capacity.requiredBytes: must be'],
    ['more than int64 has', { capacity: { limitBytes: 2n ** 63n } }, 'capacity.limitBytes: must be below 2^63'],
    [
      'a limit below what is required',
      { capacity: { requiredBytes: 2n ** 60n, limitBytes: 5 } },
      'capacity: limitBytes must not be below',
    ],
    [
      'parameters that are too long',
      { parameters: { k: 'v'.repeat(4_096) } },
      'parameters: must have at most 4096 bytes',
    ],
    ['a number as parameter', { parameters: { k: 1 } }, 'parameters.k: must be a text'],
    [
      'half of a pair in a parameter',
      { parameters: { k: '\udc00' } },
      'parameters: must have no broken surrogate pairs',
    ],
    ['mutable parameters as a list', { mutableParameters: [] }, 'mutableParameters: must be a map'],
    ['an empty reference', { secrets: { k: '' } }, 'secrets.k: must'],
    ['a reference without key', { secrets: { '': 'file:a' } }, 'secrets: must have no empty key'],
    [
      'an empty segment map',
      { topology: { requisite: [{}] } },
      'topology.requisite[0]: must name at least one segment',
    ],
    [
      'preferred topology that is not in requisite',
      { topology: { requisite: [{ zone: 'a' }], preferred: [{ zone: 'b' }] } },
      'topology: must have every one of preferred in requisite too',
    ],
    ['an invalid source', { source: {} }, 'source: must be { volume: { namespace, id } } or'],
    ['an external volume without id', { external: {} }, 'external.csiId: is missing'],
    [
      '34.27 an id of the plugin of more than 4 KiB',
      { external: { csiId: 'x'.repeat(4_097) } },
      'external.csiId: must have at most 4096 bytes',
    ],
    ['34.27 an id of a snapshot of more than 4 KiB', { source: { volumeSnapshot: 'x'.repeat(4_097) } }, 'source'],
    [
      'an external volume with a size',
      { external: { csiId: 'x' }, capacity: { requiredBytes: 1 } },
      'capacity: cannot be given with external',
    ],
    [
      'an external volume with a source',
      { external: { csiId: 'x' }, source: { volumeSnapshot: 's' } },
      'source: cannot be given with external',
    ],
    ['an unknown key', { size: 5 }, 'size: unknown key'],
    ['an unknown key inside', { capacity: { size: 5 } }, 'capacity.size: unknown key'],
  ];
  for (const [title, more, fault] of faults) {
    it(`V2 ${title}: refused with its path`, () => {
      const found = faultsOf({ ...whole, ...(more as object) });
      expect(
        found.some((one) => one.startsWith(fault)),
        found.join('\n'),
      ).to.equal(true);
    });
  }

  it('V2 all faults are reported at once, also those between fields', () => {
    const found = faultsOf({
      id: '',
      external: { csiId: 'x' },
      capacity: { requiredBytes: 1 },
      topology: { requisite: [{ a: 'b' }] },
      bogus: 1,
    });
    expect(found.map((one) => one.split(':')[0])).to.have.members([
      'id',
      'plugin',
      'capabilities',
      'capacity',
      'topology',
      'bogus',
    ]);
  });

  for (const nothing of [null, undefined, 7, 'data', []]) {
    it(`V2 ${JSON.stringify(nothing) ?? 'undefined'} in place of a spec: refused`, () => {
      expect(faultsOf(nothing)[0]).to.match(/^the spec: (must be a map|is missing)/);
    });
  }

  it('V2 all fields at their limits: accepted', () => {
    const id = 'é'.repeat(64);
    const flags = ['a'.repeat(4_096)];
    const capabilities = [{ ...capability, fsType: 'f'.repeat(128), mountFlags: flags }];
    const parameters = { k: 'v'.repeat(4_095) };
    expect(faultsOf({ ...whole, id, namespace: id, plugin: id, capabilities, parameters })).to.deep.equal([]);
  });

  it('V2 sizes above 2^53 are kept exactly in every notation', () => {
    const exact = '9007199254740993';
    expect(taken({ capacity: { requiredBytes: 9_007_199_254_740_993n } }).capacity).to.deep.equal({
      requiredBytes: exact,
    });
    expect(taken({ capacity: { requiredBytes: exact } }).capacity).to.deep.equal({ requiredBytes: exact });
    expect(taken({ capacity: { requiredBytes: 5n } })).to.deep.equal(taken({ capacity: { requiredBytes: 5 } }));
    expect(taken({ capacity: { limitBytes: 2n ** 63n - 1n } }).capacity).to.deep.equal({
      limitBytes: '9223372036854775807',
    });
  });

  it('V2 ids may have any characters', () => {
    for (const id of ['a/b', 'a#b', 'a=b', '%2F', '..', 'ünïcode', '😀', ' '])
      expect(volumeKeyOf({ id })).to.deep.equal({ namespace: 'default', id });
  });

  it('V7 node ids that are empty, too long or names of object properties: refused', () => {
    for (const id of ['', '__proto__', 'constructor', 'toString', 'a\u0000', 'x'.repeat(257)])
      expect(() => checked(nodeIdSchema, id, 'the node id')).to.throw(StagecraftError);
    expect(checked(nodeIdSchema, 'x'.repeat(256), 'the node id')).to.have.length(256);
  });
});
