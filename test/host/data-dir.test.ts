/** The data directory: private, locked for one, with sockets that fit. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { openDataDir, socketRootOf } from '../../src/host/data-dir.js';

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe('data directory', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-data-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('34.10 is made where it is not there, for its owner only, as what is in it', () => {
    const dataDir = openDataDir(join(directory, 'a', 'b'));
    dataDir.prepare();
    expect([modeOf(dataDir.path), dataDir.isClosed]).to.deep.equal([0o700, true]);
    expect(modeOf(join(directory, 'a')) & 0o711).to.equal(0o711);
    for (const part of ['path-salt', 'lock']) expect(modeOf(join(dataDir.path, part))).to.equal(0o600);
    for (const part of ['plugins', 'logs']) expect(modeOf(join(dataDir.path, part))).to.equal(0o700);
    dataDir.unlock();
  });

  for (const [access, mode] of [
    ['owner', 0o700],
    ['everyone', 0o711],
    [{ group: 'daemon' }, 0o710],
    [{ group: 4242 }, 0o710],
  ] as const)
    it(`34.10 with access for ${JSON.stringify(access)} it has the mode ${mode.toString(8)}, and stays so for readers`, () => {
      const path = join(directory, 'd');
      openDataDir(path, access).unlock();
      openDataDir(path, 'unchanged').unlock();
      expect(modeOf(path)).to.equal(mode);
      if (typeof access === 'object') expect(statSync(path).gid).to.equal(access.group === 4242 ? 4242 : 1);
    });

  it('34.10 a group that is not there is refused, and nobody else passes', () => {
    const path = join(directory, 'd');
    expect(() => openDataDir(path, { group: 'never there' }))
      .to.throw(StagecraftError, /no group 'never there' is in \/etc\/group: create it/)
      .with.property('code', 'DATA_DIR_UNUSABLE');
    expect(modeOf(path)).to.equal(0o700);
    openDataDir(path).unlock();
  });

  it('34.10 each one has a salt of its own, which stays; a damaged one is refused', () => {
    const salts = ['a', 'b', 'a'].map((name) => {
      const dataDir = openDataDir(join(directory, name));
      dataDir.unlock();
      return dataDir.salt;
    });
    expect(salts[0]).to.match(/^[0-9a-f]{32}$/);
    expect([salts[1] === salts[0], salts[2]]).to.deep.equal([false, salts[0]]);
    writeFileSync(join(directory, 'a', 'path-salt'), '');
    expect(() => openDataDir(join(directory, 'a')))
      .to.throw(StagecraftError, /path-salt is damaged/)
      .with.property('code', 'DATA_DIR_UNUSABLE');
  });

  it('34.10 one that has lost its salt is refused, and stays closed', () => {
    const path = join(directory, 'd');
    openDataDir(path).unlock();
    rmSync(join(path, 'path-salt'));
    for (const access of [undefined, 'everyone'] as const)
      expect(() => openDataDir(path, access))
        .to.throw(StagecraftError, /path-salt is missing.*restore it; or unmount/)
        .with.property('code', 'DATA_DIR_UNUSABLE');
    expect(modeOf(path)).to.equal(0o700);
    rmSync(join(path, 'csi'), { recursive: true });
    const dataDir = openDataDir(path);
    dataDir.unlock();
    expect(dataDir.salt).to.match(/^[0-9a-f]{32}$/);
  });

  it('34.10 one whose salt has no mark, as after a kill, gets the mark at the next start', () => {
    const path = join(directory, 'd');
    openDataDir(path).unlock();
    rmSync(join(path, 'csi'), { recursive: true });
    openDataDir(path).unlock();
    rmSync(join(path, 'path-salt'));
    expect(() => openDataDir(path)).to.throw(StagecraftError, /path-salt is missing/);
  });

  it('34.10 one of an earlier version that its owner has closed stays closed', () => {
    for (const mode of [0o700, 0o710]) {
      const path = join(directory, mode.toString(8));
      mkdirSync(join(path, 'csi'), { recursive: true });
      writeFileSync(join(path, 'lock'), '');
      chmodSync(path, mode);
      const dataDir = openDataDir(path);
      dataDir.unlock();
      expect([modeOf(path), dataDir.isOpenAsBefore, dataDir.salt]).to.deep.equal([0o700, false, undefined]);
    }
  });

  for (const call of [1, 2])
    it(`34 killed in the first start, as it takes lock ${call}: the next start takes the directory`, () => {
      const path = join(directory, 'd');
      const calls = join(directory, 'calls');
      const script = `echo >> ${calls}; [ $(wc -l < ${calls}) -lt ${call} ] || kill -KILL $PPID`;
      writeFileSync(join(directory, 'flock'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const module = new URL('../../src/host/data-dir.ts', import.meta.url).href;
      const code = `const { openDataDir } = await import('${module}'); openDataDir('${path}');`;
      const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
      const { signal } = spawnSync(process.execPath, ['--import=tsx', '--input-type=module', '--eval', code], { env });
      expect(signal).to.equal('SIGKILL');
      openDataDir(path).unlock();
    });

  it('34.10 one of an earlier version keeps its paths, and stays open until its access is set', () => {
    const path = join(directory, 'd');
    mkdirSync(join(path, 'csi'), { recursive: true });
    writeFileSync(join(path, 'lock'), '');
    for (const [access, mode, isOpenAsBefore] of [
      [undefined, 0o711, true],
      ['owner', 0o700, false],
      ['everyone', 0o711, false],
    ] as const) {
      const dataDir = openDataDir(path, access);
      dataDir.unlock();
      expect(dataDir.salt).to.equal(undefined);
      expect([modeOf(path), dataDir.isOpenAsBefore, dataDir.isClosed]).to.deep.equal([
        ...[mode, isOpenAsBefore],
        // Its parent may be closed.
        mode === 0o700 || (statSync(directory).mode & 0o011) === 0,
      ]);
    }
  });

  it('what was open in one that was closed as a whole is closed, but for the way to volumes', () => {
    const path = join(directory, 'of an earlier version');
    mkdirSync(path, { mode: 0o700 });
    for (const part of ['state', 'letters', 'csi']) mkdirSync(join(path, part));
    for (const part of ['lock', 'letter']) writeFileSync(join(path, part), '');
    chmodSync(join(path, 'letter'), 0o4755);
    chmodSync(join(path, 'csi'), 0o711);
    writeFileSync(join(directory, 'elsewhere'), '');
    symlinkSync(join(directory, 'elsewhere'), join(path, 'link'));
    const elsewhere = modeOf(join(directory, 'elsewhere'));
    openDataDir(path).unlock();
    const modes = ['state', 'letters', 'csi', 'lock', 'letter'].map((part) => modeOf(join(path, part)).toString(8));
    expect(modes).to.deep.equal(['700', '700', '711', '600', '700']);
    expect(modeOf(join(directory, 'elsewhere'))).to.equal(elsewhere);
  });

  it('A9 a second opening in one process is refused with just that, and works once that has let go', () => {
    const first = openDataDir(directory);
    expect(() => openDataDir(directory))
      .to.throw(StagecraftError, `in use by this very process (pid ${process.pid}): close that runtime first`)
      .with.property('code', 'DATA_DIR_LOCKED');
    first.unlock();
    openDataDir(directory).unlock();
  });

  it('A9 the pid that a dead process left behind locks nobody out', () => {
    writeFileSync(join(directory, 'lock'), '1\n');
    const dataDir = openDataDir(directory);
    expect(readFileSync(join(directory, 'lock'), 'utf8')).to.equal(`${process.pid}\n`);
    dataDir.unlock();
  });

  it('a relative path is refused', () => {
    expect(() => openDataDir('state'))
      .to.throw(StagecraftError, /absolute/)
      .with.property('code', 'INVALID_ARGUMENT');
  });

  it('a file in its place is refused by name', () => {
    const path = join(directory, 'file');
    writeFileSync(path, '');
    expect(() => openDataDir(path))
      .to.throw(StagecraftError, path)
      .with.property('code', 'DATA_DIR_UNUSABLE');
  });

  it('one that holds other things is refused and left as it is, an empty one is taken', () => {
    const path = join(directory, 'others');
    mkdirSync(path, { mode: 0o755 });
    writeFileSync(join(path, 'letter'), '');
    expect(() => openDataDir(path))
      .to.throw(StagecraftError, /others: it is not empty and not a data directory of Stagecraft/)
      .with.property('code', 'DATA_DIR_UNUSABLE');
    expect(statSync(path).mode & 0o777).to.equal(0o755);
    rmSync(join(path, 'letter'));
    openDataDir(path).unlock();
    expect(modeOf(path)).to.equal(0o700);
    writeFileSync(join(path, 'letter'), '');
    openDataDir(path).unlock();
  });

  describe('without a run directory', () => {
    // Root can be anybody.
    const uid = process.getuid?.() || 4242;
    const { getuid } = process;
    const { XDG_RUNTIME_DIR, TMPDIR } = process.env;
    const long = `/${'x'.repeat(100)}`;
    let short: string;
    let folder: string;

    beforeEach(() => {
      short = mkdtempSync(join(tmpdir(), 's-'));
      folder = join(short, `stagecraft-${uid}`);
      process.getuid = () => uid;
      delete process.env.XDG_RUNTIME_DIR;
      process.env.TMPDIR = short;
    });
    afterEach(() => {
      if (getuid) process.getuid = getuid;
      if (XDG_RUNTIME_DIR !== undefined) process.env.XDG_RUNTIME_DIR = XDG_RUNTIME_DIR;
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
      rmSync(short, { recursive: true });
    });

    function makeFolder(mode: number): void {
      mkdirSync(folder, { mode });
      chownSync(folder, uid, process.getegid?.() ?? 0);
    }

    it('the link for a path that is too long is below a private directory of the user', () => {
      makeFolder(0o700);
      expect(dirname(socketRootOf(long))).to.equal(folder);
    });

    it('a directory that others may enter, a link or a file in its place are refused by name', () => {
      const elsewhere = join(directory, 'elsewhere');
      mkdirSync(elsewhere);
      const fakes = [() => makeFolder(0o755), () => symlinkSync(elsewhere, folder), () => writeFileSync(folder, '')];
      for (const fake of fakes) {
        fake();
        expect(() => socketRootOf(long))
          .to.throw(StagecraftError, folder)
          .with.property('code', 'DATA_DIR_UNUSABLE');
        rmSync(folder, { recursive: true });
      }
    });
  });

  it('one that is too long for sockets gets a short link, made anew where it was lost or led elsewhere', () => {
    const long = join(directory, 'x'.repeat(100));
    mkdirSync(long);
    const dataDir = openDataDir(long);
    dataDir.prepare();
    dataDir.prepare();
    expect(Buffer.byteLength(dataDir.socketRoot)).to.be.lessThan(48);
    expect(lstatSync(dataDir.socketRoot).isSymbolicLink()).to.equal(true);
    expect(realpathSync(dataDir.socketRoot)).to.equal(long);
    rmSync(dataDir.socketRoot);
    dataDir.unlock();
  });
});
