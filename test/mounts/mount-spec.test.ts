/** What may be asked of mounts, as far as it can be told from the request alone. */
import { expect } from 'chai';
import { type AllocVolumeRequest, knownMount, knownVolumes } from '../../src/mounts/mount-spec.js';
import { faultsOf } from '../refusal.js';

const use = { accessMode: 'single-node-writer', attachmentMode: 'file-system' } as const;
const wanted = (id: string, more: Partial<AllocVolumeRequest> = {}): AllocVolumeRequest => ({
  ...{ name: id, volume: { id }, mode: 'write', taskPath: `/${id}` },
  ...use,
  ...more,
});

describe('what a mount is asked to be', () => {
  it('H1 what does not go together in the use of a volume: every fault, each with the volume that it is of', () => {
    const readers = 'multi-node-reader-only';
    const requests = [
      wanted('right'),
      wanted('disk', { attachmentMode: 'block-device', fsType: 'ext4', mountFlags: ['noatime'] }),
      wanted('log', { accessMode: readers, readOnly: false }),
      wanted('data', { mode: 'read', readOnly: false, taskPath: 'data' }),
      wanted('both', { mode: 'read', accessMode: readers, readOnly: false }),
    ];
    const forReaders = `${readers} is for reading only: leave it out, or ask for another mode`;
    expect(faultsOf(() => knownVolumes(requests))).to.have.members([
      '[1].fsType: is for file systems: leave it out for a block device',
      '[1].mountFlags: is for file systems: leave it out for a block device',
      `[2].readOnly: ${forReaders}`,
      '[3].taskPath: must be absolute',
      '[3].readOnly: a volume that is claimed for reading is mounted read-only: claim it for writing',
      `[4].readOnly: ${forReaders}`,
    ]);
  });

  it('M11 of one volume: each with its place in the request', () => {
    const usage = { ...use, accessMode: 'multi-node-reader-only', fsType: '', readOnly: false } as const;
    expect(faultsOf(() => knownMount({ volume: { id: 'data' }, allocId: 'web', usage }))).to.have.members([
      'usage.fsType: must not be empty',
      'usage.readOnly: multi-node-reader-only is for reading only: leave it out, or ask for another mode',
    ]);
    const block = { ...use, attachmentMode: 'block-device', fsType: 'ext4' } as const;
    expect(faultsOf(() => knownMount({ volume: { id: 'data' }, allocId: 'web', usage: block }))).to.deep.equal([
      'usage.fsType: is for file systems: leave it out for a block device',
    ]);
  });

  it('M11 read-only where that is asked for, or nobody may write', () => {
    const readOnly = (more: Partial<AllocVolumeRequest>): boolean | undefined =>
      knownVolumes([wanted('data', more)])[0]?.readOnly;
    expect(readOnly({})).to.equal(false);
    expect(readOnly({ readOnly: true })).to.equal(true);
    expect(readOnly({ mode: 'read' })).to.equal(true);
    expect(readOnly({ accessMode: 'single-node-reader-only' })).to.equal(true);
  });
});
