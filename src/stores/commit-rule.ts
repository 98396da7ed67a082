/**
 * Decides whether a commit may be written, and which events a topic accepts. Pure: each store calls it at a moment when nobody
 * else can write the same address or topic.
 */

import type { Commit, CommitResult, JournalRow, Lease, StoredRecord, TopicEntry } from '../engine/store.js';
import { checkName } from './names.js';

/** Fields of the stored record that the decision needs. */
export type Head = Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'>;

/** Returns the seq that the record has after the commit. */
export function seqOf(commit: Commit): number {
  return commit.seq ?? commit.expectedSeq + 1;
}

/** Returns the journal entries of a commit, oldest first. */
export function journalRows(commit: Commit): JournalRow[] {
  const seq = seqOf(commit);
  const { journal, journalBefore } = commit;
  if (journalBefore === undefined) return [{ seq, text: journal }];
  const first = seq - journalBefore.length;
  return [...journalBefore, journal].map((text, at) => ({ seq: first + at, text }));
}

/**
 * Returns the refusal of a commit; undefined: it may be written.
 * @param granted last holder of the commit's lease; undefined if the commit names no lease, or the lease was never
 *   granted
 */
export function commitRefusal(
  stored: Head | undefined,
  commit: Commit,
  granted: Pick<Lease, 'epoch' | 'owner'> | undefined,
): CommitResult | undefined {
  if (stored !== undefined && isRepeat(stored, commit)) return { status: 'done' };
  if (granted !== undefined && !isUnder(granted, commit)) {
    return { status: 'fenced', epoch: granted.epoch, owner: granted.owner };
  }
  if (stored === undefined) return commit.expectedSeq === 0 ? undefined : { status: 'conflict' };
  if (stored.seq === commit.expectedSeq && mayWrite(stored, commit)) return undefined;
  return { status: 'conflict', stored: headOf(stored) };
}

/** Picks the fields of the stored record that a conflict reports. */
export function headOf({ seq, epoch, owner, commitId }: Head): Head {
  return { seq, epoch, owner, commitId };
}

/**
 * Checks a commit before any store writes part of it.
 * @throws {TypeError} for a commit that no store could keep
 */
export function checkCommit(commit: Commit): void {
  checkName(commit.address);
  const { address, expectedSeq, journalBefore = [] } = commit;
  for (const text of [commit.text, commit.journal, ...journalBefore, commit.outbox ?? '']) {
    if (typeof text === 'string') continue;
    throw new TypeError(`A commit to ${address} must hold texts, not ${typeof text}.`);
  }
  const seq = seqOf(commit);
  if (!Number.isSafeInteger(seq) || seq <= expectedSeq)
    throw new TypeError(`A commit to ${address} on seq ${expectedSeq} must become a higher one, not ${seq}.`);
  const entries = journalBefore.length + 1;
  if (seq - entries < expectedSeq)
    throw new TypeError(
      `A commit to ${address} from seq ${expectedSeq} to ${seq} can't have ${entries} journal entries.`,
    );
}

/** Accepts an epoch newer than the last one granted: the store was restored from an older copy. */
function isUnder(granted: Pick<Lease, 'epoch' | 'owner'>, { epoch, owner }: Commit): boolean {
  return epoch > granted.epoch || (epoch === granted.epoch && owner === granted.owner);
}

function isRepeat(stored: Head, commit: Commit): boolean {
  return stored.commitId === commit.commitId && stored.seq === seqOf(commit);
}

function mayWrite(stored: Head, commit: Commit): boolean {
  return commit.epoch > stored.epoch || (commit.epoch === stored.epoch && commit.owner === stored.owner);
}

/** Last event that a topic has of one source: it accepts later ones only. */
export type TopicMark = Pick<TopicEntry, 'seq' | 'index'>;

export function isNewer(entry: TopicMark, mark: TopicMark | undefined): boolean {
  return mark === undefined || entry.seq > mark.seq || (entry.seq === mark.seq && entry.index > mark.index);
}
