/** How what an alloc is asked for differs from what it has, in words. */
import { expect } from 'chai';
import { volumeDifferences } from '../../../machines/alloc/refusals.js';
import type { AllocVolume } from '../../../machines/alloc/types.js';

const volume = (name: string, more: Partial<AllocVolume> = {}): AllocVolume => ({
  ...{ name, volume: { namespace: 'default', id: name }, mode: 'write', readOnly: false, taskPath: `/${name}` },
  ...{ accessMode: 'single-node-writer', attachmentMode: 'file-system' },
  ...more,
});

describe('what an alloc is asked for otherwise than it has it', () => {
  it('H1 volumes that it has, or has not, each by its name', () => {
    expect(volumeDifferences([volume('data'), volume('log')], [volume('log'), volume('tmp')])).to.deep.equal([
      "'data' is not asked for",
      "it has no 'tmp'",
    ]);
  });

  it('H1 of one volume, each field: as it is, and as it is asked for', () => {
    const asked = volume('data', {
      ...{ volume: { namespace: 'team', id: 'data' }, mode: 'read', readOnly: true },
      ...{ fsType: 'ext4', mountFlags: ['noatime'] },
    });
    expect(volumeDifferences([volume('data')], [asked])).to.deep.equal([
      `'data' has ${[
        'volume default/data, asked for team/data',
        'mode write, asked for read',
        'readOnly false, asked for true',
        'fsType none, asked for ext4',
        'mountFlags none, asked for ["noatime"]',
      ].join('; ')}`,
    ]);
  });

  it('H1 the same in another order', () => {
    expect(volumeDifferences([volume('a'), volume('b')], [volume('b'), volume('a')])).to.deep.equal([
      'they are asked for in another order',
    ]);
  });
});
