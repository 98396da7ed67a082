/** What an actor is as its record says. Pure; both throw where the snapshot fits no state of the machine. */

import { doubted } from '../effects/in-doubt-calls.js';
import type { StoredRecord } from '../store.js';
import type { ActorPorts } from './actor-ports.js';
import type { Change } from './actor-record.js';
import { type ActorRecord, decodeRecord } from './actor-record.js';
import { isCounted } from './engine-changes.js';
import { readable } from './migrate.js';
import type { ActorDefinition, ActorState } from './step-result.js';

export interface Restored {
  state: ActorState;
  /** What the engine has to do to it before it takes mail. */
  changes: Change[];
}

/** @param released whether one that crashed too often is taken back into service */
export function restored(
  taker: ActorDefinition,
  { seq }: StoredRecord,
  { envelope: stored, released }: { envelope: ActorRecord; released: boolean },
): Restored {
  const { machine, kind } = taker;
  const doubts = doubted(kind, stored.doubts, stored.effects);
  const envelope = doubts ? { ...stored, doubts } : stored;
  const { snapshot, migrations } = readable(machine, envelope, kind.migrations);
  const isMigrated = snapshot !== undefined && migrations.length > 0;
  const changes: Change[] = isMigrated ? [{ kind: 'migrated', migrations, snapshot }] : [];
  if (envelope.quarantined && released) changes.push({ kind: 'released' });
  if (envelope.effects.some((effect) => isCounted(taker, effect))) changes.push({ kind: 'recovered', seq });
  if (isMigrated) return { state: { seq, snapshot: undefined, envelope }, changes };
  // A tombstone may be of any version: who is made anew is of this one.
  const present = { ...envelope, machine: machine.name, version: machine.version };
  return { state: { seq, snapshot, envelope: present }, changes };
}

/** A later state of the same actor. */
export function adopted({ machine }: ActorPorts, record: StoredRecord): ActorState {
  const envelope = decodeRecord(record.text);
  const { snapshot } = readable(machine, envelope);
  return { seq: record.seq, snapshot, envelope };
}
