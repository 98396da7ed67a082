/** The journals in a store, or in a copy of one, without a runtime. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../engine/clock.js';
import { Journals } from '../engine/journals.js';
import type { Store } from '../engine/store.js';
import { StagecraftError } from '../errors.js';
import { openDataDir } from '../host/data-dir.js';
import { machineAt } from '../journal/journal-file.js';
import { lmdbStore } from '../stores/lmdb/lmdb.js';
import { type Journal, journalIn } from './actor-records.js';

export interface StoredJournal extends Journal {
  close(): Promise<void>;
}

/**
 * Opens a data directory to read its journals only: no actor is brought up, and nothing is written into its store.
 * @throws {StagecraftError} INVALID_ARGUMENT if there is no embedded store; DATA_DIR_LOCKED while a runtime has it;
 *   DATA_DIR_UNUSABLE
 */
export async function openStoredJournal(path: string): Promise<StoredJournal> {
  if (!existsSync(join(path, 'state', 'data.mdb')))
    throw new StagecraftError('INVALID_ARGUMENT', `${path} has no embedded store: name the data directory of an agent`);
  const dataDir = openDataDir(path, 'unchanged');
  const journal = await openJournalIn(lmdbStore(join(dataDir.path, 'state'))).catch((error: unknown) => {
    dataDir.unlock();
    throw error;
  });
  return {
    ...journal,
    close: async () => {
      await journal.close();
      dataDir.unlock();
    },
  };
}

/** Opens a store to read its journals only: no lease is taken, and no actor is brought up. */
export async function openJournalIn(store: Store): Promise<StoredJournal> {
  await store.open();
  // An export and a replay tell of such entries themselves.
  const journals = new Journals({ store, machineOf: machineAt, seqOf: () => undefined, unreadable: () => {} });
  return {
    ...journalIn(() => journals, { clock: systemClock, isPresent: () => false, all: () => journals.addresses('') }),
    close: () => store.close(),
  };
}
