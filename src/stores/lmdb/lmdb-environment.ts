/**
 * Opens the LMDB environment of a store and names its databases. Only this file and lmdb.ts depend on lmdb-js. What
 * is written into the databases: lmdb.ts
 */

import { access, constants, type FileHandle, mkdir, open as openFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { StagecraftError } from '../../errors.js';
import { checkDatabase, damaged } from './lmdb-check.js';

// CommonJS import: the types of lmdb 3.5.6 for ES modules (`export =` in a module) do not compile.
import type lmdb = require('lmdb');

const { open }: Pick<typeof lmdb, 'open'> = createRequire(import.meta.url)('lmdb');

type Database<Key extends lmdb.Key> = lmdb.Database<string, Key>;

/**
 * One named database per kind of row, all in one environment and thus in one transaction: a listing reads rows of one
 * kind only, and keys need no tag. Tuple keys sort by their first part, then by their second.
 */
export interface Environment {
  root: lmdb.RootDatabase<string, string>;
  /** address → live record */
  records: Database<string>;
  /** address → tombstone. Kept apart, so that listings never read deleted actors. */
  tombstones: Database<string>;
  /** [wakeAtMs, address] */
  wakes: Database<[number, string]>;
  /** [address, seq] */
  journal: Database<[string, number]>;
  /** [address, seq] */
  outbox: Database<[string, number]>;
  /** [address, id] */
  inbox: Database<[string, number]>;
  /** [topic, cursor] */
  topics: Database<[string, number]>;
  /** [topic, source] → (seq, index) of the newest event of this source in the topic */
  marks: Database<[string, string]>;
  /** lease name → last holder, and the epoch since which it was granted to nobody else */
  holders: Database<string>;
  /** Last number used: of epochs by lease name, of inbox ids by address, of cursors by topic. */
  counters: Database<['epoch' | 'inbox' | 'topic', string]>;
}

const names: Record<Exclude<keyof Environment, 'root'>, string> = {
  records: 'records',
  tombstones: 'tombstones',
  wakes: 'wakes',
  journal: 'journal',
  outbox: 'outbox',
  inbox: 'inbox',
  topics: 'topics',
  marks: 'marks',
  holders: 'holders',
  counters: 'counters',
};

/**
 * Opens the environment in a directory.
 * @throws {StagecraftError} STORE_DAMAGED
 * @throws {Error} naming the path: the directory cannot be made, or the file in it is no LMDB database
 */
export async function openEnvironment(path: string): Promise<Environment> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (await isUsed(path)) await checkDatabase(path, Object.values(names));
    const environment = openDatabases(path);
    // A new file survives a power cut only once the directories that name it are on disk; LMDB syncs the file alone.
    for (const directory of [path, dirname(path)]) await syncDirectory(directory);
    return environment;
  } catch (cause) {
    if (cause instanceof StagecraftError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The store in ${path} can't be opened: ${reason}`, { cause });
  }
}

function openDatabases(path: string): Environment {
  const root = open<string, string>({
    path,
    // By default lmdb-js takes a directory with a dot in its name for a file.
    noSubdir: false,
    // A commit becomes visible only once it is on disk: nobody reads or repeats what a power cut could undo.
    // Costs about 5 % in bursts. noSync and separateFlushed, which would break that promise too, are never set.
    overlappingSync: false,
    // lmdb-js would mark the batch of each turn by a promise that nobody can catch, and a full disk would end the
    // process. Transactions asked for in one turn share one LMDB transaction without it too.
    eventTurnBatching: false,
    compression: false,
    encoding: 'string',
    maxDbs: 16,
    // mapSize is left alone: the map doubles by itself, also amid a transaction.
  });
  const named = <Key extends lmdb.Key>(name: string): Database<Key> =>
    root.openDB<string, Key>({ name, encoding: 'string', compression: false });
  return {
    root,
    records: named(names.records),
    tombstones: named(names.tombstones),
    wakes: named(names.wakes),
    journal: named(names.journal),
    outbox: named(names.outbox),
    inbox: named(names.inbox),
    topics: named(names.topics),
    marks: named(names.marks),
    holders: named(names.holders),
    counters: named(names.counters),
  };
}

function syncDirectory(path: string): Promise<void> {
  return withFile(path, 'r', (directory) => directory.sync());
}

/**
 * Tells whether the directory has a database. Refuses a path before LMDB does: lmdb-js 3.5.6 frees memory twice if it cannot
 * open a file, which may end the process.
 */
async function isUsed(path: string): Promise<boolean> {
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  const file = join(path, 'data.mdb');
  const size = await sizeOf(file);
  // LMDB makes both files at once, and would take the missing one for a new store.
  if (!size && (await sizeOf(join(path, 'lock.mdb'))) !== undefined) {
    const fault = `${file} is ${size === 0 ? 'empty' : 'missing'}`;
    throw damaged(path, `${fault}. If the store was never used, as its first start was killed: move it away`);
  }
  if (!size) return false;
  if (!(await withFile(file, 'r+', isDatabase))) throw damaged(path, `${file} is no LMDB database`);
  return true;
}

/** Size of a file in bytes; undefined: there is none. */
const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );

/** A database begins with two meta pages, each with a magic and a version. */
async function isDatabase(file: FileHandle): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(32), 0, 32, 0);
  return buffer.readUInt32LE(24) === 0xbeefc0de && buffer.readUInt16LE(28) === 2;
}

async function withFile<T>(path: string, flags: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await openFile(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
