/**
 * A small driver that keeps every rule and offers everything: plain handlers, all in memory but the content of volumes,
 * which is in directories, and in images for block volumes. Its mounts are real: bind mounts and loop devices.
 * The wrong drivers are made of it: wrong-drivers.ts
 */
import { cpSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  Snapshot,
  Volume,
  VolumeCapability,
  VolumeContentSource,
  VolumeGroupSnapshot,
} from '../../src/csi/generated/plain.js';
import { type CsiHandlers, CsiStatus } from '../../src/csi/server.js';
import { nodeHandlers } from './right-node.js';

interface HeldVolume extends Volume {
  name: string;
  isBlock: boolean;
  capabilities: VolumeCapability[];
  parameters: Record<string, string>;
  mutable: Record<string, string>;
  /** By node id: how it is published there. */
  published: Map<string, string>;
}

/** What the driver knows, open to tests. */
export interface RightState {
  folder: string;
  volumes: Map<string, HeldVolume>;
  snapshots: Map<string, Snapshot & { name: string }>;
  groups: Map<string, VolumeGroupSnapshot & { name: string; sources: string }>;
  /** By path: how it is staged there, and published. */
  staged: Map<string, string>;
  targets: Map<string, { volumeId: string; how: string; mode: string; device: string }>;
}

export const nodeId = 'node-1';
export const otherNodeId = 'node-2';
export const topology = { segments: { 'check.test/zone': 'a' } };
export const maxVolumes = 3;

const defaultBytes = 1n << 20n;
const mostBytes = 1n << 40n;
const epochSeconds = 1_700_000_000n;

const controllerCapabilities = [
  'CREATE_DELETE_VOLUME',
  'PUBLISH_UNPUBLISH_VOLUME',
  'LIST_VOLUMES',
  'GET_CAPACITY',
  'CREATE_DELETE_SNAPSHOT',
  'LIST_SNAPSHOTS',
  'CLONE_VOLUME',
  'PUBLISH_READONLY',
  'EXPAND_VOLUME',
  'LIST_VOLUMES_PUBLISHED_NODES',
  'GET_VOLUME',
  'SINGLE_NODE_MULTI_WRITER',
  'MODIFY_VOLUME',
  'GET_SNAPSHOT',
] as const;

export const newState = (folder: string): RightState => ({
  folder,
  volumes: new Map(),
  snapshots: new Map(),
  groups: new Map(),
  staged: new Map(),
  targets: new Map(),
});

export const rightDriver = (state: RightState): CsiHandlers => ({
  ...identity,
  ...volumeHandlers(state),
  ...publishHandlers(state),
  ...snapshotHandlers(state),
  ...groupHandlers(state),
  ...nodeHandlers(state),
});

export function need(holds: unknown, what: string): asserts holds {
  if (!holds) throw new CsiStatus('INVALID_ARGUMENT', `${what} is missing or not allowed`);
}

export function found<T>(thing: T | undefined, what: string): T {
  if (thing === undefined) throw new CsiStatus('NOT_FOUND', `there is no ${what}`);
  return thing;
}

export const contentOf = (state: RightState, id: string): string => join(state.folder, Buffer.from(id).toString('hex'));

const identity: CsiHandlers = {
  GetPluginInfo: () => ({ name: 'right.check.test', vendorVersion: '1' }),
  GetPluginCapabilities: () => ({
    capabilities: [
      { service: { type: 'CONTROLLER_SERVICE' } },
      { service: { type: 'GROUP_CONTROLLER_SERVICE' } },
      { service: { type: 'VOLUME_ACCESSIBILITY_CONSTRAINTS' } },
      { volumeExpansion: { type: 'ONLINE' } },
    ],
  }),
  Probe: () => ({}),
  ControllerGetCapabilities: () => ({ capabilities: controllerCapabilities.map((type) => ({ rpc: { type } })) }),
  GroupControllerGetCapabilities: () => ({
    capabilities: [{ rpc: { type: 'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT' } }],
  }),
  GetCapacity: () => ({ availableCapacity: mostBytes, minimumVolumeSize: 1n, maximumVolumeSize: mostBytes }),
};

function checkCapabilities(capabilities: VolumeCapability[]): void {
  need(capabilities.length > 0, 'volume_capabilities');
  for (const { mount, block, accessMode } of capabilities) {
    need((mount || block) && accessMode, 'volume_capabilities');
    need(['', 'ext4'].includes(mount?.fsType ?? ''), 'fs_type');
  }
}

