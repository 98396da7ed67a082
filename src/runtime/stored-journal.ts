/** The journals in the embedded store of a data directory, or of a copy of it, while no runtime has it. */
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
  const dataDir = openDataDir(path);
  const store = lmdbStore(join(dataDir.path, 'state'));
  try {
    await store.open();
  } catch (error) {
    dataDir.unlock();
    throw error;
  }
  const journals = new Journals({ store, machineOf: machineAt, seqOf: () => undefined });
  return {
    ...journalIn(() => journals, { clock: systemClock, isPresent: () => false, present: () => addressesIn(store) }),
    close: async () => {
      await store.close();
      dataDir.unlock();
    },
  };
}

const pageLimit = 1_000;

async function* addressesIn(store: Store): AsyncGenerator<string, void> {
  for (let after: string | undefined; ; ) {
    const { rows, next } = await store.list({ prefix: '', limit: pageLimit, ...(after !== undefined && { after }) });
    for (const { address } of rows) yield address;
    if (next === undefined) return;
    after = next;
  }
}
