/** What the kernel shows at a path, held against what was mounted there. */
import { expect } from 'chai';
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import { MountTable, parseMountInfo } from '../../src/host/mount-table.js';
import { observedAt, otherStagingOf } from '../../src/mounts/mount-seen.js';

const path = '/d/t';
const own = { device: '8:16', root: '/', fsType: 'ext4' };

/** @param shown each on the one before: device, root and type, and what it is mounted from, if not from `s` */
const tableOf = (...shown: string[]): MountTable => {
  const lines = shown.map((what, at) => {
    const [device, root, fsType, origin = 's'] = what.split(' ');
    return `${at + 2} ${at + 1} ${device} ${root} ${path} rw - ${fsType} ${origin} rw`;
  });
  return new MountTable(parseMountInfo(['1 0 8:1 / / rw - ext4 a rw', ...lines].join('\n')));
};

/** What is said, and of what. */
const seen = (found: KernelMount | undefined, ...shown: string[]): string => {
  const { is, ...of } = observedAt(tableOf(...shown), { path, ...(found && { found }) });
  return 'entry' in of ? `${is}: ${of.entry.device} ${of.entry.path}` : is;
};

describe('what is seen at a path, of what was mounted there', () => {
  it('M6 it is there, or nothing is', () => {
    expect(seen(own, '8:16 / ext4')).to.equal(`ours: 8:16 ${path}`);
    expect([seen(own), seen(undefined)]).to.deep.equal(['gone', 'gone']);
  });

  it('M12 something else is on top of it: it is covered; in its place: it is replaced', () => {
    expect(seen(own, '8:16 / ext4', '0:90 / tmpfs')).to.equal(`covered: 0:90 ${path}`);
    expect(seen(own, '0:90 / tmpfs')).to.equal(`replaced: 0:90 ${path}`);
    expect(seen(own, '8:32 / ext4')).to.equal(`replaced: 8:32 ${path}`);
  });

  it('M12 a mount over a parent directory covers it, also with another mount at the path', () => {
    const table = (...more: string[]): MountTable =>
      new MountTable(
        parseMountInfo(
          [
            `1 0 8:1 / / rw - ext4 a rw`,
            `2 1 8:16 / ${path} rw - ext4 s rw`,
            '3 1 0:90 / /d rw - tmpfs t rw',
            ...more,
          ].join('\n'),
        ),
      );
    for (const found of [{ found: own }, {}]) {
      const hidden = observedAt(table(), { path, ...found });
      expect(hidden).to.have.property('is', 'covered');
      expect(hidden).to.have.nested.property('entry.path', '/d');
    }
    const twice = observedAt(table(`4 3 0:91 / ${path} rw - tmpfs t rw`), { path, found: own });
    expect(twice).to.have.property('is', 'covered');
    expect(twice).to.have.nested.property('entry.device', '0:91');
  });

  it('M12 of what was not looked at then, whatever is there is taken for it', () => {
    expect(seen(undefined, '8:16 / ext4', '0:90 / tmpfs')).to.equal(`ours: 0:90 ${path}`);
  });

  it('M6 what was removed while it was mounted is still the same', () => {
    expect(seen({ device: '8:2', root: '/data' }, '8:2 /data//deleted ext4')).to.equal(`ours: 8:2 ${path}`);
  });

  it('M12 another directory of the same file system is a stranger, and so is the same one of another', () => {
    const found = { device: '8:2', root: '/data' };
    const shown = ['8:2 /other ext4', '8:3 /data ext4', '8:2 /data ext4'].map((one) => seen(found, one));
    expect(shown).to.deep.equal([`replaced: 8:2 ${path}`, `replaced: 8:3 ${path}`, `ours: 8:2 ${path}`]);
  });

  it('M6 M12 without a device, any number is ours if type and root are the same: the plugin made it again', () => {
    for (const fsType of ['nfs4', 'fuse.sshfs']) {
      const found = { device: '0:80', root: '/', fsType };
      expect(seen(found, `0:90 / ${fsType}`)).to.equal(`ours: 0:90 ${path}`);
      expect(seen(found, `0:90 /other ${fsType}`)).to.equal(`replaced: 0:90 ${path}`);
      expect(seen(found, '0:90 / fuse.s3')).to.equal(`replaced: 0:90 ${path}`);
      expect(seen(found, `8:16 / ${fsType}`)).to.equal(`replaced: 8:16 ${path}`);
      expect(seen(own, '8:16 / ext4', `0:90 / ${fsType}`)).to.equal(`covered: 0:90 ${path}`);
    }
  });

  it('M12 without a device and from another source it is a stranger, even with our number', () => {
    for (const fsType of ['nfs4', 'tmpfs', 'fuse.sshfs']) {
      const found = { device: '0:50', root: '/', fsType, origin: 'store:/x' };
      expect(seen(found, `0:50 / ${fsType} store:/x`, `0:60 / ${fsType} store:/y`)).to.equal(`covered: 0:60 ${path}`);
      for (const device of ['0:50', '0:60'])
        expect(seen(found, `${device} / ${fsType} store:/y`)).to.equal(`replaced: ${device} ${path}`);
      expect(seen(found, `0:60 / ${fsType} store:/x`)).to.equal(`ours: 0:60 ${path}`);
    }
  });

  it('M6 M12 on a disk without a number of its own, the same number is ours under any name of the disk', () => {
    for (const fsType of ['btrfs', 'bcachefs']) {
      const found = { device: '0:45', root: '/', fsType, origin: '/dev/mapper/vg-v' };
      expect(seen(found, `0:45 / ${fsType} /dev/dm-3`)).to.equal(`ours: 0:45 ${path}`);
      expect(seen(found, `0:45 / ${fsType} /dev/dm-3`, '0:90 / tmpfs')).to.equal(`covered: 0:90 ${path}`);
      expect(seen(found, `0:45 /other ${fsType} /dev/dm-3`)).to.equal(`replaced: 0:45 ${path}`);
      expect(seen(found, `0:46 / ${fsType} /dev/mapper/vg-v`)).to.equal(`ours: 0:46 ${path}`);
      expect(seen(found, `0:46 / ${fsType} /dev/dm-3`)).to.equal(`replaced: 0:46 ${path}`);
    }
  });

  it('M12 a served mount names its disk: another disk is a stranger, even with our number', () => {
    const found = { device: '0:45', root: '/', fsType: 'fuse.ext2', origin: '/dev/loop1' };
    const shown = ['/dev/loop1', '/dev/loop2'].map((origin) => seen(found, `0:45 / fuse.ext2 ${origin}`));
    expect(shown).to.deep.equal([`ours: 0:45 ${path}`, `replaced: 0:45 ${path}`]);
  });

  it('M6 what has a device of its own is ours by whatever name that is called', () => {
    expect(seen({ ...own, origin: '/dev/dm-1' }, '8:16 / ext4 /dev/mapper/x')).to.equal(`ours: 8:16 ${path}`);
  });

  it('M6 M12 over our mount it is a stranger, unless it is served and may be made again', () => {
    for (const [fsType, is] of [
      ['nfs4', 'covered'],
      ['tmpfs', 'covered'],
      ['fuse.sshfs', 'ours'],
    ] as const) {
      const found = { device: '0:80', root: '/', fsType };
      const shown = [`0:80 / ${fsType}`, `0:90 / ${fsType}`];
      expect(seen(found, ...shown)).to.equal(`${is}: 0:90 ${path}`);
      expect(seen({ ...found, origin: 's' }, ...shown)).to.equal(`${is}: 0:90 ${path}`);
    }
  });

  it('M12 a device whose number another file system has got since is a stranger', () => {
    expect(seen({ device: '0:50', root: '/', fsType: 'nfs4' }, '0:50 / tmpfs')).to.equal(`replaced: 0:50 ${path}`);
  });

  it('M6 for a record without a type, only a served mount counts as ours', () => {
    const found = { device: '0:90', root: '/' };
    const shown = ['0:91 / fuse.sshfs', '0:91 / nfs4'].map((one) => seen(found, one));
    expect(shown).to.deep.equal([`ours: 0:91 ${path}`, `replaced: 0:91 ${path}`]);
  });
});

