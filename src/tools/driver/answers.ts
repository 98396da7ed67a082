/** Volumes, with their condition, snapshots and groups of them, in the form of CSI. */
import type { Snapshot, Timestamp, Volume, VolumeCondition, VolumeGroupSnapshot } from '../../csi/generated/plain.js';
import { messageOf } from '../../errors.js';
import type { ControllerContext } from './controller-context.js';
import { topologyOf } from './identity.js';
import { warnAboveShareOf } from './parameters.js';
import type { DriverState, GroupRecord, SnapshotRecord, VolumeRecord } from './state.js';

interface VolumeStatus {
  publishedNodeIds: string[];
  volumeCondition: VolumeCondition;
}

export function volumeAnswer({ state }: ControllerContext, { id, capacityBytes, source }: VolumeRecord): Volume {
  return {
    volumeId: id,
    capacityBytes: BigInt(capacityBytes),
    volumeContext: {},
    ...(source && { contentSource: 'snapshotId' in source ? { snapshot: source } : { volume: source } }),
    accessibleTopology: state.isShared ? [] : [topologyOf(state.nodeId)],
  };
}

export async function statusOf(context: ControllerContext, volume: VolumeRecord): Promise<VolumeStatus> {
  const publishedNodeIds = context.attach ? Object.keys(volume.publications) : [];
  return { publishedNodeIds, volumeCondition: await conditionOf(context, volume) };
}

async function conditionOf({ contents, measure }: ControllerContext, volume: VolumeRecord): Promise<VolumeCondition> {
  const path = contents.pathOf(volume);
  try {
    if (!(await contents.exists(volume)))
      return { abnormal: true, message: `its content is missing: nothing is at ${path}; put it back` };
  } catch (error) {
    return { abnormal: true, message: `its content can't be looked at: ${messageOf(error)}` };
  }
  const share = warnAboveShareOf(volume.mutableParameters);
  if (share === undefined) return { abnormal: false, message: 'its content is there' };
  try {
    const { usedBytes } = await measure(path);
    const message = `${usedBytes} of ${volume.capacityBytes} bytes are in use`;
    return { abnormal: usedBytes > share * volume.capacityBytes, message };
  } catch (error) {
    return { abnormal: false, message: messageOf(error) };
  }
}

export const snapshotIdPrefix = 'snap-';

/** Finds a snapshot. A member of a group is visible once the whole group is complete. */
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
