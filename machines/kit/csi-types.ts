/** Terms of CSI that machines and their callers share: what a plugin can be asked, and what comes of asking. */
import type { BackoffPolicy } from './backoff.js';
import type { Failure } from './host.js';

export type AccessMode =
  | 'single-node-writer'
  | 'single-node-reader-only'
  | 'single-node-single-writer'
  | 'single-node-multi-writer'
  | 'multi-node-reader-only'
  | 'multi-node-single-writer'
  | 'multi-node-multi-writer';

export type AttachmentMode = 'file-system' | 'block-device';

export interface Capability {
  accessMode: AccessMode;
  attachmentMode: AttachmentMode;
  fsType?: string;
  mountFlags?: string[];
}

/**
 * Volumes that an instance of a plugin can work on. `shared`: those of every instance, on whatever host. `host`: those
 * made on its own host, which no other instance knows.
 */
export type PluginScope = 'shared' | 'host';

/** Topology segments, e.g. `{ zone: 'a' }`. */
export type Segments = Record<string, string>;

/** Where a new volume has to be accessible. */
export interface TopologyRequirement {
  /** From at least one of these. Empty: anywhere. */
  requisite: Segments[];
  /** In the order of preference. */
  preferred: Segments[];
}

/**
 * Names a secret for the provider that resolves it when a call is made: `file:<name>`, `env:<NAME>`, or a reference
 * that the provider defines.
 */
export type SecretRef = string | Record<string, string>;

/** A number of bytes as plain data: above 2⁵³−1 in decimal. */
export type Bytes = number | string;

export interface CapacityRange {
  requiredBytes?: Bytes;
  limitBytes?: Bytes;
}

/** Meaning of the answer to a CSI call. */
export type AnswerClass =
  | 'done'
  /** Undoing is as good as done: nothing is there to undo. */
  | 'already-so'
  /** `already-so` if the mount table shows nothing mounted there */
  | 'already-so-if-unmounted'
  /** The thing is not known where it should be. Repeat the call until it is OK or there is evidence. Never taken as done. */
  | 'not-so'
  /** Another operation on the volume is under way, perhaps one of ours: repeat the same call, with backoff. */
  | 'busy'
  /** The listing has to begin again, with an empty token. */
  | 'start-over'
  /** Repeat the call until its answer is final: it may have taken effect, and may still. */
  | 'unknown'
  /** Nothing was made, for lack of room: repeat the call, with backoff. */
  | 'no-room'
  /** An earlier step is missing: do that step, then repeat the call, with backoff. */
  | 'repair'
  /** The same call fails again until the request or the caller's rights change. */
  | 'final'
  /** A fault of the driver. Handled as an unknown outcome, and shown as a fault. */
  | 'driver-bug';

/** How a call failed. `answerClass` says what that means: docs/csi.md#answers */
export interface CallFailure extends Failure {
  rpc?: string;
  grpcCode?: string;
  answerClass?: AnswerClass;
}

/**
 * Outcome of a call to a plugin. `not-sent`: no call was made, so nothing is in doubt. `retry`: backoff before the
 * next attempt; default in backoff.ts. `driver`: the driver's own name, if the call was made without knowing it.
 * `must-wait`: no call was made, and none can be made now. `call-again`: no call was made; one may be made once this
 * outcome is committed.
 */
export type CallOutcome<TAnswer> =
  | { status: 'done'; answer: TAnswer; driver?: string }
  | FailedCall
  | ({ status: 'must-wait' } & Wait)
  | ({ status: 'call-again' } & Settled);

/** Data of the call that is settled just before it. */
export interface Settled {
  /** Node that is the home from here on. */
  home?: string;
  /** Topology that the new volume is asked for. */
  topology?: TopologyRequirement;
}

interface FailedCall {
  status: 'failed' | 'not-sent';
  failure: CallFailure;
  retry?: BackoffPolicy;
}

/** Reason of a wait, and the thing waited for. */
export interface Wait {
  /** In words. */
  reason: string;
  /**
   * `plugin`: the plugin can't be called now. `turn`: another call about the volume is under way. `clear`: an earlier
   * call that this one undoes may still be under way. `elsewhere`: the agent of another node makes the call.
   * `elsewhere-or-plugin`: the same, and the plugin can't be called here, so it is not known whether it needs the
   * call at all. `compared`: the mounts of this host are not known yet.
   */
  for: 'plugin' | 'turn' | 'clear' | 'elsewhere' | 'elsewhere-or-plugin' | 'compared';
}

/** A wait as the machine keeps it. */
export interface Awaiting extends Wait {
  /** The wait has a limit, because the deletion is forced. */
  isForced?: true;
}

/** Waits until a call may be made. Makes no call. */
export interface AdmissionCall<TCall extends object = object> {
  /** The `src` of the effect that makes the call. */
  src: string;
  call: TCall;
  wait: Wait;
}

/** `admitted`: the call may be made now. `not-sent`: the wait was too long. */
export type AdmissionOutcome = { status: 'admitted' } | (FailedCall & { status: 'not-sent' });

/** Failed attempts at a piece of work, until it succeeds or the request changes. */
export interface Tries {
  count: number;
  /** Earliest moment of the next attempt, milliseconds since the epoch. */
  notBeforeMs: number;
  /** Moment of the last failure. Absent in records of older versions. */
  sinceMs?: number;
  failure: CallFailure;
}
