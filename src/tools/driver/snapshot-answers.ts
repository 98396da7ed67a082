/** Snapshots in the form of CSI. A member of a group is visible once the whole group is complete. */
import type { Snapshot, Timestamp, VolumeGroupSnapshot } from '../../csi/generated/plain.js';
import type { DriverState, GroupRecord, SnapshotRecord } from './state.js';

export const snapshotIdPrefix = 'snap-';

export function completeSnapshot(state: DriverState, id: string): SnapshotRecord | undefined {
  const snapshot = state.snapshots.get(id);
  return snapshot && isComplete(state, snapshot) ? snapshot : undefined;
}

export const completeSnapshots = (state: DriverState): SnapshotRecord[] =>
  state.snapshots.all().filter((snapshot) => isComplete(state, snapshot));

export const isComplete = ({ groups }: DriverState, { groupId }: SnapshotRecord): boolean =>
  groupId === undefined || groups.get(groupId) !== undefined;

export function snapshotAnswer({ id, sourceVolumeId, sizeBytes, createdAtMs, groupId }: SnapshotRecord): Snapshot {
  return {
    snapshotId: id,
    sourceVolumeId,
    sizeBytes: BigInt(sizeBytes),
    creationTime: timestampOf(createdAtMs),
    readyToUse: true,
    groupSnapshotId: groupId ?? '',
  };
}

export function groupAnswer({ snapshots }: DriverState, group: GroupRecord): VolumeGroupSnapshot {
  const members = group.snapshotIds.map((id) => snapshots.get(id)).filter((member) => member !== undefined);
  return {
    groupSnapshotId: group.id,
    snapshots: members.map(snapshotAnswer),
    creationTime: timestampOf(group.createdAtMs),
    readyToUse: true,
  };
}

const timestampOf = (ms: number): Timestamp => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: (ms % 1000) * 1_000_000,
});
