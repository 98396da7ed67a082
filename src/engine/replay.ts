/** Rebuilds an actor's past from its journal: same inputs in, same states out. No effect runs. */
import type { AnyMachineSnapshot } from 'xstate';
import { StagecraftError } from '../errors.js';
import type { JournalEntry } from './envelope.js';
import type { HostedMachine, PersistedSnapshot } from './hosted-machine.js';
import { applyEntry, isGone } from './take.js';

export interface Replayed {
  /** Of the last entry that was applied; 0 if there was none. */
  seq: number;
  /** Absent where the actor is gone at this moment. */
  snapshot: PersistedSnapshot | undefined;
}

/**
 * @param entries from the first one of the actor on, in order
 * @param to the last seq to apply; default all
 * @throws StagecraftError JOURNAL_BROKEN where an entry is missing or was made by another version of the machine
 */
export async function replay(
  machine: HostedMachine,
  entries: AsyncIterable<JournalEntry>,
  to = Number.POSITIVE_INFINITY,
): Promise<Replayed> {
  let seq = 0;
  let snapshot: AnyMachineSnapshot | undefined;
  for await (const entry of entries) {
    if (entry.seq > to) break;
    if (entry.seq !== seq + 1) throw broken(`entry ${seq + 1} is missing: ${entry.seq} follows ${seq}`);
    if (entry.version !== machine.version) {
      throw broken(`entry ${entry.seq} is of version ${entry.version} of ${machine.name}, known is ${machine.version}`);
    }
    seq = entry.seq;
    // Where the kind is another, the machine never moved.
    if (entry.kind === 'event') {
      const step = applyEntry(machine, snapshot, entry);
      snapshot = isGone(step.snapshot) ? undefined : step.snapshot;
    }
    if (seq >= to) break; // what comes later may be broken
  }
  return { seq, snapshot: snapshot && machine.persist(snapshot) };
}

const broken = (message: string): StagecraftError => new StagecraftError('JOURNAL_BROKEN', message);
