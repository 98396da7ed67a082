/** A damaged LMDB database: found at the open by a process that may die of it, and named. */
import { cp, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { lmdbStore } from '../../src/stores/lmdb/lmdb.js';
import { plainCommit, rejectionOf } from '../../src/tools/store-suite/subject.js';

const pageBytes = 4_096;

describe('lmdb store, damaged', () => {
  let home: string;
  let path: string;
  let file: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'stagecraft-damage-'));
    path = join(home, 'state');
    file = join(path, 'data.mdb');
    const store = lmdbStore(path);
    await store.open();
    const text = JSON.stringify({ spec: 'x'.repeat(300) });
    await store.commit(Array.from({ length: 100 }, (_, i) => plainCommit(`volume/default/v${i}`, 0, { text })));
    await store.close();
  });

  afterEach(() => rm(home, { recursive: true }));

  /** Opens and closes the store. @returns number of its records */
  async function reopened(): Promise<number> {
    const store = lmdbStore(path);
    await store.open();
    const { rows } = await store.list({ prefix: '', limit: 1_000 });
    await store.close();
    return rows.length;
  }

  const damage = async (): Promise<Error> => {
    const error = await rejectionOf(lmdbStore(path).open());
    expect(error).to.include({ code: 'STORE_DAMAGED' });
    expect(error.message).to.include(`the store in ${path} is damaged: `).and.include('Restore that directory');
    return error;
  };

  /** Pages that hold rows: each has its own number, and the flag of a leaf. */
  const leavesIn = (bytes: Buffer): number[] =>
    Array.from({ length: bytes.length / pageBytes }, (_, page) => page).filter((page) => {
      const at = page * pageBytes;
      return page > 1 && bytes.readBigUInt64LE(at) === BigInt(page) && bytes.readUInt16LE(at + 18) === 2;
    });

  it('34.18 as it was closed: opened without being read as a whole', async () => {
    expect(await reopened()).to.equal(100);
    // A file that nobody wrote since is not read: its mark says so.
    const mark = await readFile(join(path, 'closed'), 'utf8');
    expect(mark).to.match(/^\d+ bytes, written at \d+\n$/);
  });

  it('34.18 pages of large values are cut off at its end: STORE_DAMAGED', async () => {
    const store = lmdbStore(path);
    await store.open();
    const text = JSON.stringify({ spec: 'x'.repeat(6_000) });
    await store.commit(Array.from({ length: 30 }, (_, i) => plainCommit(`volume/default/w${i}`, 0, { text })));
    await store.close();
    const { length } = await readFile(file);
    await truncate(file, length - 2 * pageBytes);
    await damage();
  });

  it('34.18 not closed, but whole: opened', async () => {
    await rm(join(path, 'closed'));
    expect(await reopened()).to.equal(100);
  });

  it('34.18 a copy: opened', async () => {
    await cp(path, join(home, 'copy'), { recursive: true });
    path = join(home, 'copy');
    expect(await reopened()).to.equal(100);
  });

  for (const [situation, preload, why] of [
    ['lacks a module', `require('/nowhere')`, "Cannot find module '/nowhere'"],
    ['gets an error of the disk', `throw Object.assign(new Error('EIO: i/o error'), { code: 5 })`, 'EIO: i/o error'],
    [
      'ends for lack of memory',
      `require('fs').writeSync(2, 'FATAL ERROR: out of memory\\n'); process.abort()`,
      'SIGABRT: out of memory',
    ],
    ['is killed', `process.kill(process.pid, 'SIGKILL')`, 'SIGKILL'],
  ] as const)
    it(`34.18 the process that reads it ${situation}: refused, but not as damaged`, async () => {
      await rm(join(path, 'closed'));
      const preloaded = join(home, 'preload.cjs');
      await writeFile(preloaded, preload);
      const { NODE_OPTIONS } = process.env;
      process.env.NODE_OPTIONS = `--require=${preloaded}`;
      try {
        const error = await rejectionOf(lmdbStore(path).open());
        expect(error).to.include({ code: 'STORE_UNUSABLE' });
        expect(error.message).to.include(`the store in ${path} can't be opened: `).and.include(why);
      } finally {
        if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
        else process.env.NODE_OPTIONS = NODE_OPTIONS;
      }
      expect(await reopened()).to.equal(100);
    });

  it('34.18 cut off in the middle: refused', async () => {
    const { length } = await readFile(file);
    await truncate(file, Math.floor(length / 2 / pageBytes) * pageBytes);
    await damage();
  });

  it('34.18 a file of 0 bytes beside a lock file: refused, and it stays as it is', async () => {
    await truncate(file, 0);
    expect((await damage()).message).to.match(/data\.mdb is empty.*never used.*move it away/);
    expect(await readFile(file)).to.have.length(0);
  });

  it('34.18 a file that is missing beside a lock file: refused', async () => {
    await rm(file);
    expect((await damage()).message).to.match(/data\.mdb is missing.*never used.*move it away/);
  });

  it('34.18 a file of which nobody can tell whether it is there: refused with that reason, not as missing', async () => {
    await rm(file);
    await symlink(file, file);
    const error = await rejectionOf(lmdbStore(path).open());
    expect(error).to.include({ code: 'STORE_UNUSABLE' });
    expect(error.message).to.include('ELOOP');
  });

  it('34.18 both meta pages overwritten: refused', async () => {
    const bytes = await readFile(file);
    await writeFile(file, bytes.fill(0, 0, 2 * pageBytes));
    expect((await damage()).message).to.include('data.mdb is no LMDB database');
  });

  it('34.18 pages of rows swapped: refused, though each can be read', async () => {
    const bytes = await readFile(file);
    const leaves = leavesIn(bytes);
    const [one = 0, other = 0] = [leaves[2], leaves.at(-3)];
    const swapped = Buffer.from(bytes);
    bytes.copy(swapped, one * pageBytes, other * pageBytes, (other + 1) * pageBytes);
    bytes.copy(swapped, other * pageBytes, one * pageBytes, (one + 1) * pageBytes);
    await writeFile(file, swapped);
    expect((await damage()).message).to.match(/are out of order|rows of/);
  });

  it('34.18 pages of rows overwritten with garbage: refused, and this process lives', async () => {
    const bytes = await readFile(file);
    for (const page of leavesIn(bytes)) bytes.fill(0xa5, page * pageBytes + 16, (page + 1) * pageBytes);
    await writeFile(file, bytes);
    await damage();
  });
});
