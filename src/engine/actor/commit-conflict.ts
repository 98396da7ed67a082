/** What it means that the store holds this of an actor, and not what the actor knows. Pure. */
import type { StoredRecord } from '../store.js';

export type CommitVerdict =
  | 'same'
  /** The store has lost what came after, and nobody else has written since: ours may be written again. */
  | 'behind'
  /** A commit of ours was written that the store did not say was. */
  | 'ahead'
  /** A newer holder of the lease has written it. */
  | 'fenced'
  /** Somebody else has written it under our epoch, or before. */
  | 'foreign'
  /** There is a record that nobody can read, or replace. */
  | 'unreadable';

export function verdictOn(
  stored: Pick<StoredRecord, 'seq' | 'epoch' | 'owner' | 'commitId'> | undefined,
  known: { seq: number; commitId: string },
  { epoch, owner }: { epoch: number; owner: string },
): CommitVerdict {
  if (!stored) return known.seq === 0 ? 'same' : 'behind';
  if (stored.seq === 0) return 'unreadable';
  if (stored.epoch > epoch) return 'fenced';
  if (stored.seq === known.seq && stored.commitId === known.commitId) return 'same';
  const isOurs = stored.owner === owner;
  if (stored.seq < known.seq && (isOurs || stored.epoch < epoch)) return 'behind';
  return stored.seq > known.seq && isOurs ? 'ahead' : 'foreign';
}
