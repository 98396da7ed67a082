/** Snapshots as callers see them, made of what is committed; and what is broadcast of them. */
import type { StateValue } from 'xstate';
import type { Failure } from '../../machines/kit/host.js';
import { publicState, stepOf } from '../../machines/snapshot/states.js';
import type {
  MemberSnapshot,
  SnapshotChanged,
  SnapshotContext,
  SnapshotKey,
  SnapshotState,
} from '../../machines/snapshot/types.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';
import { bytesIn } from '../volumes/volume-view.js';

interface SnapshotBasics {
  key: SnapshotKey;
  state: SnapshotState;
  /** The state of its machine within that, e.g. `create-in-doubt.backing-off`. What each means: docs/machines/volume-snapshot.md */
  step: string;
  /** Of this very snapshot: one that is made anew under its key has another. */
  uid: string;
  plugin: string;
  /** The own name of the driver that made it, as GetPluginInfo has it. Absent: not known yet. */
  driver?: string;
  /** The plugin's id of it, opaque. Absent: not made yet. */
  csiId?: string;
  /** When the content was as it is in there, milliseconds since the epoch. Absent: unknown. */
  takenAtMs?: number;
  /** The node that it is on, whose agent alone makes its calls. Absent: any agent may. */
  home?: string;
  /** What could not be confirmed as it was deleted. */
  leftovers?: string[];
  /** Why it does not get on, or what it failed with. */
  error?: Failure;
}

/** Of one volume. */
export interface Snapshot extends SnapshotBasics {
  volume: VolumeKey;
  /** What a volume made of it takes at least; above 2⁵³−1 a bigint. Absent: unknown. */
  sizeBytes?: number | bigint;
}

/** Of several volumes, as they were at one moment. */
export interface GroupSnapshot extends SnapshotBasics {
  volumes: VolumeKey[];
  /** Of each volume one, once they are made: their `csiId` is what a volume can be made of. */
  snapshots: GroupMember[];
}

export interface GroupMember {
  csiId: string;
  /** Absent: the plugin names a volume that was not asked for. */
  volume?: VolumeKey;
  sizeBytes?: number | bigint;
}

function basicsOf(state: StateValue, context: SnapshotContext): SnapshotBasics {
  const { key, uid, spec, csi, leftovers, home, driver } = context;
  const error = snapshotErrorOf(context);
  return {
    key,
    state: publicState(state),
    step: stepOf(state),
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

export function snapshotOf(state: StateValue, context: SnapshotContext): Snapshot {
  const [source] = context.spec?.sources ?? [];
  const [member = {}] = context.csi?.members ?? [];
  const volume = source?.volume ?? { namespace: '', id: '' };
  return { ...basicsOf(state, context), volume, ...sizeOf(member) };
}

export function groupSnapshotOf(state: StateValue, context: SnapshotContext): GroupSnapshot {
  const sources = context.spec?.sources ?? [];
  const snapshots = (context.csi?.members ?? []).map(({ csiId, sourceCsiId, ...size }) => {
    const source = sources.find((one) => one.csiId === sourceCsiId);
    return { csiId, ...(source && { volume: source.volume }), ...sizeOf(size) };
  });
  return { ...basicsOf(state, context), volumes: sources.map(({ volume }) => volume), snapshots };
}

/** What keeps it from where it is going. */
export function snapshotErrorOf({ awaiting, failure, tries }: SnapshotContext): Failure | undefined {
  if (awaiting) return { code: 'PLUGIN_UNAVAILABLE', message: awaiting.reason, final: false };
  return failure ?? tries?.failure;
}

type EventOf<One> = One extends { type: infer Kind } ? Omit<One, 'type'> & { kind: Kind } : never;

/** One change of a snapshot. `id` is its place in the topic: hand it back to go on from there. `at`: ms since the epoch. */
export type SnapshotEvent = { id: string; at: number } & EventOf<SnapshotChanged>;

export function snapshotEventOf(row: FollowedRow): SnapshotEvent {
  const { type: kind, ...told } = eventOf<SnapshotChanged & { at: number }>(row);
  return { id: row.id, kind, ...told } as SnapshotEvent;
}
