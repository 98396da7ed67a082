/**
 * Input, context, requests and events of the snapshot machines (snapshot.ts, group.ts). A snapshot of one volume is a
 * group of one. These are CSI's snapshots, not those of actors.
 */
import type { FailedAttempt, Suspended } from '../kit/call-states.js';
import type { Bytes, CallFailure, SecretRef, Tries, Wait } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { VolumeKey } from '../volume/wishes.js';

export type SnapshotKind = 'volume-snapshot' | 'group-snapshot';

export interface SnapshotKey {
  namespace: string;
  id: string;
}

/** Whose content is kept: the plugin's id of it, as it was when this was asked for. */
export interface SnapshotSource {
  volume: VolumeKey;
  csiId: string;
}

/** What is asked for, checked and complete. */
export interface SnapshotSpec {
  /** The registered name of the plugin of all sources. */
  plugin: string;
  /** At least one; one only where it is no group. */
  sources: SnapshotSource[];
  parameters: Record<string, string>;
  secrets: Record<string, SecretRef>;
}

/** Of one volume. */
export interface MemberSnapshot {
  /** The plugin's, opaque. */
  csiId: string;
  /** The plugin's id of the volume that it is of. */
  sourceCsiId: string;
  /** Absent: unknown. */
  sizeBytes?: Bytes;
}

/** What the plugin made. */
export interface MadeSnapshot {
  /** The plugin's id: of the group, where it is one. */
  csiId: string;
  isReady: boolean;
  /** When the content was as it is in there, milliseconds since the epoch. Absent: the plugin does not say. */
  takenAtMs?: number;
  /** Of each volume one. */
  members: MemberSnapshot[];
}

export interface SnapshotInput extends SnapshotKey {
  kind: SnapshotKind;
}

/** Data beside the state: its states say where a snapshot is (docs/machines/volume-snapshot.md). */
export interface SnapshotContext {
  kind: SnapshotKind;
  key: SnapshotKey;
  /** Random, of this very snapshot: its name with the plugin comes of it. Empty while absent. */
  uid: string;
  /** The name that the plugin is given in round 0; the name of a later round ends with its number. */
  name: string;
  /** How often the creation was begun again under another name. */
  round: number;
  spec: SnapshotSpec | null;
  csi: MadeSnapshot | null;
  /** How many made snapshots in a row could not be trusted. */
  untrusted: number;
  /** Made, but not to be kept: removed before anything else. */
  discards: MadeSnapshot[];
  /** The deletion gives up calls that keep failing, and reports what may be left. */
  isForced: boolean;
  /** Failed attempts at the present piece of work. */
  tries: Tries | null;
  /** Why the snapshot has failed, or will have once untrusted ones are removed. */
  failure: CallFailure | null;
  /** In words: what a forced deletion may have left at the plugin. */
  leftovers: string[];
  /** The same as data, for another attempt. `asked`: the name under which a snapshot of unknown id may have been made. */
  left: { made: MadeSnapshot[]; asked?: string };
  /** The own name of the driver that made its volumes; null: not known yet. */
  driver: string | null;
  /** As of its volumes: the node whose agent alone makes its calls, or null. */
  home: string | null;
  /** What the present call waits for; null: it does not wait. */
  awaiting: Wait | null;
}

interface PluginCall {
  plugin: string;
  secrets: Record<string, SecretRef>;
  /** Waits for the plugin for a while only, then fails. */
  isForced: boolean;
  /** The own name of the driver that made it: no other is called. Absent: not known. */
  driver?: string;
  /** The only node whose agent makes the call; absent: none is known. */
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
  /** Of all members. */
  memberIds: string[];
}

export interface RemoveSnapshotCall extends PluginCall {
  csiId: string;
  /** Of all members. */
  memberIds: string[];
}

/** What requests ask for; each is answered. */
export type SnapshotRequest =
  /** `home`, `driver`: of its volumes. */
  | { type: 'snapshot.create'; spec: SnapshotSpec; uid: string; name: string; home?: string; driver?: string }
  | { type: 'snapshot.delete'; force: boolean }
  /** `acceptDriver`: the own name of the driver that has taken over what another one made. */
  | { type: 'snapshot.retry'; acceptDriver?: string }
  | { type: 'snapshot.acknowledge' };

/** How a call ended: an event that the machine raises once the result of the call is known. */
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
  /** The runtime ended while the call was under way: it may have taken effect. */
  | ({ type: 'call.interrupted' } & FailedAttempt)
  | Suspended;

/** Events from outside. */
export type SnapshotMachineEvent = (
  | SnapshotRequest
  /** The call that waits does so for something else by now. */
  | ({ type: 'wait.changed' } & Wait)
) &
  Partial<Stamped>;

/** As users see it: `publicState` gives it. */
/** The states of a snapshot for its users, in the order of its life. */
export const snapshotStates = ['pending-create', 'waiting', 'ready', 'pending-delete', 'deleted', 'failed'] as const;

export type SnapshotState = (typeof snapshotStates)[number];

/** Broadcast. */
export type SnapshotChanged = { key: SnapshotKey; uid: string } & (
  | { type: 'created' | 'ready'; csiId: string }
  /** What was made could not be trusted: it is removed, and made anew. */
  | { type: 'untrusted'; csiId: string }
  | { type: 'failed'; failure: Failure }
  | { type: 'deleted'; leftovers?: string[] }
);
