/** The mount table as the kernel writes it: any table comes out as it went in, and real mounts are found at any path. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { readMountTable } from '../../src/host/mount-info.js';
import { type MountEntry, type Propagation, parseMountInfo } from '../../src/host/mount-table.js';

/** As seq_path() of the kernel does: unicode stays. */
const escaped = (text: string, characters = / |\t|\n|\\/g): string =>
  text.replace(characters, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const optionalFields: Record<Propagation, string[][]> = {
  shared: [['shared:3'], ['shared:3', 'master:2'], ['shared:3', 'master:2', 'propagate_from:1']],
  slave: [['master:2'], ['master:2', 'propagate_from:1']],
  private: [[]],
  unbindable: [['unbindable']],
};

interface Rendered {
  entry: MountEntry;
  line: string;
}

const oddPart = fc.constantFrom(
  ' ',
  '\t',
  '\n',
  '\\',
  '040',
  '\\040',
  '-',
  ' - ',
  ',',
  '#',
  'ü',
  '日',
  '😀',
  "'",
  '"',
  'a',
);
const name = fc.oneof(
  fc.array(oddPart, { minLength: 1, maxLength: 20 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }).filter((text) => !/[/\0]/.test(text)),
);
const path = fc.oneof(
  fc.array(name, { maxLength: 6 }).map((names) => `/${names.join('/')}`),
  // As long as the kernel takes one.
  fc.constantFrom('a', 'ü', '\\', ' ').map((letter) => `/${letter.repeat(200)}`.repeat(10)),
);
const root = fc.tuple(path, fc.boolean()).map(([at, isRemoved]) => (isRemoved ? `${at}//deleted` : at));

const rendered: fc.Arbitrary<Rendered> = fc
  .record({
    id: fc.nat(),
    parentId: fc.nat(),
    device: fc.tuple(fc.nat(4_095), fc.nat(1_048_575)).map(([major, minor]) => `${major}:${minor}`),
    root,
    path,
    options: fc.subarray(['ro', 'rw', 'nosuid', 'noexec', 'relatime'], { minLength: 1 }).map((list) => new Set(list)),
    propagation: fc.constantFrom<Propagation>('shared', 'slave', 'private', 'unbindable'),
    isWholeReadOnly: fc.boolean(),
    fsType: fc.constantFrom('ext4', 'fuse.s3 fs', 'fuse.a#b', 'tmpfs', 'nfs4'),
    origin: name,
  })
  .chain(({ isWholeReadOnly, ...said }) => {
    const entry: MountEntry = { ...said, isReadOnly: said.options.has('ro') || isWholeReadOnly };
    return fc.record({
      entry: fc.constant(entry),
      line: fc.record({ optional: fc.constantFrom(...optionalFields[entry.propagation]) }).map(({ optional }) => {
        const place = [entry.device, escaped(entry.root), escaped(entry.path), [...entry.options].join(',')];
        const type = escaped(entry.fsType, / |#/g);
        const origin = escaped(entry.origin, / |\t|\n|\\|#/g);
        const ofAll = isWholeReadOnly ? 'ro,size=4k' : 'rw,size=4k';
        return [entry.id, entry.parentId, ...place, ...optional, '-', type, origin, ofAll].join(' ');
      }),
    });
  });

describe('mount info', () => {
  it('M6 any table as the kernel writes it comes out as it went in', () => {
    fc.assert(
      fc.property(fc.array(rendered, { maxLength: 12 }), (table) => {
        const text = table.map(({ line }) => `${line}\n`).join('');
        expect(parseMountInfo(text)).to.deep.equal(table.map(({ entry }) => entry));
      }),
    );
  });

  describe('of this host', () => {
    let folder: string;
    const mounted: string[] = [];

    beforeEach(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'stagecraft-mounts-')));
    });
    afterEach(() => {
      for (const path of mounted.splice(0)) execFileSync('umount', ['--lazy', '--no-canonicalize', path]);
      rmSync(folder, { recursive: true });
    });

    const bind = (source: string, target: string): void => {
      for (const path of [source, target]) mkdirSync(path, { recursive: true });
      execFileSync('mount', ['--bind', source, target]);
      mounted.push(target);
    };

    for (const [what, odd] of [
      ['spaces', ' a  b '],
      ['tabs', 'a\tb\t'],
      ['newlines', 'a\nb\n'],
      ['backslashes', '\\a\\\\b\\040'],
      ['unicode', 'Übung-日本-😀-e\u0301'],
      ['200 characters', 'long name \\'.repeat(20)],
      ['each control character', String.fromCharCode(...Array.from({ length: 31 }, (_, at) => at + 1), 127)],
      ['what looks like the end of the fields', 'a - ext4 # b'],
    ] as const) {
      it(`M6 a real bind mount at a path with ${what} is found again`, async () => {
        const [source, target] = [join(folder, 'from', odd), join(folder, 'to', odd)];
        bind(source, target);
        const table = await readMountTable();
        const [entry] = table.at(target);
        expect(entry?.path).to.equal(target);
        const { device, root } = table.sourceOf(source);
        expect(entry).to.include({ device, root });
        expect(entry?.fsType).to.equal(table.holderOf(folder).fsType);
      });
    }

    it('M6 of a table that is longer than what one read takes nothing is missing', async () => {
      const long = join(...Array.from({ length: 17 }, () => 'x'.repeat(200)));
      const targets = Array.from({ length: 12 }, (_, at) => join(folder, `to-${at}`, long));
      for (const target of targets) bind(join(folder, 'from', long), target);
      const table = await readMountTable();
      for (const target of targets) expect(table.at(target).map(({ path }) => path)).to.deep.equal([target]);
      for (const target of mounted.splice(0)) execFileSync('umount', ['--no-canonicalize', target]);
      const now = await readMountTable();
      for (const target of targets) expect(now.at(target)).to.deep.equal([]);
    });

    it('M6 a mount whose source was removed is found, and says so', async () => {
      const [source, target] = [join(folder, 'from here'), join(folder, 'to')];
      bind(source, target);
      const before = (await readMountTable()).sourceOf(source);
      rmdirSync(source);
      const [entry] = (await readMountTable()).at(target);
      expect(entry?.root).to.equal(`${before.root}//deleted`);
    });

    for (const propagation of ['shared', 'private', 'unbindable'] as const) {
      it(`a mount that was made ${propagation} says so`, async () => {
        const target = join(folder, 'to');
        bind(join(folder, 'from'), target);
        execFileSync('mount', [`--make-${propagation}`, target]);
        expect((await readMountTable()).at(target)[0]?.propagation).to.equal(propagation);
      });
    }

    it('a mount that follows a shared one says that it is its slave', async () => {
      const [target, follower] = [join(folder, 'to'), join(folder, 'follower')];
      bind(join(folder, 'from'), target);
      execFileSync('mount', ['--make-shared', target]);
      bind(target, follower);
      execFileSync('mount', ['--make-slave', follower]);
      expect((await readMountTable()).at(follower)[0]?.propagation).to.equal('slave');
    });
  });

  const line = (path: string): string => `2 1 8:1 / ${path} rw - ext4 /dev/sda1 rw\n`;

  it('M6 a table that changes while it is read is read until two reads agree', async () => {
    const texts = ['/a', '/b', '/c', '/c', '/d'].map(line);
    const table = await readMountTable(async () => texts.shift() ?? '');
    expect(table.entries.map(({ path }) => path)).to.deep.equal(['/c']);
    expect(texts).to.deep.equal([line('/d')]);
  });

  it('M6 a table that never stands still is told so', async () => {
    let reads = 0;
    const failed = readMountTable(async () => line(`/${reads++}`)).catch((error: unknown) => error);
    expect(String(await failed)).to.include('changed during each of 20 reads: ask again');
  });
});
