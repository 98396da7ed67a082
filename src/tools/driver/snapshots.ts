/** Snapshots of single volumes: copies that keep nothing of their source. Groups: group-snapshots.ts */
import { randomUUID } from 'node:crypto';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import type { ControllerContext } from './controller-context.js';
import { pageOf } from './paging.js';
import { checkParameters } from './parameters.js';
import { checkSizes, invalid, notFound, requireId, requireName } from './requests.js';
import { completeSnapshot, completeSnapshots, snapshotAnswer, snapshotIdPrefix } from './snapshot-answers.js';
import type { SnapshotRecord, VolumeRecord } from './state.js';
import { requireVolume } from './volumes.js';

export const snapshotHandlers = (context: ControllerContext): CsiHandlers => ({
  CreateSnapshot: async (request) => {
    checkSizes(request);
    const name = requireName(request.name);
    const sourceVolumeId = requireId('sourceVolumeId', request.sourceVolumeId);
    checkParameters(request.parameters);
    const { snapshots, pending } = context.state;
    const snapshot = await pending.only([`snapshot-name/${name}`], async () => {
      const existing = snapshots.find((known) => known.name === name && known.groupId === undefined);
      if (existing?.sourceVolumeId === sourceVolumeId) return existing;
      if (existing) throw otherSource(existing);
      return pending.only([`volume/${sourceVolumeId}`], () => create(context, name, sourceVolumeId));
    });
    return { snapshot: snapshotAnswer(snapshot) };
  },

  DeleteSnapshot: async (request) => {
    checkSizes(request);
    await deleteSnapshot(context, requireId('snapshotId', request.snapshotId));
    return {};
  },

  ListSnapshots: (request) => {
    checkSizes(request);
    const { snapshotId, sourceVolumeId: sourceId } = request;
    const matching = completeSnapshots(context.state).filter(
      (snapshot) =>
        (snapshotId === '' || snapshot.id === snapshotId) && (sourceId === '' || snapshot.sourceVolumeId === sourceId),
    );
    const { items, nextToken } = pageOf(matching, snapshotIdPrefix, request);
    return { entries: items.map((snapshot) => ({ snapshot: snapshotAnswer(snapshot) })), nextToken };
  },
});

export const getSnapshotHandler = ({ state }: ControllerContext): CsiHandlers => ({
  GetSnapshot: (request) => {
    checkSizes(request);
    const snapshot = completeSnapshot(state, requireId('snapshotId', request.snapshotId));
    if (!snapshot) throw notFound('snapshot', request.snapshotId);
    return { snapshot: snapshotAnswer(snapshot) };
  },
});

/** Record of a snapshot of this volume, taken now; nothing is copied yet. */
export function newSnapshot(volume: VolumeRecord, name: string, createdAtMs: number): SnapshotRecord {
  const { id: sourceVolumeId, accessType, capacityBytes: sizeBytes } = volume;
  return { id: snapshotIdPrefix + randomUUID(), name, sourceVolumeId, accessType, sizeBytes, createdAtMs };
}

async function create(
  { state, contents }: ControllerContext,
  name: string,
  sourceVolumeId: string,
): Promise<SnapshotRecord> {
  const volume = requireVolume(state, sourceVolumeId);
  const snapshot = newSnapshot(volume, name, Date.now());
  await contents.make({ ...snapshot, copyOf: volume });
  await contents.keep([snapshot], () => state.snapshots.put(snapshot));
  return snapshot;
}

function deleteSnapshot({ state, contents }: ControllerContext, id: string): Promise<void> {
  return state.pending.only([`snapshot/${id}`], async () => {
    const snapshot = completeSnapshot(state, id);
    if (!snapshot) return contents.removeLeft(id);
    if (snapshot.groupId !== undefined)
      throw invalid(`the snapshot is one of the group ${snapshot.groupId}: delete that with DeleteVolumeGroupSnapshot`);
    await contents.drop([snapshot], () => state.snapshots.remove(id));
  });
}

function otherSource({ id, sourceVolumeId }: SnapshotRecord): CsiStatus {
  const message = `the snapshot ${id} has this name, but is of the volume ${sourceVolumeId}: choose another name`;
  return new CsiStatus('ALREADY_EXISTS', message);
}
