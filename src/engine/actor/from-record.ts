/** Restores an actor's state from its record. Pure; throws if the snapshot fits no state of the machine. */

import type { AnyMachineSnapshot } from 'xstate';
import type { Migration } from '../effects/effects.js';
import { doubted } from '../effects/in-doubt-calls.js';
import { asData } from '../machine/data.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import type { StoredRecord } from '../store.js';
import type { ActorPorts } from './actor-ports.js';
import { type ActorRecord, type Change, decodeRecord, isSnapshot } from './actor-record.js';
import { isCounted } from './engine-changes.js';
import type { ActorDefinition, ActorState } from './step-result.js';

export interface Restored {
  state: ActorState;
  /** Changes that the engine makes before the actor accepts messages. */
  changes: Change[];
}

/** @param released whether a quarantined actor is released now */
export function restored(
  definition: ActorDefinition,
  seq: number,
  { record: stored, released }: { record: ActorRecord; released: boolean },
): Restored {
  const { machine, kind } = definition;
  const doubts = doubted(kind, stored.doubts, stored.effects);
  const record = doubts ? { ...stored, doubts } : stored;
  const { snapshot, migrations } = readable(machine, record, kind.migrations);
  const isMigrated = snapshot !== undefined && migrations.length > 0;
  const changes: Change[] = isMigrated ? [{ kind: 'migrated', migrations, snapshot }] : [];
  if (record.quarantined && released) changes.push({ kind: 'released' });
  if (record.effects.some((effect) => isCounted(definition, effect))) changes.push({ kind: 'recovered', seq });
  if (isMigrated) return { state: { seq, snapshot: undefined, record }, changes };
  // A tombstone may be of any version; an actor created again has the present version.
  const present = { ...record, machine: machine.name, version: machine.version };
  return { state: { seq, snapshot, record: present }, changes };
}

/** Reads a later state of the same actor. */
export function adopted({ machine }: ActorPorts, stored: StoredRecord): ActorState {
  const record = decodeRecord(stored.text);
  const { snapshot } = readable(machine, record);
  return { seq: stored.seq, snapshot, record };
}

/** Snapshot of the present version, and the names of the migrations that were applied to get it. */
export interface Readable {
  snapshot: AnyMachineSnapshot | undefined;
  migrations: string[];
}

/** @throws {Error} if no migrations lead to the machine's version, or if a migration returns no snapshot */
export function readable(
  machine: HostedMachine,
  { snapshot, ...record }: ActorRecord,
  known: Migration[] = [],
): Readable {
  if (!snapshot) return { snapshot, migrations: [] };
  if (record.machine !== machine.name) throw new Error(`it is of machine ${record.machine}, not ${machine.name}`);
  const migrations: string[] = [];
  const passed = new Set<string>();
  let migrated = snapshot;
  for (let version = record.version; version !== machine.version; ) {
    const migration = known.find(({ from }) => from === version);
    if (!migration || passed.has(version)) {
      throw new Error(
        `it is of ${machine.name} version ${record.version}, and no migration leads from ${version} to ${machine.version}`,
      );
    }
    passed.add(version);
    migrated = asData(migration.migrate(migrated));
    if (!isSnapshot(migrated)) throw new Error(`the migration '${migration.name}' answers no snapshot`);
    migrations.push(migration.name);
    version = migration.to;
  }
  return { snapshot: machine.restore(migrated), migrations };
}
