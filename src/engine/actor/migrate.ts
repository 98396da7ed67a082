/** Brings a record of an older version of its machine to the present one. Pure. */
import type { AnyMachineSnapshot } from 'xstate';
import type { Migration } from '../effects/effects.js';
import { asData } from '../machine/data.js';
import type { HostedMachine } from '../machine/hosted-machine.js';
import { type ActorRecord, isSnapshot } from './actor-record.js';

/** A snapshot of the present version, and the names of the migrations that led there: none where it was of it. */
export interface Readable {
  snapshot: AnyMachineSnapshot | undefined;
  migrations: string[];
}

/** @throws Error if no migrations lead from its version to the machine's, or if one of them answers no state of it */
export function readable(
  machine: HostedMachine,
  { snapshot, ...envelope }: ActorRecord,
  known: Migration[] = [],
): Readable {
  if (!snapshot) return { snapshot, migrations: [] };
  if (envelope.machine !== machine.name) throw new Error(`it is of ${envelope.machine}, known is ${machine.name}`);
  const migrations: string[] = [];
  const passed = new Set<string>();
  let migrated = snapshot;
  for (let version = envelope.version; version !== machine.version; ) {
    const migration = known.find(({ from }) => from === version);
    if (!migration || passed.has(version)) {
      throw new Error(
        `it is of ${machine.name} ${envelope.version}, known is ${machine.version}, and no migration leads from ${version}`,
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
