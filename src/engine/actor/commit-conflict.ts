/** Compares the stored record with an actor's own last commit, and decides what the actor does. Pure. */
import type { StoredRecord } from '../store.js';

export type CommitVerdict =
  | 'same'
  /** The store has lost later commits, and nobody else has written since: the actor may write them again. */
  | 'behind'
  /** The store holds a commit of this actor that it had not confirmed. */
  | 'ahead'
  /**
   * A newer holder of the lease has written the record, or another holder of our own epoch: two masters of a store, one frozen
   * meanwhile, may grant the same epoch.
   */
  | 'fenced'
  /** The record has a commit under an older epoch that this runtime did not know. */
  | 'foreign'
  /** The record can neither be read nor replaced. */
  | 'unreadable';

export function verdictOn(
  stored: Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'> | undefined,
  known: { seq: number; commitId: string },
  { epoch, owner }: { epoch: number; owner: string },
): CommitVerdict {
  if (!stored) return known.seq === 0 ? 'same' : 'behind';
  if (stored.seq === 0) return 'unreadable';
  const isOurs = stored.owner === owner;
  if (stored.epoch > epoch || (stored.epoch === epoch && !isOurs)) return 'fenced';
  if (stored.seq === known.seq && stored.commitId === known.commitId) return 'same';
  if (stored.seq < known.seq && (isOurs || stored.epoch < epoch)) return 'behind';
  return stored.seq > known.seq && isOurs ? 'ahead' : 'foreign';
}

/** Reason to quarantine the actor of a record that no holder of the lease can have written. */
export const laterEpoch = (epoch: number, leased: number): string =>
  `its record is damaged: it is of epoch ${epoch}, and the lease has come to ${leased} only`;

/** Decision about a conflict. */
type Finding =
  | { kind: 'same' }
  | { kind: 'lost'; storedSeq: number }
  | { kind: 'ahead'; record: StoredRecord }
  | { kind: 'fenced'; epoch: number }
  | { kind: 'broken'; why: string };

/**
 * @param hasConflicted whether the store has refused a commit because of the record that it holds
 * @param retriedSeq for a refused commit that was to restore lost state: the seq that the store held at that time
 */
export function findingOn(
  stored: StoredRecord | undefined,
  known: { seq: number; commitId: string },
  claim: { epoch: number; owner: string },
  { hasConflicted, retriedSeq }: { hasConflicted: boolean; retriedSeq: number | undefined },
): Finding {
  const storedSeq = stored?.seq ?? 0;
  const verdict = verdictOn(stored, known, claim);
  if (verdict === 'fenced') return { kind: 'fenced', epoch: stored?.epoch ?? 0 };
  if (verdict === 'same' && (!hasConflicted || retriedSeq !== undefined)) return { kind: 'same' };
  if (verdict === 'behind' && !(hasConflicted && retriedSeq === storedSeq)) return { kind: 'lost', storedSeq };
  if (verdict === 'ahead' && stored) return { kind: 'ahead', record: stored };
  if (verdict === 'foreign' || verdict === 'same')
    return { kind: 'broken', why: `the store holds seq ${storedSeq}, but this runtime last wrote seq ${known.seq}` };
  return { kind: 'broken', why: 'the store has a record of it that it can neither read nor replace' };
}
