/** Differences between snapshots of one volume and group snapshots of several, for the snapshot manager. */
import {
  groupSnapshotAddress,
  groupSnapshotsPrefix,
  snapshotAddress,
  snapshotsPrefix,
} from '../../machines/kit/addresses.js';
import { groupSnapshotMachine } from '../../machines/snapshot/group.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import type { SnapshotKind } from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { checked } from '../requests/fields.js';
import { groupSnapshotsTopic, snapshotsTopic } from './snapshot-kinds.js';
import {
  type CheckedGroup,
  type CheckedSnapshot,
  type GroupSnapshotSpec,
  groupSnapshotSchema,
  type SnapshotSpec,
  snapshotFilters,
  snapshotSchema,
} from './snapshot-spec.js';
import { type GroupSnapshot, groupSnapshotOf, type Snapshot, snapshotOf } from './snapshot-view.js';

export interface SnapshotVariant<TSpec, TView> {
  kind: SnapshotKind;
  machine: typeof volumeSnapshotMachine;
  topic: string;
  addressOf(namespace: string, id: string): string;
  asked(spec: TSpec): Omit<CheckedGroup, 'volumes'> & { volumes: VolumeKey[] };
  filterOf: ReturnType<typeof snapshotFilters>;
  view(context: SnapshotContext): TView;
}

export const volumeSnapshotVariant: SnapshotVariant<SnapshotSpec, Snapshot> = {
  kind: 'volume-snapshot',
  machine: volumeSnapshotMachine,
  topic: snapshotsTopic,
  addressOf: snapshotAddress,
  asked: (spec) => {
    const { volume, ...rest }: CheckedSnapshot = checked(snapshotSchema, spec, 'the spec of the snapshot');
    return { ...rest, volumes: [volume] };
  },
  filterOf: snapshotFilters(snapshotsPrefix),
  view: snapshotOf,
};

export const groupSnapshotVariant: SnapshotVariant<GroupSnapshotSpec, GroupSnapshot> = {
  kind: 'group-snapshot',
  machine: groupSnapshotMachine,
  topic: groupSnapshotsTopic,
  addressOf: groupSnapshotAddress,
  asked: (spec) => {
    const { volumes, ...rest }: CheckedGroup = checked(groupSnapshotSchema, spec, 'the spec of the group snapshot');
    return { ...rest, volumes: volumes.toSorted(byName) };
  },
  filterOf: snapshotFilters(groupSnapshotsPrefix),
  view: groupSnapshotOf,
};

/** Order of the volumes of a group, so that a spec in another order is the same. */
const byName = (one: VolumeKey, other: VolumeKey): number =>
  compare(one.namespace, other.namespace) || compare(one.id, other.id);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