/** Whether the volume was made for it. */
export const canBeUsed = ({ capabilities, isBlock }: HeldVolume, { block, accessMode }: VolumeCapability): boolean =>
  isBlock === (block !== undefined) && capabilities.some((made) => made.accessMode?.mode === accessMode?.mode);

const sameMap = (one: Record<string, string>, other: Record<string, string>): boolean =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

const sourceText = (source: VolumeContentSource | undefined): string =>
  source?.snapshot?.snapshotId ?? source?.volume?.volumeId ?? '';

const bytesOf = (required: bigint, limit: bigint): bigint => {
  if (required < 0n || (limit > 0n && limit < required) || required > mostBytes)
    throw new CsiStatus('OUT_OF_RANGE', 'no such size');
  return required || defaultBytes;
};

const volumeHandlers = (state: RightState): CsiHandlers => ({
  CreateVolume: ({ name, capacityRange, volumeCapabilities, volumeContentSource, parameters }) => {
    need(name && Buffer.byteLength(name) <= 128, 'name');
    checkCapabilities(volumeCapabilities);
    const capacityBytes = bytesOf(capacityRange?.requiredBytes ?? 0n, capacityRange?.limitBytes ?? 0n);
    const there = [...state.volumes.values()].find((volume) => volume.name === name);
    if (there) {
      const isSame =
        sourceText(there.contentSource) === sourceText(volumeContentSource) &&
        sameMap(there.parameters, parameters) &&
        volumeCapabilities.every((capability) => canBeUsed(there, capability));
      if (!isSame || there.capacityBytes !== capacityBytes) throw new CsiStatus('ALREADY_EXISTS', 'it is another');
      return { volume: plain(there) };
    }
    const isBlock = volumeCapabilities[0]?.block !== undefined;
    const sourceId = sourceText(volumeContentSource);
    if (volumeContentSource?.snapshot) found(state.snapshots.get(sourceId), 'snapshot');
    if (volumeContentSource?.volume) found(state.volumes.get(sourceId), 'volume');
    const volume: HeldVolume = {
      name,
      volumeId: `v-${nextNumber()}`,
      capacityBytes,
      volumeContext: { made: 'by check' },
      accessibleTopology: [topology],
      ...(volumeContentSource && { contentSource: volumeContentSource }),
      isBlock,
      capabilities: volumeCapabilities,
      parameters,
      mutable: {},
      published: new Map(),
    };
    makeContent(state, volume, sourceId);
    state.volumes.set(volume.volumeId, volume);
    return { volume: plain(volume) };
  },
  DeleteVolume: ({ volumeId }) => {
    need(volumeId, 'volume_id');
    const volume = state.volumes.get(volumeId);
    if (volume && volume.published.size > 0) throw new CsiStatus('FAILED_PRECONDITION', 'it is published');
    if (volume) rmSync(contentOf(state, volumeId), { recursive: true });
    state.volumes.delete(volumeId);
    return {};
  },
  ValidateVolumeCapabilities: ({ volumeId, volumeCapabilities, volumeContext, mutableParameters }) => {
    need(volumeId, 'volume_id');
    checkCapabilities(volumeCapabilities);
    const volume = found(state.volumes.get(volumeId), 'volume');
    const isConfirmed =
      volumeCapabilities.every((capability) => canBeUsed(volume, capability)) &&
      Object.entries(mutableParameters).every(([name, value]) => volume.mutable[name] === value);
    return isConfirmed
      ? { confirmed: { volumeCapabilities, volumeContext, mutableParameters } }
      : { message: 'it is not like that' };
  },
  ListVolumes: ({ maxEntries, startingToken }) => {
    const { entries, nextToken } = pageOf([...state.volumes.values()], maxEntries, startingToken);
    const published = entries.map((volume) => ({ publishedNodeIds: [...volume.published.keys()] }));
    return {
      entries: entries.map((volume, index) => ({ volume: plain(volume), status: published[index] })),
      nextToken,
    };
  },
  ControllerGetVolume: ({ volumeId }) => {
    need(volumeId, 'volume_id');
    return { volume: plain(found(state.volumes.get(volumeId), 'volume')) };
  },
  ControllerModifyVolume: ({ volumeId, mutableParameters }) => {
    need(volumeId, 'volume_id');
    const volume = found(state.volumes.get(volumeId), 'volume');
    need(
      Object.keys(mutableParameters).every((name) => name === 'speed'),
      'parameter',
    );
    volume.mutable = mutableParameters;
    return {};
  },
  ControllerExpandVolume: ({ volumeId, capacityRange }) => {
    need(volumeId, 'volume_id');
    need(capacityRange, 'capacity_range');
    const volume = found(state.volumes.get(volumeId), 'volume');
    const asked = bytesOf(capacityRange.requiredBytes, capacityRange.limitBytes);
    if (asked > volume.capacityBytes) volume.capacityBytes = asked;
    if (volume.isBlock) truncateSync(contentOf(state, volumeId), Number(volume.capacityBytes));
    return { capacityBytes: volume.capacityBytes, nodeExpansionRequired: true };
  },
});

