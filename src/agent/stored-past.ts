/** Journals of a data directory, or of a copy of it, that no agent runs on: what `replay` and `journal export` show of them. */
import type { MomentAnswer } from '../api/actor-routes.js';
import { journalPage, momentAt } from '../inspector/journal-pages.js';
import { type HistoryLine, lastLines } from '../journal/history.js';
import { openStoredJournal, type StoredJournal } from '../runtime/runtime.js';

/** Opens a data directory for one piece of work, and closes it. @throws {StagecraftError} as openStoredJournal */
export async function withStoredJournal<T>(dataDir: string, work: (journal: StoredJournal) => Promise<T>): Promise<T> {
  const journal = await openStoredJournal(dataDir);
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

/** The past of an actor, as `replay` shows it. */
export interface StoredPast {
  address: string;
  /** Seq of the newest entry. */
  last: number;
  at(seq: number): Promise<MomentAnswer>;
  /** Steps up to this one, the newest of them. */
  steps(to: number, most: number): Promise<HistoryLine[]>;
  /** Seq of the last entry at which the machine threw; undefined: it never did. */
  lastCrash(): Promise<number | undefined>;
}

/** @throws {StagecraftError} ACTOR_NOT_FOUND */
export async function storedPast(journal: StoredJournal, address: string): Promise<StoredPast> {
  const { last } = await journal.range(address);
  return {
    ...{ address, last },
    at: (seq) => momentAt(journal, address, seq),
    steps: (to, most) => lastLines(address, journal.moments(address), { to, most }),
    lastCrash: async () => {
      const { entries } = await journalPage(journal, address, { limit: Number.MAX_SAFE_INTEGER });
      return entries.findLast(({ kind }) => kind === 'crash')?.seq;
    },
  };
}
