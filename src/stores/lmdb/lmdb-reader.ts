/**
 * Reads a database as a whole in a process of its own: LMDB trusts its pages, and a damaged one ends the process that
 * reads it, or hides rows. When a database is read: lmdb-check.ts
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';

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

export interface Reading {
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
export function readDatabase({ path, tables = [], prefix = '', signal }: Reading): Promise<number | { fault: string }> {
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
