/**
 * Snapshot calls of CSI: translates between Stagecraft's types and CSI messages. The callers decide which
 * calls to make, and what errors mean. The port: snapshots/snapshot-port.ts
 */
import type { MadeSnapshot, MemberSnapshot } from '../../machines/snapshot/types.js';
import type { RpcName } from '../csi/answers.js';
import { csiError } from '../csi/codes.js';
import { leftOutOf } from '../csi/fields.js';
import type * as plain from '../csi/generated/plain.js';
import { StagecraftError } from '../errors.js';
import type { SnapshotPort } from '../snapshots/snapshot-port.js';
import { boundedBy, csi } from './bounded.js';
import { bytesOf } from './volume-words.js';

export const csiSnapshots = ({ timeoutMs }: { timeoutMs: number }): SnapshotPort => {
  const bounded = boundedBy(timeoutMs);
  return {
    async createSnapshot(client, { name, sourceIds, parameters }, bounds) {
      const [sourceVolumeId = ''] = sourceIds;
      const request = { name, sourceVolumeId, parameters, secrets: bounds.secrets };
      const { snapshot } = await csi(client).createSnapshot(request, bounded(bounds));
      return madeOf('CreateSnapshot', snapshot);
    },
    deleteSnapshot: (client, { csiId }, bounds) =>
      csi(client).deleteSnapshot({ snapshotId: csiId, secrets: bounds.secrets }, bounded(bounds)),
    getSnapshot: (client, { csiId }, bounds) =>
      unlessNotFound(async () => {
        const { snapshot } = await csi(client).getSnapshot(
          { snapshotId: csiId, secrets: bounds.secrets },
          bounded(bounds),
        );
        return madeOf('GetSnapshot', snapshot);
      }),
    async listedSnapshot(client, { csiId }, bounds) {
      const { entries } = await csi(client).listSnapshots(
        { snapshotId: csiId, secrets: bounds.secrets },
        bounded(bounds),
      );
      const listed = entries.find(({ snapshot }) => snapshot?.snapshotId === csiId);
      const leftOut = leftOutOf(entries);
      // The snapshot may be the one that was left out.
      if (!listed && leftOut)
        throw csiError('ListSnapshots', 'OK', `the plugin lists what CSI does not allow: ${leftOut.why}`, 'driver-bug');
      return listed && madeOf('ListSnapshots', listed.snapshot);
    },
    groupCapabilities: (client, bounds) => csi(client).groupControllerGetCapabilities(bounded(bounds)),
    async createGroup(client, { name, sourceIds: sourceVolumeIds, parameters }, bounds) {
      const request = { name, sourceVolumeIds, parameters, secrets: bounds.secrets };
      const { groupSnapshot } = await csi(client).createVolumeGroupSnapshot(request, bounded(bounds));
      return madeGroup('CreateVolumeGroupSnapshot', groupSnapshot);
    },
    deleteGroup: (client, ids, bounds) =>
      csi(client).deleteVolumeGroupSnapshot({ ...groupIds(ids), secrets: bounds.secrets }, bounded(bounds)),
    getGroup: (client, ids, bounds) =>
      unlessNotFound(async () => {
        const request = { ...groupIds(ids), secrets: bounds.secrets };
        const { groupSnapshot } = await csi(client).getVolumeGroupSnapshot(request, bounded(bounds));
        return madeGroup('GetVolumeGroupSnapshot', groupSnapshot);
      }),
  };
};

const groupIds = ({ csiId, memberIds }: { csiId: string; memberIds: string[] }) => ({
  groupSnapshotId: csiId,
  snapshotIds: memberIds,
});

async function unlessNotFound<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StagecraftError && error.grpcCode === 'NOT_FOUND') return undefined;
    throw error;
  }
}

function madeOf(rpc: RpcName, snapshot: plain.Snapshot | undefined): MadeSnapshot {
  if (!snapshot?.snapshotId) throw csiError(rpc, 'OK', 'the plugin answered OK without a snapshot id', 'driver-bug');
  const { snapshotId, readyToUse, creationTime } = snapshot;
  return { csiId: snapshotId, isReady: readyToUse, members: [memberOf(snapshot)], ...takenAt(creationTime) };
}

function madeGroup(rpc: RpcName, group: plain.VolumeGroupSnapshot | undefined): MadeSnapshot {
  if (!group?.groupSnapshotId)
    throw csiError(rpc, 'OK', 'the plugin answered OK without the id of a group snapshot', 'driver-bug');
  const { groupSnapshotId, snapshots, readyToUse, creationTime } = group;
  return { csiId: groupSnapshotId, isReady: readyToUse, members: snapshots.map(memberOf), ...takenAt(creationTime) };
}

const memberOf = ({ snapshotId, sourceVolumeId, sizeBytes }: plain.Snapshot): MemberSnapshot => ({
  csiId: snapshotId,
  sourceCsiId: sourceVolumeId,
  ...(sizeBytes > 0n && { sizeBytes: bytesOf(sizeBytes) }),
});

const takenAt = (time: plain.Timestamp | undefined): { takenAtMs?: number } =>
  time ? { takenAtMs: Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1e6) } : {};