function makeContent(state: RightState, { volumeId, isBlock, capacityBytes }: HeldVolume, sourceId: string): void {
  const path = contentOf(state, volumeId);
  if (sourceId) cpSync(contentOf(state, sourceId), path, { recursive: true });
  else if (isBlock) writeFileSync(path, '');
  else mkdirSync(path);
  if (isBlock) truncateSync(path, Number(capacityBytes));
}

const plain = ({ volumeId, capacityBytes, volumeContext, accessibleTopology, contentSource }: HeldVolume): Volume => ({
  volumeId,
  capacityBytes,
  volumeContext,
  accessibleTopology,
  ...(contentSource && { contentSource }),
});

function pageOf<T>(all: T[], maxEntries: number, token: string): { entries: T[]; nextToken: string } {
  need(maxEntries >= 0, 'max_entries');
  const from = Number(token || 0);
  if (!Number.isInteger(from) || from > all.length) throw new CsiStatus('ABORTED', 'begin again');
  const to = maxEntries === 0 ? all.length : Math.min(from + maxEntries, all.length);
  return { entries: all.slice(from, to), nextToken: to < all.length ? String(to) : '' };
}

const publishHandlers = (state: RightState): CsiHandlers => ({
  ControllerPublishVolume: ({ volumeId, nodeId: node, volumeCapability, readonly }) => {
    need(volumeId, 'volume_id');
    need(node, 'node_id');
    need(volumeCapability, 'volume_capability');
    const { published } = found(state.volumes.get(volumeId), 'volume');
    found(
      [nodeId, otherNodeId].find((known) => known === node),
      'node',
    );
    const how = JSON.stringify([volumeCapability, readonly]);
    const there = published.get(node);
    if (there !== undefined && there !== how) throw new CsiStatus('ALREADY_EXISTS', 'in another way');
    if (there === undefined && published.size > 0) throw new CsiStatus('FAILED_PRECONDITION', 'elsewhere');
    const attached = [...state.volumes.values()].filter((volume) => volume.published.has(node)).length;
    if (there === undefined && attached >= maxVolumes) throw new CsiStatus('RESOURCE_EXHAUSTED', 'no slot');
    published.set(node, how);
    return { publishContext: { slot: '1' } };
  },
  ControllerUnpublishVolume: ({ volumeId, nodeId: node }) => {
    need(volumeId, 'volume_id');
    const published = state.volumes.get(volumeId)?.published;
    if (node) published?.delete(node);
    else published?.clear();
    return {};
  },
});

const snapshotHandlers = (state: RightState): CsiHandlers => ({
  CreateSnapshot: ({ name, sourceVolumeId }) => {
    need(name && Buffer.byteLength(name) <= 128, 'name');
    need(sourceVolumeId, 'source_volume_id');
    found(state.volumes.get(sourceVolumeId), 'volume');
    const there = [...state.snapshots.values()].find((snapshot) => snapshot.name === name);
    if (there && there.sourceVolumeId !== sourceVolumeId) throw new CsiStatus('ALREADY_EXISTS', 'of another volume');
    return { snapshot: bare(there ?? take(state, name, sourceVolumeId, '')) };
  },
  DeleteSnapshot: ({ snapshotId }) => {
    need(snapshotId, 'snapshot_id');
    if (state.snapshots.has(snapshotId)) rmSync(contentOf(state, snapshotId), { recursive: true });
    state.snapshots.delete(snapshotId);
    return {};
  },
  ListSnapshots: ({ maxEntries, startingToken, snapshotId, sourceVolumeId }) => {
    const all = [...state.snapshots.values()].filter(
      (snapshot) =>
        (!snapshotId || snapshot.snapshotId === snapshotId) &&
        (!sourceVolumeId || snapshot.sourceVolumeId === sourceVolumeId),
    );
    const { entries, nextToken } = pageOf(all, maxEntries, startingToken);
    return { entries: entries.map((snapshot) => ({ snapshot: bare(snapshot) })), nextToken };
  },
  GetSnapshot: ({ snapshotId }) => {
    need(snapshotId, 'snapshot_id');
    return { snapshot: bare(found(state.snapshots.get(snapshotId), 'snapshot')) };
  },
});

