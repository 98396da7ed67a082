/**
 * Snapshots of single volumes and of groups: copies that keep nothing of their source. The record of a group is what makes its
 * members count: it is written last and removed first. Members without one are removed, by their maker or by the next driver.
 */
import { randomUUID } from 'node:crypto';
import { type CsiHandlers, CsiStatus } from '../../csi/server.js';
import { messageOf } from '../../errors.js';
import {
  completeSnapshot,
  completeSnapshots,
  groupAnswer,
  isComplete,
  snapshotAnswer,
  snapshotIdPrefix,
} from './answers.js';
import type { ControllerContext } from './controller-context.js';
import { statusFor } from './disk.js';
import { checkParameters } from './parameters.js';
import { checkId, checkSizes, entriesPage, invalid, notFound, requireId, requireName } from './requests.js';
import type { GroupRecord, SnapshotRecord, VolumeRecord } from './state.js';
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
    const { items, nextToken } = entriesPage(matching, snapshotIdPrefix, request);
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
function newSnapshot(volume: VolumeRecord, name: string, createdAtMs: number): SnapshotRecord {
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

/** Attempts to copy all sources without a change meanwhile. */
const maxAttempts = 3;

export const groupSnapshotHandlers = (context: ControllerContext): CsiHandlers => ({
  GroupControllerGetCapabilities: () => ({
    capabilities: [{ rpc: { type: 'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT' } }],
  }),

  CreateVolumeGroupSnapshot: async (request) => {
    checkSizes(request);
    const name = requireName(request.name);
    const sourceIds = requireSources(request.sourceVolumeIds);
    checkParameters(request.parameters);
    const { state } = context;
    const group = await state.pending.only([`group-name/${name}`], async () => {
      const existing = state.groups.find((known) => known.name === name);
      if (existing && sameIds(existing.sourceVolumeIds, sourceIds)) return existing;
      if (existing) throw otherSources(existing);
      const keys = sourceIds.map((id) => `volume/${id}`);
      return state.pending.only(keys, () => createGroup(context, name, sourceIds));
    });
    return { groupSnapshot: groupAnswer(state, group) };
  },

  DeleteVolumeGroupSnapshot: async (request) => {
    checkSizes(request);
    const id = requireId('groupSnapshotId', request.groupSnapshotId);
    await context.state.pending.only([`group/${id}`], () => deleteGroup(context, id, request.snapshotIds));
    return {};
  },

  GetVolumeGroupSnapshot: (request) => {
    checkSizes(request);
    const id = requireId('groupSnapshotId', request.groupSnapshotId);
    const group = context.state.groups.get(id);
    if (!group) throw new CsiStatus('NOT_FOUND', `there is no group snapshot ${JSON.stringify(id)} here`);
    checkMembers(group, request.snapshotIds);
    return { groupSnapshot: groupAnswer(context.state, group) };
  },
});

/**
 * Removes the records of members whose group was never finished, or was deleted. Content that is left then belongs to
 * a group whose record was lost: it is kept, with a warning.
 */
export async function removeIncomplete({
  state,
  contents,
}: Pick<ControllerContext, 'state' | 'contents'>): Promise<void> {
  for (const snapshot of state.snapshots.all()) {
    if (isComplete(state, snapshot)) continue;
    if (await contents.exists(snapshot))
      process.emitWarning(`the record of the group ${snapshot.groupId} is gone: put it back, or delete that group`);
    else await state.snapshots.remove(snapshot.id);
  }
}

function requireSources(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) throw invalid('source_volume_ids is missing');
  for (const id of ids) requireId('sourceVolumeIds', id);
  if (new Set(ids).size < ids.length) throw invalid('source_volume_ids has a volume twice');
  return ids;
}

/** Makes all members or none. Sources that change during the copies fail the attempt: that would not be one moment. */
async function createGroup(
  context: ControllerContext,
  name: string,
  sourceIds: readonly string[],
): Promise<GroupRecord> {
  const volumes = sourceIds.map((id) => requireVolume(context.state, id));
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const group = await tryToCreate(context, name, volumes);
    if (group) return group;
  }
  const message = 'the volumes are written to: stop or freeze their users, so that all can be copied as of one moment';
  throw new CsiStatus('FAILED_PRECONDITION', message);
}

async function tryToCreate(
  context: ControllerContext,
  name: string,
  volumes: readonly VolumeRecord[],
): Promise<GroupRecord | undefined> {
  const { state, contents } = context;
  const id = `group-${randomUUID()}`;
  const createdAtMs = Date.now();
  const copies = volumes.map((copyOf) => ({
    copyOf,
    member: { ...newSnapshot(copyOf, '', createdAtMs), groupId: id },
  }));
  const members = copies.map(({ member }) => member);
  const group: GroupRecord = {
    id,
    name,
    sourceVolumeIds: volumes.map((volume) => volume.id),
    snapshotIds: members.map((member) => member.id),
    createdAtMs,
  };
  try {
    const isOneMoment = await contents.unchangedDuring(volumes, async () => {
      for (const { copyOf, member } of copies) await contents.make({ ...member, copyOf });
    });
    if (isOneMoment) {
      await contents.keep(members, async () => {
        for (const member of members) await state.snapshots.put(member);
        await state.groups.put(group);
      });
      return group;
    }
  } catch (error) {
    // The reason of the failure counts. Leftovers are invisible, and the next driver removes them.
    if (!state.groups.get(id)) await discard(context, members).catch((left) => process.emitWarning(messageOf(left)));
    throw statusFor(error);
  }
  await discard(context, members);
  return undefined;
}

/** Removes the records last: as long as there is one, the deletion of the group finds what is left. */
async function discard({ state, contents }: ControllerContext, members: readonly SnapshotRecord[]): Promise<void> {
  for (const member of members) {
    await contents.remove(member);
    await state.snapshots.remove(member.id);
  }
}

async function deleteGroup(context: ControllerContext, id: string, snapshotIds: readonly string[]): Promise<void> {
  const { state, contents } = context;
  const group = state.groups.get(id);
  if (group) checkMembers(group, snapshotIds);
  const members = state.snapshots.all().filter(({ groupId }) => groupId === id);
  const keys = members.map((member) => `snapshot/${member.id}`);
  await state.pending.only(keys, async () => {
    await contents.drop(members, () => (group ? state.groups.remove(id) : Promise.resolve()));
    for (const member of members) await state.snapshots.remove(member.id);
  });
}

/** @throws {CsiStatus} INVALID_ARGUMENT: not the members of this group */
function checkMembers(group: GroupRecord, snapshotIds: readonly string[]): void {
  for (const id of snapshotIds) checkId('snapshotIds', id);
  if (sameIds(group.snapshotIds, snapshotIds)) return;
  throw invalid(`snapshot_ids must be those of the group ${group.id}: ${group.snapshotIds.join(', ')}`);
}

function sameIds(some: readonly string[], others: readonly string[]): boolean {
  const [a, b] = [new Set(some), new Set(others)];
  return a.size === b.size && [...a].every((id) => b.has(id));
}

function otherSources({ id, sourceVolumeIds }: GroupRecord): CsiStatus {
  const message = `the group snapshot ${id} has this name, but is of ${sourceVolumeIds.join(', ')}: choose another name`;
  return new CsiStatus('ALREADY_EXISTS', message);
}
