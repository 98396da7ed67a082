/** Turns records of snapshots into the views that callers get, and broadcasts into events. */
import type { Failure } from '../../machines/kit/host.js';
import type { SnapshotContext } from '../../machines/snapshot/phases.js';
import { snapshotStateOf, snapshotStepOf } from '../../machines/snapshot/states.js';
import type { MemberSnapshot, SnapshotChanged, SnapshotKey, SnapshotState } from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { Change } from '../engine/topics/topics.js';
import { bytesIn } from '../volumes/volume-view.js';

interface SnapshotBasics {
  key: SnapshotKey;
  state: SnapshotState;
  /** Phase and how far its call is, e.g. `create-in-doubt.backing-off`. Meaning of each: docs/machines/snapshot.md */
  step: string;
  /** Unique id of this snapshot. A later snapshot of the same key has another. */
  uid: string;
  plugin: string;
  /** Name of the driver that created the snapshot (GetPluginInfo). Absent: not known yet. */
  driver?: string;
  /** CSI id of the snapshot, opaque. Absent: not created yet. */
  csiId?: string;
  /** Time of the snapshot's content, milliseconds since the epoch. Absent: unknown. */
  takenAtMs?: number;
  /** Node of the snapshot: only its agent makes calls for it. Absent: any agent may. */
  home?: string;
  /** Leftovers whose removal the deletion could not confirm. */
  leftovers?: string[];
  /** Reason why the snapshot makes no progress, or its failure. */
  error?: Failure;
}

export interface Snapshot extends SnapshotBasics {
  volume: VolumeKey;
  /** Smallest size in bytes of a volume made from it; above 2⁵³−1 a bigint. Absent: unknown. */
  sizeBytes?: number | bigint;
}

export interface GroupSnapshot extends SnapshotBasics {
  volumes: VolumeKey[];
  /** One snapshot for each volume, once created. A volume can be made from its `csiId`. */
  snapshots: GroupMember[];
}

export interface GroupMember {
  csiId: string;
  /** Source volume. Absent if the plugin names a volume that was not requested. */
  volume?: VolumeKey;
  sizeBytes?: number | bigint;
}

function basicsOf(context: SnapshotContext): SnapshotBasics {
  const { key, uid, spec, csi, leftovers, home, driver } = context;
  const error = snapshotErrorOf(context);
  return {
    key,
    state: snapshotStateOf(context),
    step: snapshotStepOf(context),
    uid,
    plugin: spec?.plugin ?? '',
    ...(csi && { csiId: csi.csiId }),
    ...(csi?.takenAtMs !== undefined && { takenAtMs: csi.takenAtMs }),
    ...(driver && { driver }),
    ...(home && { home }),
    ...(leftovers.length > 0 && { leftovers }),
    ...(error && { error }),
  };
}

const sizeOf = ({ sizeBytes }: Pick<MemberSnapshot, 'sizeBytes'>): { sizeBytes?: number | bigint } =>
  sizeBytes === undefined ? {} : { sizeBytes: bytesIn(sizeBytes) };

export function snapshotOf(context: SnapshotContext): Snapshot {
  const [source] = context.spec?.sources ?? [];
  const [member = {}] = context.csi?.members ?? [];
  const volume = source?.volume ?? { namespace: '', id: '' };
  return { ...basicsOf(context), volume, ...sizeOf(member) };
}

export function groupSnapshotOf(context: SnapshotContext): GroupSnapshot {
  const sources = context.spec?.sources ?? [];
  const snapshots = (context.csi?.members ?? []).map(({ csiId, sourceCsiId, ...size }) => {
    const source = sources.find((one) => one.csiId === sourceCsiId);
    return { csiId, ...(source && { volume: source.volume }), ...sizeOf(size) };
  });
  return { ...basicsOf(context), volumes: sources.map(({ volume }) => volume), snapshots };
}

export function snapshotErrorOf({ awaiting, failure, tries }: SnapshotContext): Failure | undefined {
  if (awaiting) return { code: 'PLUGIN_UNAVAILABLE', message: awaiting.reason, final: false };
  return failure ?? tries?.failure;
}

export type SnapshotEvent = Change<SnapshotChanged>;
