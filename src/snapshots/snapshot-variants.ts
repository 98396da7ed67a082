/** Differences between snapshots of one volume and group snapshots of several, for the snapshot manager. */

import { z } from 'zod';
import {
  groupSnapshotAddress,
  groupSnapshotsPrefix,
  snapshotAddress,
  snapshotsPrefix,
} from '../../machines/kit/addresses.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotName, snapshotNotThere } from '../../machines/snapshot/refusals.js';
import { groupSnapshotMachine, volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { snapshotStateOf } from '../../machines/snapshot/states.js';
import { type SnapshotKey, type SnapshotKind, snapshotStates } from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import { nameSchema } from '../host/names.js';
import type { ActorSubject } from '../requests/actor-client.js';
import { filterShape, pageShape } from '../requests/actor-pages.js';
import { checked, keySchema, mapSchema, secretsSchema, volumeKeyOf } from '../requests/fields.js';
import { groupSnapshotsTopic, snapshotsTopic } from './snapshot-kinds.js';
import { type GroupSnapshot, groupSnapshotOf, type Snapshot, snapshotErrorOf, snapshotOf } from './snapshot-view.js';

const common = {
  namespace: nameSchema.default('default'),
  id: nameSchema,
  parameters: mapSchema.default({}),
  /** Default: those of its volumes. */
  secrets: secretsSchema.optional(),
};

export const snapshotSchema = z.strictObject({ ...common, volume: keySchema });

export const groupSnapshotSchema = z.strictObject({
  ...common,
  volumes: z
    .array(keySchema)
    .min(1)
    .refine((keys) => new Set(keys.map(({ namespace, id }) => `${namespace}\n${id}`)).size === keys.length, {
      message: 'must name each volume only once',
    }),
});

/** Spec of `runtime.snapshots.create`. Omitted fields have defaults; the default namespace is `default`. */
export type SnapshotSpec = z.input<typeof snapshotSchema>;
/** Spec of `runtime.groupSnapshots.create`. All volumes must belong to one plugin. */
export type GroupSnapshotSpec = z.input<typeof groupSnapshotSchema>;

type CheckedSnapshot = z.output<typeof snapshotSchema>;
type CheckedGroup = z.output<typeof groupSnapshotSchema>;

const snapshotFilter = (prefix: string) => z.strictObject({ ...filterShape(snapshotStates), ...pageShape(prefix) });

/**
 * Conditions for listed snapshots. `after`: the `next` of the page before. `limit`: items in a page, 1 to 1,000, default
 * 100.
 */
export type SnapshotFilter = z.input<ReturnType<typeof snapshotFilter>>;

/** Type of both snapshot machines. */
export type SnapshotMachine = typeof volumeSnapshotMachine;

export interface SnapshotVariant<TSpec, TView> extends ActorSubject<SnapshotMachine, SnapshotKey> {
  topic: string;
  asked(spec: TSpec): Omit<CheckedGroup, 'volumes'> & { volumes: VolumeKey[] };
  filter: ReturnType<typeof snapshotFilter>;
  view(context: SnapshotContext): TView;
}

const subjectOf = (
  machine: SnapshotMachine,
  kind: SnapshotKind,
  addressAt: (namespace: string, id: string) => string,
): ActorSubject<SnapshotMachine, SnapshotKey> => {
  const addressOf = ({ namespace, id }: SnapshotKey): string => addressAt(namespace, id);
  return {
    machine,
    keyOf: (given) => volumeKeyOf(given, 'the key of a snapshot'),
    addressOf,
    nameOf: (key) => snapshotName({ kind, ...key }),
    describe: ({ context }) => {
      const error = snapshotErrorOf(context);
      return `${snapshotStateOf(context)}${error ? `: ${error.message}` : ''}`;
    },
    notFound: (key) => {
      const { code, message } = snapshotNotThere({ kind, ...key });
      return new StagecraftError(code, message, { address: addressOf(key) });
    },
  };
};

export const volumeSnapshotVariant: SnapshotVariant<SnapshotSpec, Snapshot> = {
  ...subjectOf(volumeSnapshotMachine, 'volume-snapshot', snapshotAddress),
  topic: snapshotsTopic,
  asked: (spec) => {
    const { volume, ...rest }: CheckedSnapshot = checked(snapshotSchema, spec, 'the spec of the snapshot');
    return { ...rest, volumes: [volume] };
  },
  filter: snapshotFilter(snapshotsPrefix),
  view: snapshotOf,
};

export const groupSnapshotVariant: SnapshotVariant<GroupSnapshotSpec, GroupSnapshot> = {
  ...subjectOf(groupSnapshotMachine, 'group-snapshot', groupSnapshotAddress),
  topic: groupSnapshotsTopic,
  asked: (spec) => {
    const { volumes, ...rest }: CheckedGroup = checked(groupSnapshotSchema, spec, 'the spec of the group snapshot');
    return { ...rest, volumes: volumes.toSorted(byName) };
  },
  filter: snapshotFilter(groupSnapshotsPrefix),
  view: groupSnapshotOf,
};

/** Order of the volumes of a group, so that a spec in another order is the same. */
const byName = (one: VolumeKey, other: VolumeKey): number =>
  compare(one.namespace, other.namespace) || compare(one.id, other.id);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
