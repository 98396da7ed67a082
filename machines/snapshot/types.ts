/**
 * Input, context, requests and events of the snapshot machines (snapshot.ts). A snapshot of one volume is a
 * group of one. These are CSI's snapshots, not those of actors.
 */
import type { FailedAttempt } from '../kit/call.js';
import type { Awaiting, Bytes, CallFailure, SecretRef, Tries, Wait } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { VolumeKey } from '../volume/wishes.js';

export type SnapshotKind = 'volume-snapshot' | 'group-snapshot';

export interface SnapshotKey {
  namespace: string;
  id: string;
}

/** Volume whose content is kept: the plugin's id of it at the time of the request. */
export interface SnapshotSource {
  volume: VolumeKey;
  csiId: string;
}

/** Spec of a snapshot, checked and complete. */
export interface SnapshotSpec {
  /** Registered name of the plugin of all sources. */
  plugin: string;
  /** At least one; exactly one unless it is a group. */
  sources: SnapshotSource[];
  parameters: Record<string, string>;
  secrets: Record<string, SecretRef>;
}

/** Snapshot of one volume. */
export interface MemberSnapshot {
  /** Id at the plugin, opaque. */
  csiId: string;
  /** The plugin's id of the source volume. */
  sourceCsiId: string;
  /** Absent: unknown. */
  sizeBytes?: Bytes;
}

/** Snapshot as the plugin has made it. */
export interface MadeSnapshot {
  /** Id at the plugin: of the group, if it is one. */
  csiId: string;
  isReady: boolean;
  /** Moment of the content, milliseconds since the epoch. Absent: the plugin does not say. */
  takenAtMs?: number;
  /** One for each volume. */
  members: MemberSnapshot[];
}

export interface SnapshotInput extends SnapshotKey {
  kind: SnapshotKind;
}

/** `remove`: of a snapshot that can't be trusted; `delete`: of what is left once the deletion was asked for. */
export type SnapshotCallKind = 'create' | 'look' | 'remove' | 'delete';

/** The call that is next, or in progress. */
export interface SnapshotWork {
  kind: SnapshotCallKind;
  /** Earliest moment of the call, milliseconds since the epoch; 0: at once. */
  dueAtMs: number;
  /** The call is in progress: under way, or waiting until it may be made. */
  isCalling: boolean;
}

/** Data of a snapshot beside its phase (phases.ts). */
export interface SnapshotData {
  kind: SnapshotKind;
  key: SnapshotKey;
  /** Random id of this snapshot; its name at the plugin derives from it. Empty while absent. */
  uid: string;
  /** Name that the plugin is given in round 0; later names end with the number of their round. */
  name: string;
  /** Number of times that the creation was begun again with another name. */
  round: number;
  spec: SnapshotSpec | null;
  csi: MadeSnapshot | null;
  /** Number of snapshots in a row that could not be trusted. */
  untrusted: number;
  /** Snapshots that are not kept: removed before anything else. */
  discards: MadeSnapshot[];
  /** Gives up calls that keep failing, and reports what may be left. */
  isForced: boolean;
  /** Failed attempts at the present piece of work. */
  tries: Tries | null;
  /** Reason why the snapshot has failed, or will have once untrusted ones are removed. */
  failure: CallFailure | null;
  /** Objects that a forced deletion may have left at the plugin, as text. */
  leftovers: string[];
  /**
   * The same objects as data, for another attempt. `asked`: name with which a snapshot of unknown id may have been
   * made.
   */
  left: { made: MadeSnapshot[]; asked?: string };
  /** Name of the driver that made its volumes; null: not known yet. */
  driver: string | null;
  /** Node whose agent alone makes the calls, as for its volumes; null: any agent may. */
  home: string | null;
  /** Null: no call is wanted. */
  work: SnapshotWork | null;
  /** Reason why the present call waits; null: it does not wait. */
  awaiting: Awaiting | null;
}

interface PluginCall {
  plugin: string;
  secrets: Record<string, SecretRef>;
  /** The wait for the plugin has a limit. */
  isForced: boolean;
  /** Name of the driver that made it: no other one is called. Absent: not known. */
  driver?: string;
  /** Node whose agent alone makes the call; absent: none is known. */
  home?: string;
}

export interface CreateSnapshotCall extends PluginCall {
  name: string;
  /** The plugin's ids of the volumes. */
  sourceIds: string[];
  parameters: Record<string, string>;
}

export interface LookCall extends CreateSnapshotCall {
  csiId: string;
  /** Ids of all members. */
  memberIds: string[];
}

export interface RemoveSnapshotCall extends PluginCall {
  csiId: string;
  /** Ids of all members. */
  memberIds: string[];
}

/** Requests; each is answered. */
export type SnapshotRequest =
  /** `home`, `driver`: of its volumes. */
  | { type: 'snapshot.create'; spec: SnapshotSpec; uid: string; name: string; home?: string; driver?: string }
  /** `uid`: of the snapshot that is meant; absent: whichever is there. */
  | { type: 'snapshot.delete'; force: boolean; uid?: string }
  /** `acceptDriver`: name of the driver that has taken over the snapshots of another one. */
  | { type: 'snapshot.retry'; acceptDriver?: string }
  | { type: 'snapshot.acknowledge' };

/** Outcome of a call, as the phases take it. */
export type SnapshotOutcome =
  | ({ type: 'create.done' | 'look.done'; made: MadeSnapshot } & Stamped)
  | ({ type: 'remove.done' } & Stamped)
  /**
   * `refused`: the same call would fail again. `unknown`: the plugin may have made a snapshot, or may yet. `changed-nothing`: this
   * call made none. `no-room`: as unknown, but to be seen to by the user. `id-taken`: the plugin answered with an id of
   * another snapshot, so that it has none of this one. `failed`: to be repeated. `given-up`: not repeated, as it is forced.
   */
  | ({
      type: `create.${'refused' | 'unknown' | 'changed-nothing' | 'no-room' | 'id-taken' | 'given-up'}`;
    } & FailedAttempt)
  | ({ type: `look.${'refused' | 'failed'}` | `remove.${'refused' | 'failed' | 'given-up'}` } & FailedAttempt)
  /** The runtime ended while the call was under way: the call may have taken effect. */
  | { type: 'call.interrupted' }
  /** It was not made: it waits, or is made anew. */
  | { type: 'call.not-made' };

type Deletion = Extract<SnapshotRequest, { type: 'snapshot.delete' }>;

/** Events of the phases: outcomes and requests, a deletion with the call that is under way. */
export type SnapshotPhaseEvent =
  | Exclude<SnapshotRequest, Deletion>
  | (Deletion & { underWay: SnapshotCallKind | undefined })
  | SnapshotOutcome;

/** Events of the machine. */
export type SnapshotMachineEvent = (
  | SnapshotRequest
  /** The waiting call waits for something else now. */
  | ({ type: 'wait.changed' } & Wait)
  /** Raised by the machine: the next call may be another one now. */
  | { type: 'settle' }
) &
  Partial<Stamped>;

/** States of a snapshot for users, in the order of its life. */
export const snapshotStates = ['pending-create', 'waiting', 'ready', 'pending-delete', 'deleted', 'failed'] as const;

export type SnapshotState = (typeof snapshotStates)[number];

/** Broadcasts. */
export type SnapshotChanged = { key: SnapshotKey; uid: string } & (
  | { type: 'created' | 'ready'; csiId: string }
  /** The snapshot could not be trusted: it is removed, and made anew. */
  | { type: 'untrusted'; csiId: string }
  | { type: 'failed'; failure: Failure }
  | { type: 'deleted'; leftovers?: string[] }
);
