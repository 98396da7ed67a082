/**
 * When a commit may be written: the one decision that a store takes. Pure; each store asks it at the moment at
 * which nobody else can write the same address.
 */

import type { Commit, CommitResult, Lease, StoredRecord } from '../engine/store.js';
import { checkName } from './names.js';

/** What the rule needs to know of the stored record. */
export type Head = Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'>;

/** The seq that a commit becomes. */
export function seqOf(commit: Commit): number {
  return commit.seq ?? commit.expectedSeq + 1;
}

/**
 * The answer to a commit that must not be written; undefined where it must.
 * @param granted whom the commit's lease was granted to last; absent where it names none, or one never granted
 */
export function refusal(
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

/** What a conflict tells of the stored record. */
export function headOf({ seq, epoch, owner, commitId }: Head): Head {
  return { seq, epoch, owner, commitId };
}

/** @throws {TypeError} for what no store could keep. Asked before anything is written, so that nothing is then. */
export function checkCommit(commit: Commit): void {
  checkName(commit.address);
  for (const text of [commit.text, commit.journal, commit.outbox ?? '']) {
    if (typeof text === 'string') continue;
    throw new TypeError(`A commit to ${commit.address} must hold texts, not ${typeof text}.`);
  }
  const { address, expectedSeq } = commit;
  const seq = seqOf(commit);
  if (Number.isSafeInteger(seq) && seq > expectedSeq) return;
  throw new TypeError(`A commit to ${address} on seq ${expectedSeq} must become a higher one, not ${seq}.`);
}

/** A newer epoch than the last one granted is of a store that went back in time. */
function isUnder(granted: Pick<Lease, 'epoch' | 'owner'>, { epoch, owner }: Commit): boolean {
  return epoch > granted.epoch || (epoch === granted.epoch && owner === granted.owner);
}

function isRepeat(stored: Head, commit: Commit): boolean {
  return stored.commitId === commit.commitId && stored.seq === seqOf(commit);
}

function mayWrite(stored: Head, commit: Commit): boolean {
  return commit.epoch > stored.epoch || (commit.epoch === stored.epoch && commit.owner === stored.owner);
}
