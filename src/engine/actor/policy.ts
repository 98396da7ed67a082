/** Limits that hold for every actor of a runtime. */

export interface ActorPolicy {
  /** Quarantines an actor that crashes more than `most` times within `withinMs`. */
  crashes: { most: number; withinMs: number };
  journal: JournalPolicy;
  /**
   * Whether an actor that was looked up and does not exist stays in memory for the turn of the event loop, so that beginning
   * it looks it up no second time. False for comparisons with histories of engines that did so.
   */
  keepsAbsent: boolean;
  /**
   * Most messages of one actor that share a commit, 32 at most. 1 for comparisons with histories of engines that wrote each by
   * itself.
   */
  mostSteps: number;
  /**
   * Milliseconds until the mark of a message may be left out. Longer than a store under running engines goes back in time: what
   * it has settled since would be delivered again.
   */
  marksKeptMs: number;
  /** Topic of the engine's own events: an actor quarantined or released. */
  topic: string;
}

export interface JournalPolicy {
  /** Minimum number of latest entries that are kept. */
  keep: number;
  /** Each n-th entry holds the whole state; entries are dropped in multiples of n. */
  snapshotEvery: number;
  /** Milliseconds until the journal of a deleted actor is dropped. */
  goneMs: number;
}

const dayMs = 86_400_000;
const mostSteps = 32;

/**
 * Number of latest answers that a record keeps for repeated requests: those of one commit, which all get lost together when the
 * runtime is killed after it, and as many of later requests.
 */
export const answersKept = 2 * mostSteps;

export const defaultPolicy: ActorPolicy = {
  crashes: { most: 5, withinMs: 60_000 },
  journal: { keep: 1_000, snapshotEvery: 200, goneMs: 7 * dayMs },
  keepsAbsent: true,
  mostSteps,
  marksKeptMs: dayMs,
  topic: 'actors',
};

/**
 * Returns the seq below which an actor's journal may be dropped once it has come to `seq`; undefined: nothing to drop.
 */
export function forgettable(seq: number, { keep, snapshotEvery }: JournalPolicy): number | undefined {
  if (seq % snapshotEvery !== 0 || seq <= keep) return undefined;
  // The first kept entry must hold the whole state.
  return Math.floor((seq - keep) / snapshotEvery) * snapshotEvery || undefined;
}
