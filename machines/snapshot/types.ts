/**
 * What the snapshot machines (volume-snapshot.ts, group-snapshot.ts) are given, keep and tell. A snapshot of one volume
 * is a group of one. CSI's snapshots, that is: not those of actors.
 */
import type { Awaiting, Bytes, CallFailure, SecretRef, Tries } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import type { VolumeKey } from '../volume/types.js';

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

interface PieceOfWork {
  tries?: Tries;
  failure?: CallFailure;
}

export interface SnapshotInput extends SnapshotKey {
  kind: SnapshotKind;
}

export interface SnapshotContext {
  kind: SnapshotKind;
  key: SnapshotKey;
  /** Random, of this very snapshot: its name with the plugin comes of it. Empty where there is none. */
  uid: string;
  /** The name that the plugin is given; one that is made again has another. */
  name: string;
  /** How often it was begun anew under another name. */
  round: number;
  spec: SnapshotSpec | null;
  csi: MadeSnapshot | null;
  creation: PieceOfWork & {
    /** A call may have taken effect, or may still. */
    inDoubt?: boolean;
    /** How often what was made could not be trusted. */
    untrusted?: number;
  };
  /** Waits until it is ready. */
  readiness: PieceOfWork;
  /** Made, but not to be kept: deleted before anything else. */
  discards: MadeSnapshot[];
  removal: PieceOfWork;
  deletion: { force: boolean } | null;
  /** Leftovers that the plugin may have, in words: a forced deletion could not find out. */
  leftovers: string[];
  /** The same, to be tried once more. Absent in what was stored before this was kept. */
  left?: { made: MadeSnapshot[]; isInDoubt?: true };
  /** The own name of the driver that made its volumes; null: not known yet. Absent in what was stored before this was kept. */
  driver?: string | null;
  /** As of its volumes: the node whose agent alone makes its calls, or null. Absent in what was stored before this was kept. */
  home?: string | null;
  work: SnapshotWork | null;
  /** Why the call that it is at has not been made: as long as this is so, none is. */
  awaiting: Awaiting | null;
}

/** `look`: whether it is ready; `remove`: what is not to be kept. */
export type SnapshotWorkKind = 'create' | 'look' | 'remove';

export interface SnapshotWork {
  kind: SnapshotWorkKind;
  /** Of what is removed, the plugin's id. */
  csiId?: string;
  dueAtMs: number;
  /** A call is under way; else it is to begin at its time. */
  isCalling: boolean;
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

export type SnapshotMachineEvent = (
  | SnapshotRequest
  /** The call that it is at waits, for the plugin or for its turn: no call was made yet. */
  | ({ type: 'call.awaits' } & Awaiting)
  /** Where its calls are made from here on: no call was made yet by the one that it is at. */
  | { type: 'call.home'; home: string }
  /** Raised by the machine itself: is there something else to do now? */
  | { type: 'settle' }
) &
  Partial<Stamped>;

export type SnapshotState = 'pending-create' | 'waiting' | 'ready' | 'pending-delete' | 'deleted' | 'failed';

/** Broadcast. */
export type SnapshotChanged = { key: SnapshotKey; uid: string } & (
  | { type: 'created' | 'ready'; csiId: string }
  /** What was made could not be trusted: it is removed, and made anew. */
  | { type: 'untrusted'; csiId: string }
  | { type: 'failed'; failure: Failure }
  | { type: 'deleted'; leftovers?: string[] }
);
