/** What the sections of the store contract share: the store under test, and short ways to speak to it. */

import type { Commit, CommitResult, Store, StorePage } from '../../../src/engine/store.js';

export interface Subject {
  readonly store: Store;
  reopen(): Promise<void>;
  /** Lets time pass on the clock of the store. */
  elapse(ms: number): void;
}

/** A commit that is fine unless `more` makes it otherwise. */
export function commitOf(address: string, expectedSeq: number, more: Partial<Commit> = {}): Commit {
  const seq = expectedSeq + 1;
  const commitId = `${address}@${seq}`;
  return { address, expectedSeq, commitId, epoch: 1, owner: 'owner-a', text: `t${seq}`, journal: `j${seq}`, ...more };
}

export async function commitOne(subject: Subject, commit: Commit): Promise<CommitResult | undefined> {
  const [result] = await subject.store.commit([commit]);
  return result;
}

/** Commits `count` times to an address that was never there. */
export async function commitTimes(
  subject: Subject,
  address: string,
  count: number,
  more?: Partial<Commit>,
): Promise<void> {
  await subject.store.commit(Array.from({ length: count }, (_, seq) => commitOf(address, seq, more)));
}

/** Every row of a listing, asked for in pages of two. */
export async function allPages<T>(page: (after: string | undefined) => Promise<StorePage<T>>): Promise<T[]> {
  const rows: T[] = [];
  let after: string | undefined;
  do {
    const { rows: some, next } = await page(after);
    rows.push(...some);
    after = next;
  } while (after !== undefined);
  return rows;
}

/** The range of one page of two rows. */
export function rangeOf(prefix: string, after: string | undefined): { prefix: string; limit: number; after?: string } {
  return after === undefined ? { prefix, limit: 2 } : { prefix, limit: 2, after };
}

export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const reason: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (reason instanceof Error) return reason;
  throw new Error(`Expected an Error, got ${String(reason)}`);
}

/** Texts that an encoding might bend. */
export const awkwardTexts = ['', '\n', 'a\nb', '\0', '{"a":"\\u0000"}', 'é', '😀 and ！', ' ', 'x'.repeat(300_000)];
