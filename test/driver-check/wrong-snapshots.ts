/** Drivers that break one rule each about snapshots, groups of them, and the publication of volumes by the controller. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsiStatus } from '../../src/csi/server.js';
import type { RightState } from './right-driver.js';
import { answers, changes, isUnknown, mistakes, refusesRepeats, replaced, type Wrong, wrong } from './wrong.js';

const snapshots: readonly Wrong[] = [
  changes(
    'ListSnapshots/ids',
    'ListSnapshots',
    ({ entries = [] }, { snapshotId, sourceVolumeId }) => ({
      entries: snapshotId || sourceVolumeId ? entries : [...entries, { snapshot: {} }],
    }),
    {
      also: { 'ListSnapshots/pages': 'failed' },
    },
  ),
  changes(
    'ListSnapshots/current',
    'ListSnapshots',
    ({ entries = [], ...more }, { maxEntries, snapshotId, sourceVolumeId }) => ({
      ...more,
      entries: maxEntries === 0 && !snapshotId && !sourceVolumeId ? [] : entries,
    }),
  ),
  mistakes('ListSnapshots/pages', 'ListSnapshots', ({ startingToken, ...request }) => ({
    ...request,
    startingToken: startingToken === '2' ? '1' : startingToken,
  })),
  answers('ListSnapshots/bad-token', 'ListSnapshots', ({ startingToken }) => startingToken.includes('no-such'), {}),
  answers('ListSnapshots/negative-max', 'ListSnapshots', ({ maxEntries }) => maxEntries < 0, 'ABORTED', {
    timeoutMs: 500,
  }),
  mistakes('ListSnapshots/by-id', 'ListSnapshots', (request) =>
    isUnknown(request.snapshotId) ? request : { ...request, snapshotId: '' },
  ),
  mistakes('ListSnapshots/by-source', 'ListSnapshots', (request) =>
    isUnknown(request.sourceVolumeId) ? request : { ...request, sourceVolumeId: '' },
  ),
  answers('ListSnapshots/unknown-id', 'ListSnapshots', ({ snapshotId }) => isUnknown(snapshotId), 'NOT_FOUND'),
  answers(
    'ListSnapshots/unknown-source',
    'ListSnapshots',
    ({ sourceVolumeId }) => isUnknown(sourceVolumeId),
    'NOT_FOUND',
  ),
  answers('CreateSnapshot/no-name', 'CreateSnapshot', ({ name }) => name === '', 'INTERNAL'),
  answers('CreateSnapshot/no-source', 'CreateSnapshot', ({ sourceVolumeId }) => sourceVolumeId === '', 'NOT_FOUND'),
  answers(
    'CreateSnapshot/unknown-source',
    'CreateSnapshot',
    ({ sourceVolumeId }) => isUnknown(sourceVolumeId),
    'INVALID_ARGUMENT',
  ),
  changes('CreateSnapshot/answer', 'CreateSnapshot', ({ snapshot }) => ({
    snapshot: { ...snapshot, creationTime: undefined },
  })),
  changes('CreateSnapshot/repeat', 'CreateSnapshot', ({ snapshot }, _, times) => ({
    snapshot: { ...snapshot, creationTime: { seconds: times } },
  })),
  changes(
    'CreateSnapshot/ready',
    'CreateSnapshot',
    ({ snapshot }) => ({ snapshot: { ...snapshot, readyToUse: false } }),
    { timeoutMs: 500 },
  ),
  mistakes('CreateSnapshot/other-source', 'CreateSnapshot', (request, state) => {
    const there = [...state.snapshots.values()].find(({ name }) => name === request.name);
    return there ? { ...request, sourceVolumeId: there.sourceVolumeId } : request;
  }),
  wrong('CreateSnapshot/many-at-once', 'calls at once make a snapshot each', (right) => {
    const inFlight = new Map<string, number>();
    return replaced(right, 'CreateSnapshot', async (request, next) => {
      const others = inFlight.get(request.name) ?? 0;
      inFlight.set(request.name, others + 1);
      try {
        await nextTurn();
        return await next(others === 0 ? request : { ...request, name: `${others}-${request.name}` });
      } finally {
        inFlight.set(request.name, (inFlight.get(request.name) ?? 1) - 1);
      }
    });
  }),
  answers('CreateSnapshot/name-128', 'CreateSnapshot', ({ name }) => name.length === 128, 'INVALID_ARGUMENT'),
  answers('CreateSnapshot/odd-name', 'CreateSnapshot', ({ name }) => name.includes(' '), 'INVALID_ARGUMENT'),
  answers('CreateSnapshot/long-name', 'CreateSnapshot', ({ name }) => name.length > 128, 'OUT_OF_RANGE', {
    outcome: 'warning',
  }),
  answers('DeleteSnapshot/no-id', 'DeleteSnapshot', ({ snapshotId }) => snapshotId === '', {}),
  answers('DeleteSnapshot/absent', 'DeleteSnapshot', ({ snapshotId }) => isUnknown(snapshotId), 'NOT_FOUND'),
  refusesRepeats('DeleteSnapshot/repeat', 'DeleteSnapshot'),
  wrong('DeleteSnapshot/in-use', 'a snapshot takes its copies with it', (right, state) =>
    replaced(right, 'DeleteSnapshot', (request, next) => {
      for (const { volumeId, contentSource } of state.volumes.values())
        if (contentSource?.snapshot?.snapshotId === request.snapshotId) state.volumes.delete(volumeId);
      return next(request);
    }),
  ),
  answers('GetSnapshot/no-id', 'GetSnapshot', ({ snapshotId }) => snapshotId === '', 'NOT_FOUND'),
  answers('GetSnapshot/unknown', 'GetSnapshot', ({ snapshotId }) => isUnknown(snapshotId), {}),
  changes('GetSnapshot/same', 'GetSnapshot', ({ snapshot }) => ({ snapshot: { ...snapshot, sourceVolumeId: 'x' } })),
];

const membersOf = (state: RightState, groupId: string): string[] | undefined =>
  state.groups.get(groupId)?.snapshots.map(({ snapshotId }) => snapshotId);

const groups: readonly Wrong[] = [
  answers('CreateVolumeGroupSnapshot/no-name', 'CreateVolumeGroupSnapshot', ({ name }) => name === '', 'INTERNAL'),
  answers(
    'CreateVolumeGroupSnapshot/no-sources',
    'CreateVolumeGroupSnapshot',
    ({ sourceVolumeIds: ids }) => ids.length === 0,
    'INTERNAL',
  ),
  answers(
    'CreateVolumeGroupSnapshot/unknown-source',
    'CreateVolumeGroupSnapshot',
    ({ sourceVolumeIds: ids }) => ids.some(isUnknown),
    'FAILED_PRECONDITION',
  ),
  changes('CreateVolumeGroupSnapshot/answer', 'CreateVolumeGroupSnapshot', ({ groupSnapshot: group }) => ({
    groupSnapshot: {
      ...group,
      snapshots: (group?.snapshots ?? []).map((snapshot) => ({ ...snapshot, groupSnapshotId: '' })),
    },
  })),
  refusesRepeats('CreateVolumeGroupSnapshot/repeat', 'CreateVolumeGroupSnapshot'),
  mistakes('CreateVolumeGroupSnapshot/other-sources', 'CreateVolumeGroupSnapshot', (request, state) => {
    const there = [...state.groups.values()].find(({ name }) => name === request.name);
    return there
      ? { ...request, sourceVolumeIds: there.snapshots.map(({ sourceVolumeId }) => sourceVolumeId) }
      : request;
  }),
  changes(
    'CreateVolumeGroupSnapshot/ready',
    'CreateVolumeGroupSnapshot',
    ({ groupSnapshot: group }) => ({ groupSnapshot: { ...group, readyToUse: false } }),
    {
      timeoutMs: 500,
    },
  ),
  answers(
    'GetVolumeGroupSnapshot/no-id',
    'GetVolumeGroupSnapshot',
    ({ groupSnapshotId: id }) => id === '',
    'NOT_FOUND',
  ),
  answers('GetVolumeGroupSnapshot/unknown', 'GetVolumeGroupSnapshot', ({ groupSnapshotId: id }) => isUnknown(id), {}),
  mistakes(
    'GetVolumeGroupSnapshot/other-list',
    'GetVolumeGroupSnapshot',
    (request, state) => ({
      ...request,
      snapshotIds: membersOf(state, request.groupSnapshotId) ?? request.snapshotIds,
    }),
    { outcome: 'warning' },
  ),
  answers(
    'GetVolumeGroupSnapshot/other-list',
    'GetVolumeGroupSnapshot',
    ({ groupSnapshotId: id, snapshotIds }) => id !== '' && !isUnknown(id) && snapshotIds.some(isUnknown),
    'INTERNAL',
  ),
  changes('GetVolumeGroupSnapshot/same', 'GetVolumeGroupSnapshot', ({ groupSnapshot: group }) => ({
    groupSnapshot: { ...group, snapshots: [] },
  })),
  answers('DeleteVolumeGroupSnapshot/no-id', 'DeleteVolumeGroupSnapshot', ({ groupSnapshotId: id }) => id === '', {}),
  mistakes(
    'DeleteVolumeGroupSnapshot/other-list',
    'DeleteVolumeGroupSnapshot',
    (request, state) => ({
      ...request,
      snapshotIds: membersOf(state, request.groupSnapshotId) ?? request.snapshotIds,
    }),
    { outcome: 'warning' },
  ),
  answers(
    'DeleteVolumeGroupSnapshot/other-list',
    'DeleteVolumeGroupSnapshot',
    ({ groupSnapshotId: id, snapshotIds }) => id !== '' && !isUnknown(id) && snapshotIds.some(isUnknown),
    'INTERNAL',
  ),
  answers(
    'DeleteVolumeGroupSnapshot/absent',
    'DeleteVolumeGroupSnapshot',
    ({ groupSnapshotId: id }) => isUnknown(id),
    'NOT_FOUND',
  ),
  refusesRepeats('DeleteVolumeGroupSnapshot/repeat', 'DeleteVolumeGroupSnapshot'),
];

const publications: readonly Wrong[] = [
  answers(
    'ControllerPublishVolume/no-volume-id',
    'ControllerPublishVolume',
    ({ volumeId }) => volumeId === '',
    'NOT_FOUND',
  ),
  answers('ControllerPublishVolume/no-node-id', 'ControllerPublishVolume', ({ nodeId }) => nodeId === '', 'NOT_FOUND'),
  answers(
    'ControllerPublishVolume/no-capability',
    'ControllerPublishVolume',
    ({ volumeCapability }) => !volumeCapability,
    {},
  ),
  answers(
    'ControllerPublishVolume/unknown-volume',
    'ControllerPublishVolume',
    ({ volumeId }) => isUnknown(volumeId),
    'INTERNAL',
  ),
  answers('ControllerPublishVolume/unknown-node', 'ControllerPublishVolume', ({ nodeId }) => isUnknown(nodeId), {}),
  refusesRepeats('ControllerPublishVolume/repeat', 'ControllerPublishVolume'),
  wrong('ControllerPublishVolume/other-readonly', 'readonly is not looked at', (right) =>
    replaced(right, 'ControllerPublishVolume', (request, next) => next({ ...request, readonly: false })),
  ),
  mistakes('ControllerPublishVolume/other-capability', 'ControllerPublishVolume', (request) => {
    const { volumeCapability: it } = request;
    return it ? { ...request, volumeCapability: { ...it, accessMode: { mode: 'SINGLE_NODE_WRITER' } } } : request;
  }),
  answers(
    'ControllerPublishVolume/other-node',
    'ControllerPublishVolume',
    ({ nodeId }) => nodeId === 'node-2',
    'INTERNAL',
  ),
  wrong('ControllerPublishVolume/attach-limit', 'the limit is told as another code', (right) =>
    replaced(right, 'ControllerPublishVolume', async (request, next) => {
      try {
        return await next(request);
      } catch (error) {
        throw error instanceof CsiStatus && error.code === 'RESOURCE_EXHAUSTED'
          ? new CsiStatus('INTERNAL', 'full')
          : error;
      }
    }),
  ),
  answers('ControllerUnpublishVolume/no-volume-id', 'ControllerUnpublishVolume', ({ volumeId }) => volumeId === '', {}),
  refusesRepeats('ControllerUnpublishVolume/repeat', 'ControllerUnpublishVolume', { also: { 'clean-up': 'failed' } }),
  answers(
    'ControllerUnpublishVolume/not-attached',
    'ControllerUnpublishVolume',
    ({ volumeId }, state) => state.volumes.get(volumeId)?.published.size === 0,
    'INTERNAL',
    { also: { 'ControllerUnpublishVolume/repeat': 'failed' } },
  ),
  answers(
    'ControllerUnpublishVolume/unknown-volume',
    'ControllerUnpublishVolume',
    ({ volumeId }) => isUnknown(volumeId),
    'INTERNAL',
  ),
  wrong(
    'ControllerUnpublishVolume/takes-effect',
    'the first call does nothing',
    (right) => {
      const seen = new Set<string>();
      return replaced(right, 'ControllerUnpublishVolume', (request, next) => {
        if (!request.nodeId || !request.volumeId || seen.has(request.volumeId)) return next(request);
        seen.add(request.volumeId);
        return {};
      });
    },
    // What the driver says is unpublished, is not: so the volume can't be deleted.
    { also: { 'clean-up': 'failed' } },
  ),
  answers(
    'ControllerUnpublishVolume/all-nodes',
    'ControllerUnpublishVolume',
    ({ nodeId, volumeId }) => nodeId === '' && volumeId !== '',
    {},
    {
      also: { 'clean-up': 'failed' },
    },
  ),
];

export const wrongSnapshots: readonly Wrong[] = [...snapshots, ...groups, ...publications];
