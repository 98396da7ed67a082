/** The mount table as text: whatever a path has in it, and whatever is mounted over what. */
import { expect } from 'chai';
import fc from 'fast-check';
import { isRemoved, isSameSource, MountTable, parseMountInfo } from '../../src/host/mount-table.js';

const escaped = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

interface Line {
  id: number;
  parent: number;
  path: string;
  root?: string;
  device?: string;
  options?: string;
}

const line = ({ id, parent, path, root = '/', device = '8:1', options = 'rw,relatime' }: Line): string =>
  `${id} ${parent} ${device} ${escaped(root)} ${escaped(path)} ${options} shared:1 - ext4 /dev/sda1 rw\n`;

const tableOf = (...lines: Line[]): MountTable => new MountTable(parseMountInfo(lines.map(line).join('')));

const host: Line = { id: 1, parent: 0, path: '/' };

const segment = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\\', '040', '\\134', 'a', 'ü', '日', "'", '"', '#', '-'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => `/${segments.join('/')}`);

describe('mount table', () => {
  it('any path comes out as it is', () => {
    fc.assert(
      fc.property(path, path, (root, at) => {
        const [entry] = parseMountInfo(line({ id: 7, parent: 1, path: at, root, options: 'ro,noexec' }));
        expect(entry).to.deep.equal({
          id: 7,
          parentId: 1,
          device: '8:1',
          root,
          path: at,
          options: new Set(['ro', 'noexec']),
          propagation: 'shared',
          fsType: 'ext4',
          origin: '/dev/sda1',
          isReadOnly: true,
        });
      }),
    );
  });

  it('34.30 a file system that takes no writes is read-only, whatever the kernel calls that', () => {
    const entries = ['rw', 'ro', 'rw,errors=remount-ro', 'rw,emergency_ro', 'rw,shutdown'].map((options) =>
      parseMountInfo(`22 1 8:1 / /v rw - ext4 /dev/sda1 ${options}`),
    );
    expect(entries.map(([entry]) => entry?.isReadOnly)).to.deep.equal([false, true, false, true, true]);
  });

  it('a bind mount of any path is known by what that path would show', () => {
    fc.assert(
      fc.property(path, path, (source, target) => {
        const table = tableOf(host, { id: 2, parent: 1, path: target, root: source });
        fc.pre(!source.startsWith(target));
        expect(table.at(target).map(({ root }) => root)).to.deep.equal([source]);
        expect(isSameSource(table.sourceOf(target), table.sourceOf(source))).to.equal(true);
        expect(table.sourceOf(`${target}/x`)).to.deep.equal({ device: '8:1', root: `${source}/x` });
      }),
    );
  });

  it('takes lines without and with many optional fields', () => {
    const entries = parseMountInfo(
      '22 1 0:21 / /proc rw - proc proc rw\n23 1 0:22 / /sys ro shared:2 master:1 propagate_from:3 - sysfs sysfs rw\n',
    );
    expect(
      entries.map(({ path, options, propagation, fsType }) => [path, [...options], propagation, fsType]),
    ).to.deep.equal([
      ['/proc', ['rw'], 'private', 'proc'],
      ['/sys', ['ro'], 'shared', 'sysfs'],
    ]);
  });

  for (const [fields, propagation] of [
    ['', 'private'],
    ['shared:7 ', 'shared'],
    ['master:7 ', 'slave'],
    ['master:7 propagate_from:3 ', 'slave'],
    ['shared:8 master:7 ', 'shared'],
    ['unbindable ', 'unbindable'],
    ['invented:1 shared:9 ', 'shared'],
  ]) {
    it(`'${fields}' is ${propagation}`, () => {
      const [entry] = parseMountInfo(`22 1 0:21 / /a rw ${fields}- fuse.sshfs a:/b\\040c rw\n`);
      expect(entry?.propagation).to.equal(propagation);
      expect(entry?.fsType).to.equal('fuse.sshfs');
    });
  }

  it('a line that was cut off before the type is an error that shows it', () => {
    expect(() => parseMountInfo('22 1 0:21 / /a rw shared:1 -\n')).to.throw('22 1 0:21 / /a rw shared:1');
    expect(() => parseMountInfo('22 1 0:21 / /a rw shared:1\n')).to.throw('22 1 0:21 / /a rw shared:1');
  });

  it('a line that is none is an error that shows it', () => {
    expect(() => parseMountInfo('22 1 0:21 /\n')).to.throw('22 1 0:21 /');
  });

  it('of mounts over each other the last is seen, and all are at the path', () => {
    const table = tableOf(
      host,
      { id: 2, parent: 1, path: '/a', root: '/one' },
      { id: 3, parent: 2, path: '/a', root: '/two' },
    );
    expect(table.at('/a').map(({ root }) => root)).to.deep.equal(['/one', '/two']);
    expect(table.sourceOf('/a/b').root).to.equal('/two/b');
  });

  it('a mount that another hides is at no path', () => {
    const table = tableOf(
      host,
      { id: 2, parent: 1, path: '/a/b', root: '/hidden' },
      { id: 3, parent: 1, path: '/a', root: '/over' },
    );
    expect(table.at('/a/b')).to.deep.equal([]);
    expect(table.sourceOf('/a/b').root).to.equal('/over/b');
  });

  it('a hidden mount names the mount above it; visible and absent mounts name none', () => {
    const hidden = { id: 2, parent: 1, path: '/a/b', root: '/hidden' };
    const over = { id: 3, parent: 1, path: '/a', root: '/over' };
    expect(tableOf(host, hidden, over).hiderOf('/a/b')?.id).to.equal(3);
    expect(tableOf(host, hidden, over, { ...over, id: 4, parent: 3 }).hiderOf('/a/b')?.id).to.equal(4);
    expect(tableOf(host, hidden, over, { ...hidden, id: 4, parent: 3 }).hiderOf('/a/b')).to.equal(undefined);
    expect(tableOf(host, hidden).hiderOf('/a/b')).to.equal(undefined);
    expect(tableOf(host, over).hiderOf('/a/b')).to.equal(undefined);
    expect([tableOf(host, hidden, over), tableOf(host, over)].map((table) => table.has('/a/b'))).to.deep.equal([
      ...[true, false],
    ]);
  });

  it('a path that only begins like a mount is not in it', () => {
    const table = tableOf(host, { id: 2, parent: 1, path: '/a', root: '/x' });
    expect(table.sourceOf('/ab').root).to.equal('/ab');
  });

  it('what was removed since is told from what is there in its place', () => {
    const table = tableOf(host, { id: 2, parent: 1, path: '/t', root: '/c/vol//deleted' });
    const [content, shown] = [table.sourceOf('/c/vol'), table.sourceOf('/t')];
    expect(isSameSource(shown, content)).to.equal(false);
    expect(isRemoved(shown, content)).to.equal(true);
    expect(isRemoved(shown, table.sourceOf('/c/vo'))).to.equal(false);
  });

  it('stands also where the root is not in the table', () => {
    const table = tableOf({ id: 5, parent: 4, path: '/a', root: '/x' }, { id: 6, parent: 5, path: '/a/b', root: '/y' });
    expect(table.at('/a/b').map(({ id }) => id)).to.deep.equal([6]);
    expect(() => table.sourceOf('/elsewhere')).to.throw('/elsewhere');
  });
});
