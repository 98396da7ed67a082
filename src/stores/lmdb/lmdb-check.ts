/**
 * Finds a damaged database before this process maps it. A store that was not closed, or whose file has changed since, is read
 * as a whole, once, by a process of its own: LMDB trusts its pages, and a damaged one ends the process that reads it, or hides
 * rows. docs/decisions/0031-a-damaged-part-stops-no-other.md
 */
import { spawn } from 'node:child_process';
import { type FileHandle, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { StagecraftError } from '../../errors.js';

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

/** Longest time to read a database. */
const patienceMs = 600_000;

/** Signals by which a process ends that reads damaged pages. */
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGBUS', 'SIGSEGV', 'SIGFPE']);

/** Words of LMDB or the C library before SIGABRT if damaged pages are the reason. Another one is lack of memory. */
const damageAtAbort =
  /^\S*mdb\.c:|^(malloc|free|realloc|corrupted|double free|munmap_chunk|Fatal glibc error: malloc)/m;

/** Exit status of the reader if the database is damaged; its output is the fault. Else its output is the count. */
const damagedStatus = 20;

/** Errors of LMDB that damaged pages cause: BAD_TXN, INCOMPATIBLE, INVALID, VERSION_MISMATCH, PANIC, CORRUPTED, PAGE_NOTFOUND. */
const damageCodes = [-30782, -30784, -30793, -30794, -30795, -30796, -30797];

/**
 * Reads all rows in the order of their keys, and counts the records under a prefix. Arguments: module of LMDB, directory,
 * prefix, names of the tables; none named: all.
 */
const reader = `
const [, lmdb, path, prefix, ...named] = process.argv;
const { open } = require(lmdb);
const fail = (fault) => {
  require('fs').writeSync(1, fault);
  process.exit(${damagedStatus});
};
const keysOf = function* (table, name, isWhole) {
  const { entryCount } = table.getStats();
  let count = 0;
  let last;
  // Large values lie on pages of their own, which no look at keys touches.
  for (const key of isWhole ? table.getRange().map((row) => row.key) : table.getKeys()) {
    count += 1;
    if (count > entryCount || (last && Buffer.compare(last, key) >= 0)) fail(name + ' are out of order');
    last = key;
    yield key;
  }
  if (count !== entryCount) fail(name + ' has ' + count + ' rows of ' + entryCount);
};
try {
  const root = open({ path, noSubdir: false, readOnly: true, encoding: 'string', keyEncoding: 'binary', maxDbs: 16 });
  const names = named.length > 0 ? named : [...keysOf(root, 'tables')].map((key) => String(key).replace('\\0', ''));
  let found = 0;
  for (const name of names) {
    const rows = root.openDB({ name, encoding: 'string', keyEncoding: 'binary' });
    for (const key of keysOf(rows, name, named.length === 0)) if (name === 'records' && String(key).startsWith(prefix)) found += 1;
  }
  require('fs').writeSync(1, String(found));
} catch (error) {
  if (${JSON.stringify(damageCodes)}.includes(error.code)) fail(error.message);
  throw error;
}
`;

interface Reading {
  /** Directory with `data.mdb` and its lock file. */
  path: string;
  /** Names of tables. Default: all. */
  tables?: readonly string[];
  /** Beginning of the addresses of the records to be counted. Default: those of all. */
  prefix?: string;
  /** Ends the process. */
  signal?: AbortSignal;
}

/**
 * Resolves once the process has ended, with the number of records, or with the fault of a damaged database.
 * @throws {Error} if the database could not be read for another reason
 */
function readDatabase({ path, tables = [], prefix = '', signal }: Reading): Promise<number | { fault: string }> {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  const args = ['--input-type=commonjs', '--eval', reader, '--', lmdb, path, prefix, ...tables];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    });
    let output = '';
    let errors = '';
    let failure: Error | undefined;
    child.stdout.on('data', (text: Buffer) => {
      output += text;
    });
    child.stderr.on('data', (text: Buffer) => {
      if (errors.length < 10_000) errors += text;
    });
    // Comes before the end where the signal is the reason. Without a process it is the only event.
    child.on('error', (error) => {
      failure = error;
      if (child.pid === undefined) reject(error);
    });
    child.on('close', (status, ended) => {
      if (failure) reject(failure);
      else if (status === 0) resolve(Number(output));
      else if (status === damagedStatus) resolve({ fault: output });
      else if (ended && (crashes.has(ended) || (ended === 'SIGABRT' && damageAtAbort.test(errors))))
        resolve({ fault: `reading it ends with ${ended}` });
      else reject(new Error(unreadWords(ended ?? `exit status ${status}`, errors)));
    });
  });
}

const unreadWords = (end: string, errors: string): string =>
  `the process that reads it as a whole ended with ${end}${reasonIn(errors)}. Nothing says that it is damaged: mend that, then start again`;

/** The line that names the error, or the first one. */
function reasonIn(errors: string): string {
  const named = /^(?:\w*Error|FATAL ERROR): (.*)$/m.exec(errors)?.[1];
  const reason = named ?? errors.trim().split('\n')[0];
  return reason ? `: ${reason}` : '';
}
