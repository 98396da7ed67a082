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
const crashes: ReadonlySet<NodeJS.Signals> = new Set(['SIGBUS', 'SIGSEGV', 'SIGABRT', 'SIGILL', 'SIGFPE', 'SIGTRAP']);

/** Reads all rows in the order of their keys. Arguments: module of LMDB, directory, names of the databases. */
const reader = `
const [, lmdb, path, ...names] = process.argv;
const root = require(lmdb).open({ path, noSubdir: false, readOnly: true, encoding: 'string', maxDbs: 16 });
const fail = (fault) => {
  process.stdout.write(fault);
  process.exit(1);
};
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
    let said = '';
    const hear = (text: Buffer): void => {
      if (said.length < 10_000) said += text;
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (status === 0) resolve(undefined);
      else if (status !== null) resolve(lastLine(said));
      else if (signal && crashes.has(signal)) resolve(`reading it ends with ${signal}`);
      else reject(new Error(`it could not be read to its end: the process that reads it was ended by ${signal}`));
    });
  });
}

/** The fault, or the error of LMDB: the first line of a stack that names it. */
const lastLine = (said: string): string => /^\w*Error: (.*)$/m.exec(said)?.[1] ?? said.trim().split('\n').at(-1) ?? '';
