/** Faults of requests: their messages name the path and what is expected. */
import { expect } from 'chai';
import { type AllocVolumeRequest, askedVolumes } from '../../src/mounts/mount-spec.js';
import { capabilitySchema, checked } from '../../src/requests/fields.js';
import { faultsOf } from '../refusal.js';

describe('messages about invalid requests', () => {
  it('H1 spec of an alloc that is no list: the message says so, without the example of a command', () => {
    for (const spec of [{ name: 'data' }, 'data', {}])
      expect(faultsOf(() => askedVolumes(spec as AllocVolumeRequest[]))).to.deep.equal([
        'the volumes of the alloc: must be a list',
      ]);
  });

  it('part that is no list, or is missing: the message names its path', () => {
    const capability = { accessMode: 'single-node-writer', mountFlags: 'noatime' };
    expect(faultsOf(() => checked(capabilitySchema, capability, 'the capability'))).to.deep.equal([
      'attachmentMode: must be "file-system" or "block-device"; it is missing',
      'mountFlags: must be a list',
    ]);
    expect(faultsOf(() => checked(capabilitySchema, undefined, 'the capability'))).to.deep.equal([
      'the capability: is missing',
    ]);
  });
});
