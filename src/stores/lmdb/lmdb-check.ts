/**
 * Finds a damaged database before this process maps it. A store that was not closed, or whose file has changed since, is read
 * as a whole, once, by a process of its own: lmdb-reader.ts. docs/decisions/0031-a-damaged-part-stops-no-other.md
 */
import { type FileHandle, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StagecraftError } from '../../errors.js';
import { type Reading, readDatabase } from './lmdb-reader.js';

/** File of the rows in the directory of a store. LMDB fixes its name, and that of the lock file. */
const rowsIn = (path: string): string => join(path, 'data.mdb');
const lockIn = (path: string): string => join(path, 'lock.mdb');

/** File beside the database that says in which state the store was closed. Absent: it was not, or it is open. */
const markIn = (path: string): string => join(path, 'closed');

/**
 * Reads a database as a whole, unless there is none, or it is as it was when it was closed. From then on it counts as open.
 * @throws {StagecraftError} STORE_DAMAGED
 * @throws {Error} if it could not be read for another reason
 */
export async function checkDatabase(path: string): Promise<void> {
  if (!(await isUsed(path))) return;
  if (!(await isAsClosed(path))) await countIn(path, { path });
  await rm(markIn(path), { force: true });
}

interface Counted {
  /** Beginning of the addresses that count. */
  prefix: string;
  /** Ends the process that reads. */
  signal: AbortSignal;
}

/**
 * Counts the records of a store that nobody has open; 0 if there is no store. Changes nothing in its directory. Reads the whole
 * database, unless it is as it was when it was closed. The process that reads has ended when this settles.
 * @throws {StagecraftError} STORE_DAMAGED
 * @throws {Error} if it could not be read for another reason, as the end of `signal`
 */
export async function countRecords(path: string, { prefix, signal }: Counted): Promise<number> {
  if (!(await isUsed(path))) return 0;
  const tables = (await isAsClosed(path)) ? ['records'] : [];
  // LMDB writes into the lock file beside the file that it opens, also to read.
  const beside = await mkdtemp(join(tmpdir(), 'stagecraft-count-'));
  try {
    await symlink(rowsIn(resolve(path)), rowsIn(beside));
    return await countIn(path, { path: beside, tables, prefix, signal });
  } finally {
    await rm(beside, { recursive: true });
  }
}

/** Notes that the database is closed. Where that fails, as on a full disk, the next open reads it as a whole. */
export async function noteClosed(path: string): Promise<void> {
  await stateOf(path)
    .then((state) => writeFile(markIn(path), state, { mode: 0o600 }))
    .catch(() => {});
}

async function countIn(path: string, reading: Reading): Promise<number> {
  const found = await readDatabase(reading);
  if (typeof found !== 'number') throw damaged(path, found.fault);
  return found;
}

const damaged = (path: string, why: string): StagecraftError =>
  new StagecraftError(
    'STORE_DAMAGED',
    `the store in ${path} is damaged: ${why}. Restore that directory from a backup; or move it away to begin without any record: volumes are at their plugins still, but not known then`,
  );

async function isAsClosed(path: string): Promise<boolean> {
  const mark = await readFile(markIn(path), 'utf8').catch(() => undefined);
  return mark !== undefined && mark === (await stateOf(path));
}

/** State of the file: it changes with each write. */
async function stateOf(path: string): Promise<string> {
  const { size, mtimeNs } = await stat(rowsIn(path), { bigint: true });
  return `${size} bytes, written at ${mtimeNs}\n`;
}

/**
 * Tells whether the directory has a database. Refuses a file before LMDB does: lmdb-js 3.5.6 frees memory twice if it cannot
 * open one, which may end the process.
 */
async function isUsed(path: string): Promise<boolean> {
  const file = rowsIn(path);
  const size = await sizeOf(file);
  // LMDB makes both files at once, and would take the missing one for a new store.
  if (!size && (await sizeOf(lockIn(path))) !== undefined) {
    const fault = `${file} is ${size === 0 ? 'empty' : 'missing'}`;
    throw damaged(path, `${fault}. If the store was never used, as its first start was killed: move it away`);
  }
  if (!size) return false;
  if (!(await isDatabase(file))) throw damaged(path, `${file} is no LMDB database`);
  return true;
}

/** Size of a file in bytes; undefined: there is none. @throws {Error} if that can't be known */
async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A database begins with two meta pages, each with a magic and a version. */
async function isDatabase(path: string): Promise<boolean> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r+');
    const { buffer } = await file.read(Buffer.alloc(32), 0, 32, 0);
    return buffer.readUInt32LE(24) === 0xbeefc0de && buffer.readUInt16LE(28) === 2;
  } finally {
    await file?.close();
  }
}