const bare = ({ name: _, ...snapshot }: Snapshot & { name: string }): Snapshot => snapshot;

let numbers = 0;

const nextNumber = (): number => {
  numbers += 1;
  return numbers;
};

function take(
  state: RightState,
  name: string,
  sourceVolumeId: string,
  groupSnapshotId: string,
): Snapshot & { name: string } {
  const number = nextNumber();
  const snapshot = {
    name,
    snapshotId: `s-${number}`,
    sourceVolumeId,
    sizeBytes: state.volumes.get(sourceVolumeId)?.capacityBytes ?? 0n,
    creationTime: { seconds: epochSeconds + BigInt(number), nanos: 0 },
    readyToUse: true,
    groupSnapshotId,
  };
  cpSync(contentOf(state, sourceVolumeId), contentOf(state, snapshot.snapshotId), { recursive: true });
  state.snapshots.set(snapshot.snapshotId, snapshot);
  return snapshot;
}

const groupHandlers = (state: RightState): CsiHandlers => ({
  CreateVolumeGroupSnapshot: ({ name, sourceVolumeIds }) => {
    need(name, 'name');
    need(sourceVolumeIds.length > 0, 'source_volume_ids');
    for (const id of sourceVolumeIds) found(state.volumes.get(id), 'volume');
    const sources = [...sourceVolumeIds].sort().join();
    const there = [...state.groups.values()].find((group) => group.name === name);
    if (there && there.sources !== sources) throw new CsiStatus('ALREADY_EXISTS', 'of other volumes');
    if (there) return { groupSnapshot: groupOf(there) };
    const groupSnapshotId = `g-${name}`;
    const snapshots = sourceVolumeIds.map((id) => take(state, `${name}-${id}`, id, groupSnapshotId));
    const creationTime = { seconds: epochSeconds, nanos: 0 };
    const group = { name, sources, groupSnapshotId, snapshots: snapshots.map(bare), creationTime, readyToUse: true };
    state.groups.set(groupSnapshotId, group);
    return { groupSnapshot: groupOf(group) };
  },
  GetVolumeGroupSnapshot: ({ groupSnapshotId, snapshotIds }) => {
    need(groupSnapshotId, 'group_snapshot_id');
    need(snapshotIds.length > 0, 'snapshot_ids');
    const group = found(state.groups.get(groupSnapshotId), 'group');
    need(
      snapshotIds.every((id) => group.snapshots.some((snapshot) => snapshot.snapshotId === id)),
      'snapshot_ids',
    );
    return { groupSnapshot: groupOf(group) };
  },
  DeleteVolumeGroupSnapshot: ({ groupSnapshotId, snapshotIds }) => {
    need(groupSnapshotId, 'group_snapshot_id');
    need(snapshotIds.length > 0, 'snapshot_ids');
    const group = state.groups.get(groupSnapshotId);
    if (!group) return {};
    need(
      snapshotIds.every((id) => group.snapshots.some((snapshot) => snapshot.snapshotId === id)),
      'snapshot_ids',
    );
    for (const { snapshotId } of group.snapshots) state.snapshots.delete(snapshotId);
    state.groups.delete(groupSnapshotId);
    return {};
  },
});

const groupOf = ({
  groupSnapshotId,
  snapshots,
  creationTime,
  readyToUse,
}: VolumeGroupSnapshot): VolumeGroupSnapshot => ({
  groupSnapshotId,
  snapshots,
  readyToUse,
  ...(creationTime && { creationTime }),
});
