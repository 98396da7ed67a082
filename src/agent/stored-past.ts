/** Journals of a store, or of a copy of one, without an agent: what `replay` and `journal export` show of them. */
import { resolve } from 'node:path';
import type { MomentAnswer } from '../api/actor-routes.js';
import { messageOf, StagecraftError } from '../errors.js';
import { journalPage, momentAt } from '../inspector/journal-pages.js';
import { type HistoryLine, lastLines } from '../journal/history.js';
import { openJournalIn, openStoredJournal, type StoredJournal } from '../runtime/runtime.js';
import type { Store } from '../stores/index.js';

/** Where a store is that no agent is asked for: one of them. */
export interface StoredAt {
  dataDir?: string;
  /** URL of a Redis. */
  redis?: string;
  redisPrefix?: string;
}

/**
 * Opens a store for one piece of work, and closes it.
 * @throws {StagecraftError} as openStoredJournal; INVALID_ARGUMENT for a URL or a prefix that can't be used
 */
export async function withStoredJournal<T>(at: StoredAt, work: (journal: StoredJournal) => Promise<T>): Promise<T> {
  const journal = await opened(at);
  try {
    return await work(journal);
  } finally {
    await journal.close();
  }
}

async function opened({ dataDir = '.', redis, redisPrefix }: StoredAt): Promise<StoredJournal> {
  if (redis === undefined) return openStoredJournal(resolve(dataDir));
  const { redisStore } = await import('../stores/index.js');
  let store: Store;
  try {
    store = redisStore({ url: redis, ...(redisPrefix !== undefined && { prefix: redisPrefix }) });
  } catch (cause) {
    throw new StagecraftError('INVALID_ARGUMENT', messageOf(cause), { cause });
  }
  return openJournalIn(store);
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
