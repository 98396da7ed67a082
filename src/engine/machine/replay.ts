/** Rebuilds an actor's past states from its journal: same inputs, same states. Runs no effect. */
import type { AnyMachineSnapshot } from 'xstate';
import { StagecraftError } from '../../errors.js';
import type { JournalEntry } from '../actor/actor-record.js';
import { applyEntry } from '../actor/step.js';
import { isGone } from '../actor/step-result.js';
import { asData } from './data.js';
import type { HostedMachine, PersistedSnapshot } from './hosted-machine.js';

export interface Replayed {
  /** Seq of the last applied entry; 0 if there was none. */
  seq: number;
  /** Absent if the actor is deleted at this moment. */
  snapshot: PersistedSnapshot | undefined;
}

/**
 * @param entries of the actor, oldest first: from its first entry on, or from one that holds the whole state
 * @param to the last seq to apply; default: all
 * @throws {StagecraftError} JOURNAL_BROKEN if an entry is missing, was dropped, or is of another version of the machine
 */
export async function replay(
  machine: HostedMachine,
  entries: AsyncIterable<JournalEntry>,
  to = Number.POSITIVE_INFINITY,
): Promise<Replayed> {
  let seq = 0;
  let snapshot: AnyMachineSnapshot | undefined;
  /** Why the state after `seq` is unknown. */
  let unknown: string | undefined;
  for await (const entry of entries) {
    if (entry.seq > to) {
      if (seq === 0 && to > 0) unknown = gapBefore(entry, seq, machine);
      break;
    }
    const gap = gapBefore(entry, seq, machine);
    if (entry.snapshot !== undefined && entry.version === machine.version && (unknown || gap || isChange(entry))) {
      snapshot = entry.snapshot ? machine.restore(asData(entry.snapshot)) : undefined;
      unknown = undefined;
    } else if (entry.input && entry.kind === 'event' && entry.version === machine.version) {
      snapshot = stateAfter(machine, undefined, entry);
      unknown = undefined;
    } else {
      unknown ??= gap;
      if (!unknown && entry.kind === 'event') snapshot = stateAfter(machine, snapshot, entry);
    }
    seq = entry.seq;
    if (seq >= to) break; // later entries may be broken
  }
  if (unknown) throw new StagecraftError('JOURNAL_BROKEN', unknown);
  return { seq, snapshot: snapshot && machine.persist(snapshot) };
}

function stateAfter(
  machine: HostedMachine,
  before: AnyMachineSnapshot | undefined,
  entry: JournalEntry,
): AnyMachineSnapshot | undefined {
  const { snapshot } = applyEntry(machine, before, entry);
  return isGone(snapshot) ? undefined : snapshot;
}

/** Tells whether the entry is a change by the engine, with the whole state, instead of a step of the machine. */
const isChange = ({ kind }: JournalEntry): boolean => kind !== 'event' && kind !== 'stale' && kind !== 'crash';

/** Returns why an entry cannot follow the one at `seq`; undefined if it can. */
function gapBefore(entry: JournalEntry, seq: number, machine: HostedMachine): string | undefined {
  if (entry.seq !== seq + 1) {
    return seq === 0
      ? `what came before entry ${entry.seq} was forgotten`
      : `entry ${seq + 1} is missing: ${entry.seq} follows ${seq}`;
  }
  // The version matters only for entries that the machine handled.
  if (entry.kind !== 'event' || entry.version === machine.version) return undefined;
  return `entry ${entry.seq} is of ${machine.name} version ${entry.version}; this runtime has version ${machine.version}`;
}
