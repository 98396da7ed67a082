/**
 * Opens the LMDB environment of a store and names its databases. Only this file and lmdb.ts depend on lmdb-js. What
 * is written into the databases: lmdb.ts
 */

import { access, constants, mkdir, open as openFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

import { messageOf, StagecraftError } from '../../errors.js';
import { checkDatabase } from './lmdb-check.js';

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

/**
 * Opens the environment in a directory.
 * @throws {StagecraftError} STORE_DAMAGED; STORE_UNUSABLE for any other reason, as a directory that can't be made
 */
export async function openEnvironment(path: string): Promise<Environment> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    // lmdb-js 3.5.6 frees memory twice if it cannot open a file.
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    await checkDatabase(path);
    const environment = openDatabases(path);
    // A new file survives a power cut only once the directories that name it are on disk; LMDB syncs the file alone.
    for (const directory of [path, dirname(path)]) await syncDirectory(directory);
    return environment;
  } catch (cause) {
    if (cause instanceof StagecraftError) throw cause;
    throw new StagecraftError('STORE_UNUSABLE', `the store in ${path} can't be opened: ${messageOf(cause)}`, { cause });
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
    records: named('records'),
    tombstones: named('tombstones'),
    wakes: named('wakes'),
    journal: named('journal'),
    outbox: named('outbox'),
    inbox: named('inbox'),
    topics: named('topics'),
    marks: named('marks'),
    holders: named('holders'),
    counters: named('counters'),
  };
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await openFile(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
