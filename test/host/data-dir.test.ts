/** The data directory: private, locked for one, with sockets that fit. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { StagecraftError } from '../../src/errors.js';
import { openDataDir } from '../../src/host/data-dir.js';

describe('data directory', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stagecraft-data-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('is made where it is not there, for its owner only', () => {
    const dataDir = openDataDir(join(directory, 'a', 'b'));
    dataDir.prepare();
    expect(statSync(dataDir.path).mode & 0o777).to.equal(0o700);
    expect(statSync(join(dataDir.path, 'plugins')).mode & 0o777).to.equal(0o700);
    dataDir.unlock();
  });

  it('A9 a second opening is refused with the pid of the first, and works once that has let go', () => {
    const first = openDataDir(directory);
    expect(() => openDataDir(directory))
      .to.throw(StagecraftError, `pid ${process.pid}`)
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
