/** The limits that hold for every actor of a runtime. */

export interface ActorPolicy {
  /** More crashes than `most` within the time, and the actor is taken out of service. */
  crashes: { most: number; withinMs: number };
  journal: JournalPolicy;
  /** Where the engine's own events go: an actor taken out of service, or back into it. */
  topic: string;
}

export interface JournalPolicy {
  /** At least this many of an actor's last entries are kept. */
  keep: number;
  /** Each so many entries one holds the whole state; a multiple of it is forgotten at a time. */
  snapshotEvery: number;
  /** The journal of a deleted actor is forgotten after this time, milliseconds. */
  goneMs: number;
}

const dayMs = 86_400_000;

export const defaultPolicy: ActorPolicy = {
  crashes: { most: 5, withinMs: 60_000 },
  journal: { keep: 1_000, snapshotEvery: 200, goneMs: 7 * dayMs },
  topic: 'actors',
};

/** Below which seq the journal of an actor that has come to `seq` is to be forgotten; undefined: nothing now. */
export function forgettable(seq: number, { keep, snapshotEvery }: JournalPolicy): number | undefined {
  if (seq % snapshotEvery !== 0 || seq <= keep) return undefined;
  // What stays begins with an entry that holds the whole state.
  return Math.floor((seq - keep) / snapshotEvery) * snapshotEvery || undefined;
}
