/** What the kernel shows at a path, held against what was mounted there. */
import { expect } from 'chai';
import type { KernelMount } from '../../machines/mount-types.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { coverOf, strangerAt } from '../../src/mounts/mount-seen.js';

const path = '/d/t';

/** @param shown each on the one before: device, root and type */
const tableOf = (...shown: string[]): MountTable => {
  const lines = shown.map((what, at) => {
    const [device, root, fsType] = what.split(' ');
    return `${at + 2} ${at + 1} ${device} ${root} ${path} rw - ${fsType} s rw`;
  });
  return new MountTable(parseMountInfo(['1 0 8:1 / / rw - ext4 a rw', ...lines].join('\n')));
};

describe('what lies over what was mounted', () => {
  const own = { device: '8:16', root: '/', fsType: 'ext4' };

  it('M12 is on top of it; in its place, as where its plugin has made it anew, it lies over nothing', () => {
    expect(coverOf(tableOf('8:16 / ext4', '0:90 / tmpfs'), path, own)?.fsType).to.equal('tmpfs');
    expect(coverOf(tableOf('8:16 / ext4'), path, own)).to.equal(undefined);
    expect(coverOf(tableOf('0:90 / nfs4'), path, { device: '0:80', root: '/', fsType: 'nfs4' })).to.equal(undefined);
    expect(coverOf(tableOf(), path, own)).to.equal(undefined);
  });

  it('M12 of what was not looked at then, only what hides all of the path', () => {
    expect(coverOf(tableOf('8:16 / ext4', '0:90 / tmpfs'), path, undefined)).to.equal(undefined);
    const lines = ['1 0 8:1 / / rw - ext4 a rw', `2 1 8:16 / ${path} rw - ext4 s rw`, '3 1 0:90 / /d rw - tmpfs t rw'];
    expect(coverOf(new MountTable(parseMountInfo(lines.join('\n'))), path, undefined)?.path).to.equal('/d');
  });
});

describe('what is seen at a path in place of what was mounted there', () => {
  const seen = (what: string, found: KernelMount = { device: '8:2', root: '/data' }) =>
    strangerAt(tableOf(what), path, found);

  it('M6 what was removed while it was mounted is still the same', () => {
    expect(seen('8:2 /data//deleted ext4')).to.equal(undefined);
  });

  it('M12 another directory of the same file system is a stranger, and so is the same one of another', () => {
    const shown = [seen('8:2 /other ext4')?.root, seen('8:3 /data ext4')?.device, seen('8:2 /data ext4')];
    expect(shown).to.deep.equal(['/other', '8:3', undefined]);
  });

  it('M6 M12 what a process serves is taken for ours only where that was of its kind', () => {
    const own = { device: '8:16', root: '/', fsType: 'ext4' };
    expect(strangerAt(tableOf('8:16 / ext4', '0:90 / fuse.sshfs'), path, own)?.fsType).to.equal('fuse.sshfs');
    expect(seen('0:91 / fuse.sshfs', { device: '0:90', root: '/', fsType: 'fuse.sshfs' })).to.equal(undefined);
    expect(seen('0:91 / fuse.s3', { device: '0:90', root: '/', fsType: 'fuse.sshfs' })?.fsType).to.equal('fuse.s3');
  });

  it('M12 a device whose number another file system has got since is a stranger', () => {
    expect(seen('0:50 / tmpfs', { device: '0:50', root: '/', fsType: 'nfs4' })?.fsType).to.equal('tmpfs');
  });

  it('M6 of what was found before its type was kept, what a process serves is taken for ours', () => {
    expect(seen('0:91 / fuse.sshfs', { device: '0:90', root: '/' })).to.equal(undefined);
  });
});