describe('the staging path of another volume that shows what a target shows', () => {
  /** @param staged by the name of the volume: device, root, type, and what it is mounted from */
  const otherOf = (staged: Record<string, string>, target: string): string | undefined => {
    const paths = {
      ...Object.fromEntries(Object.entries(staged).map(([name, what]) => [`/s/${name}`, what])),
      '/t': target,
    };
    const lines = Object.entries(paths).map(([at, what], n) => {
      const [device, root, fsType, origin] = what.split(' ');
      return `${n + 2} 1 ${device} ${root} ${at} rw - ${fsType} ${origin} rw`;
    });
    const table = new MountTable(parseMountInfo(['1 0 8:1 / / rw - ext4 a rw', ...lines].join('\n')));
    const shown = table.at('/t').at(-1);
    if (!shown) throw new Error('no target');
    return otherStagingOf(table, shown, '/s/own');
  };

  for (const [situation, staged, target, other] of [
    ['the own disk', { own: '8:16 / ext4 b', other: '8:32 / ext4 c' }, '8:16 / ext4 b', undefined],
    ['a directory of the own disk', { own: '8:16 / ext4 b' }, '8:16 /sub ext4 b', undefined],
    ['the disk of another volume', { own: '8:16 / ext4 b', other: '8:32 / ext4 c' }, '8:32 / ext4 c', '/s/other'],
    ['that, where the own volume is staged elsewhere', { other: '8:32 / ext4 c' }, '8:32 / ext4 c', '/s/other'],
    ['a share of both volumes', { own: '0:50 / nfs4 n:/x', other: '0:50 / nfs4 n:/x' }, '0:50 / nfs4 n:/x', undefined],
    [
      'the own directory of a server',
      { own: '0:50 / nfs4 n:/x', other: '0:50 / nfs4 n:/y' },
      '0:50 / nfs4 n:/x',
      undefined,
    ],
    ['one below that', { own: '0:50 / nfs4 n:/x', other: '0:50 / nfs4 n:/y' }, '0:50 / nfs4 n:/x/sub', undefined],
    [
      'the directory of another volume',
      { own: '0:50 / nfs4 n:/x', other: '0:50 / nfs4 n:/y' },
      '0:50 / nfs4 n:/y',
      '/s/other',
    ],
  ] as const)
    it(`M12, 34.9 the target shows ${situation}: ${other ? 'found' : 'none'}`, () => {
      expect(otherOf(staged, target)).to.equal(other);
    });
});
