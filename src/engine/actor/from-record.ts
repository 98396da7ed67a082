/**
 * Reads the record of an actor: to restore its state, or to show it. Pure; throws if the record is damaged, or fits no state of
 * the machine.
 */
import type { AnyMachineSnapshot } from 'xstate';
import type { ActorView } from '../actor-system.js';
import type { ActorKind } from '../effects/effects.js';
import { doubted } from '../effects/in-doubt-calls.js';
import { asData } from '../machine/data.js';
import type { HostedMachine, PersistedSnapshot } from '../machine/hosted-machine.js';
import type { StoredRecord } from '../store.js';
import { adviceForOlder } from '../store-level.js';
import type { ActorPorts } from './actor-ports.js';
import { type ActorRecord, type EngineChange, isSnapshot, type LiveEffect, recordIn } from './actor-record.js';
import { isCounted } from './engine-changes.js';
import type { ActorDefinition, ActorState } from './step-result.js';

interface Restored {
  state: ActorState;
  /** Changes that the engine makes before the actor accepts messages. */
  changes: EngineChange[];
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
  const { snapshot, migrations, effects } = readable(definition, definition.address, record);
  const isMigrated = snapshot !== undefined && migrations.length > 0;
  const changes: EngineChange[] = isMigrated ? [{ kind: 'migrated', migrations, snapshot, effects }] : [];
  if (record.quarantined && released) changes.push({ kind: 'released' });
  if (record.effects.some((effect) => isCounted(definition, effect))) changes.push({ kind: 'recovered', seq });
  if (isMigrated) return { state: { seq, snapshot: undefined, record }, changes };
  // A tombstone may be of any version; an actor created again has the present version.
  const present = { ...record, machine: machine.name, version: machine.version };
  return { state: { seq, snapshot, record: present }, changes };
}

/** Reads a later state of the same actor. */
export function adopted(site: ActorPorts, stored: StoredRecord): ActorState {
  const record = recordIn(stored);
  const { snapshot } = readable({ ...site, kind: { ...site.kind, migrations: [] } }, stored.address, record);
  return { seq: stored.seq, snapshot, record };
}

/** Reads records of one kind. */
export interface Reader {
  machine: HostedMachine;
  kind: Pick<ActorKind, 'begin' | 'migrations'>;
}

/**
 * View of a stored record, of this version or an older one. Undefined: the actor is deleted.
 * @throws {Error} saying why the record can't be read
 */
export function storedView(reader: Reader, stored: StoredRecord): ActorView | undefined {
  if (stored.gone) return undefined;
  const record = recordIn(stored);
  const { snapshot } = migrated(reader, stored.address, record);
  const { at } = record;
  return (
    snapshot && {
      ...{ seq: stored.seq, state: snapshot.value, context: snapshot.context },
      ...(at !== undefined && { at }),
    }
  );
}

/** Snapshot and effects of the present version, and the names of the migrations that were applied to get them. */
interface Migrated<Snapshot> {
  snapshot: Snapshot | undefined;
  migrations: string[];
  effects: LiveEffect[];
}

/** @throws {Error} as `migrated`; if the machine has no such state */
function readable(reader: Reader, address: string, record: ActorRecord): Migrated<AnyMachineSnapshot> {
  const { snapshot, ...migration } = migrated(reader, address, record);
  return { snapshot: snapshot && reader.machine.restore(snapshot), ...migration };
}

/**
 * @throws {Error} if no migrations lead to the machine's version, a migration returns no snapshot, or the context is
 *   damaged
 */
function migrated(reader: Reader, address: string, { snapshot, ...record }: ActorRecord): Migrated<PersistedSnapshot> {
  let { effects } = record;
  if (!snapshot) return { snapshot, migrations: [], effects };
  const { machine, kind } = reader;
  if (record.machine !== machine.name) throw new Error(`it is of machine ${record.machine}, not ${machine.name}`);
  const migrations: string[] = [];
  const passed = new Set<string>();
  let present = snapshot;
  for (let version = record.version; version !== machine.version; ) {
    const migration = kind.migrations?.find(({ from }) => from === version);
    if (!migration || passed.has(version)) {
      const advice = adviceForOlder(machine.name, record.version);
      const why = advice ?? `no migration leads from ${version} to ${machine.version}`;
      throw new Error(`it is of ${machine.name} version ${record.version}, and ${why}`);
    }
    passed.add(version);
    present = asData(migration.migrate(present));
    if (!isSnapshot(present)) throw new Error(`the migration '${migration.name}' answers no snapshot`);
    const { migrateInput } = migration;
    if (migrateInput) effects = effects.map((effect) => ({ ...effect, input: asData(migrateInput(effect.input)) }));
    migrations.push(migration.name);
    version = migration.to;
  }
  const fault = shapeOf(reader, address).faultIn(present.context);
  if (fault !== undefined) throw new Error(fault);
  return { snapshot: present, migrations, effects };
}

const shapes = new WeakMap<HostedMachine, ContextShape>();

/** Shape of the contexts of a machine. Actors that a message begins have none: any context fits. */
function shapeOf({ machine, kind }: Reader, address: string): ContextShape {
  const known = shapes.get(machine);
  if (known) return known;
  const input = kind.begin?.(address, 0);
  const shape = new ContextShape(input ? machine.begin(input).snapshot.context : {});
  shapes.set(machine, shape);
  return shape;
}

type FieldType = 'list' | 'object' | 'string' | 'number' | 'boolean' | 'null' | 'nothing';

/**
 * Shape of the contexts of one machine: the types of the fields with which they begin. A damaged field would make each walk
 * over the actors fail, so a record with one is not read at all.
 */
class ContextShape {
  readonly #types: readonly [field: string, type: FieldType][];

  /** @param fresh context of an actor that has just begun; fields that begin as null may hold anything */
  constructor(fresh: object) {
    this.#types = Object.entries(fresh)
      .map(([field, value]): [string, FieldType] => [field, typeOf(value)])
      .filter(([, type]) => type !== 'null' && type !== 'nothing');
  }

  /** Returns the first fault of a context; undefined: none. A field that is absent is none, as older records lack some. */
  faultIn(context: object): string | undefined {
    const fields: Record<string, unknown> = { ...context };
    for (const [field, type] of this.#types) {
      const stored = typeOf(fields[field]);
      if (stored !== type && stored !== 'nothing') return `its ${field} is damaged: ${stored} instead of ${type}`;
    }
    return undefined;
  }
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  return type === 'object' || type === 'string' || type === 'number' || type === 'boolean' ? type : 'nothing';
}
