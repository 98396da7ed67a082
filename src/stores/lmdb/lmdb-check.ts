/**
 * Finds a damaged database before this process maps it: LMDB trusts its pages, and a damaged one ends the process, or hides
 * rows. A store that was not closed, or whose file has changed since, is read as a whole by a process of its own, once.
 * docs/decisions/0031-a-damaged-part-stops-no-other.md
 */
import { spawn } from 'node:child_process';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { StagecraftError } from '../../errors.js';

/** File beside the database that says in which state the store was closed. Absent: it was not, or it is open. */
const markIn = (path: string): string => join(path, 'closed');

/** Longest time to read a database. */
const patienceMs = 600_000;

/** Signals by which a process ends that reads damaged pages. */
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGBUS', 'SIGSEGV', 'SIGFPE']);

/** Words of LMDB or the C library before SIGABRT if damaged pages are the reason. Another one is lack of memory. */
const damageAtAbort =
  /^\S*mdb\.c:|^(malloc|free|realloc|corrupted|double free|munmap_chunk|Fatal glibc error: malloc)/m;

/** Exit status of the reader if the database is damaged; its output is the fault. */
const damagedStatus = 20;

/** Errors of LMDB that damaged pages cause: BAD_TXN, INCOMPATIBLE, INVALID, VERSION_MISMATCH, PANIC, CORRUPTED, PAGE_NOTFOUND. */
const damageCodes = [-30782, -30784, -30793, -30794, -30795, -30796, -30797];

/** Reads all rows in the order of their keys. Arguments: module of LMDB, directory, names of the databases. */
const reader = `
const [, lmdb, path, ...names] = process.argv;
const { open } = require(lmdb);
const fail = (fault) => {
  require('fs').writeSync(1, fault);
  process.exit(${damagedStatus});
};
try {
  const root = open({ path, noSubdir: false, readOnly: true, encoding: 'string', maxDbs: 16 });
  for (const name of names) {
    const rows = root.openDB({ name, encoding: 'string', keyEncoding: 'binary' });
    if (!rows) continue;
    const { entryCount } = rows.getStats();
    let count = 0;
    let last;
    for (const { key } of rows.getRange()) {
      count += 1;
      if (count > entryCount || (last && Buffer.compare(last, key) >= 0)) fail(name + ' are out of order');
      last = key;
    }
    if (count !== entryCount) fail(name + ' has ' + count + ' rows of ' + entryCount);
  }
} catch (error) {
  if (${JSON.stringify(damageCodes)}.includes(error.code)) fail(error.message);
  throw error;
}
`;

/**
 * Reads a database as a whole, unless it is as it was when it was closed. From then on it counts as open.
 * @param names of the databases
 * @throws {StagecraftError} STORE_DAMAGED
 */
export async function checkDatabase(path: string, names: readonly string[]): Promise<void> {
  const mark = await readFile(markIn(path), 'utf8').catch(() => undefined);
  if (mark === undefined || mark !== (await stateOf(path))) {
    const fault = await faultIn(path, names);
    if (fault !== undefined) throw damaged(path, fault);
  }
  await rm(markIn(path), { force: true });
}

/** Notes that the database is closed. Where that fails, as on a full disk, the next open reads it as a whole. */
export async function noteClosed(path: string): Promise<void> {
  await stateOf(path)
    .then((state) => writeFile(markIn(path), state, { mode: 0o600 }))
    .catch(() => {});
}

export const damaged = (path: string, why: string): StagecraftError =>
  new StagecraftError(
    'STORE_DAMAGED',
    `the store in ${path} is damaged: ${why}. Restore that directory from a backup; or move it away to begin without any record: volumes are at their plugins still, but not known then`,
  );

/** State of the file: it changes with each write. */
async function stateOf(path: string): Promise<string> {
  const { size, mtimeNs } = await stat(join(path, 'data.mdb'), { bigint: true });
  return `${size} bytes, written at ${mtimeNs}\n`;
}

/** @returns undefined: all rows can be read @throws {Error} if the database could not be read for another reason */
function faultIn(path: string, names: readonly string[]): Promise<string | undefined> {
  const lmdb = createRequire(import.meta.url).resolve('lmdb');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=commonjs', '--eval', reader, '--', lmdb, path, ...names], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    });
    let verdict = '';
    let errors = '';
    child.stdout.on('data', (text: Buffer) => {
      verdict += text;
    });
    child.stderr.on('data', (text: Buffer) => {
      if (errors.length < 10_000) errors += text;
    });
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (status === 0) resolve(undefined);
      else if (status === damagedStatus) resolve(verdict);
      else if (signal && (crashes.has(signal) || (signal === 'SIGABRT' && damageAtAbort.test(errors))))
        resolve(`reading it ends with ${signal}`);
      else reject(new Error(unreadWords(signal ?? `exit status ${status}`, errors)));
    });
  });
}

const unreadWords = (end: string, errors: string): string =>
  `it was not closed by its last user, and the process that reads it as a whole first ended with ${end}${reasonIn(errors)}. Nothing says that it is damaged: mend that, then start again`;

/** The line that names the error, or the first one. */
function reasonIn(errors: string): string {
  const named = /^(?:\w*Error|FATAL ERROR): (.*)$/m.exec(errors)?.[1];
  const reason = named ?? errors.trim().split('\n')[0];
  return reason ? `: ${reason}` : '';
}
