/** Differences between snapshots of one volume and group snapshots of several, for the snapshot manager. */
import {
  groupSnapshotAddress,
  groupSnapshotsPrefix,
  snapshotAddress,
  snapshotsPrefix,
} from '../../machines/kit/addresses.js';
import { groupSnapshotMachine } from '../../machines/snapshot/group.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotName, snapshotNotThere } from '../../machines/snapshot/refusals.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { snapshotStateOf } from '../../machines/snapshot/states.js';
import type { SnapshotKey, SnapshotKind } from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { StagecraftError } from '../errors.js';
import type { Subject } from '../requests/actor-client.js';
import { checked, keyOf } from '../requests/fields.js';
import { groupSnapshotsTopic, snapshotsTopic } from './snapshot-kinds.js';
import {
  type CheckedGroup,
  type CheckedSnapshot,
  type GroupSnapshotSpec,
  groupSnapshotSchema,
  type SnapshotSpec,
  snapshotFilter,
  snapshotSchema,
} from './snapshot-spec.js';
import { type GroupSnapshot, groupSnapshotOf, type Snapshot, snapshotErrorOf, snapshotOf } from './snapshot-view.js';

/** Type of both snapshot machines. */
export type SnapshotMachine = typeof volumeSnapshotMachine;

export interface SnapshotVariant<TSpec, TView> extends Subject<SnapshotMachine, SnapshotKey> {
  topic: string;
  asked(spec: TSpec): Omit<CheckedGroup, 'volumes'> & { volumes: VolumeKey[] };
  filter: ReturnType<typeof snapshotFilter>;
  view(context: SnapshotContext): TView;
}

const subjectOf = (
  machine: SnapshotMachine,
  kind: SnapshotKind,
  addressAt: (namespace: string, id: string) => string,
): Subject<SnapshotMachine, SnapshotKey> => {
  const addressOf = ({ namespace, id }: SnapshotKey): string => addressAt(namespace, id);
  return {
    machine,
    keyOf: (given) => keyOf(given, 'the key of a snapshot'),
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
