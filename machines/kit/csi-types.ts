/** The words of CSI that machines and their callers share: what can be asked of a plugin, and what comes of asking. */
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

/** Where something is, e.g. `{ zone: 'a' }`. */
export type Segments = Record<string, string>;

/** Names a secret for the provider that resolves it when a call is made: `file:<name>`, `env:<NAME>`, or what that knows. */
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
  /** The same, where the mount table shows that nothing is mounted there. */
  | 'already-so-if-unmounted'
  /** Repeat the call until it is OK, or until there is evidence; never take it for done. */
  | 'not-so'
  /** An operation on that volume is under way, perhaps our own: the same call again, with backoff. */
  | 'busy'
  /** The listing has to begin again, with an empty token. */
  | 'start-over'
  /** Repeat the call until its answer is final: it may have happened, and may still be going on. Assume neither. */
  | 'unknown'
  /** A step before it is missing: do that, then the same call again, with backoff. */
  | 'repair'
  /** The same call fails again, until the request, or what it is allowed, changes. */
  | 'final'
  /** The driver is at fault: as of unknown outcome, and shown as such. */
  | 'driver-bug';

/** How a call failed, as data: what it means is `answerClass`, see docs/csi.md#answers */
export interface CallFailure extends Failure {
  rpc?: string;
  grpcCode?: string;
  answerClass?: AnswerClass;
}

/**
 * Outcome of a piece of work with a plugin. `not-sent`: no call was made, so nothing is in doubt on its account.
 * `retry`: how long to wait before the next attempt; default machines/kit/backoff.ts. `driver`: the own name of the plugin's
 * driver, where the call was made without knowing that. `must-wait`: no call was made, and none can be made now. `call-again`:
 * no call was made, and one may be made once this outcome is committed; `home`: the node that is the home from here on.
 */
export type CallOutcome<TAnswer> =
  | { status: 'done'; answer: TAnswer; driver?: string }
  | FailedCall
  | ({ status: 'must-wait' } & Wait)
  | { status: 'call-again'; home?: string };

export interface FailedCall {
  status: 'failed' | 'not-sent';
  failure: CallFailure;
  retry?: BackoffPolicy;
}

/** What a call waits for. */
export interface Wait {
  /** In words. */
  reason: string;
  /**
   * `plugin`: it can't be called now. `turn`: another call about the volume is under way. `clear`: an earlier call that this one
   * undoes may still be under way. `elsewhere`: the agent of another node makes the call. `elsewhere-or-plugin`: the same, but the
   * plugin can't be called here now, so that it is not known whether it needs the call at all. `compared`: what is mounted on
   * this host is not known yet.
   */
  for: 'plugin' | 'turn' | 'clear' | 'elsewhere' | 'elsewhere-or-plugin' | 'compared';
}

/** A wait, as the machine keeps it while it lasts. */
export interface Awaiting extends Wait {
  /** It waits for a while only: its deletion is forced. */
  isForced?: true;
}

/** Waits until a call may be made, and makes none. */
export interface AdmissionCall<TCall extends object = object> {
  /** The `src` of the effect that makes the call. */
  src: string;
  call: TCall;
  wait: Wait;
}

/** `admitted`: the call may be made now. `not-sent`: it waited too long. */
export type AdmissionOutcome = { status: 'admitted' } | (FailedCall & { status: 'not-sent' });

/** Failed attempts at a piece of work, until one succeeds or what is asked for changes. */
export interface Tries {
  count: number;
  /** No attempt before this moment, milliseconds since the epoch. */
  notBeforeMs: number;
  /** When the last one failed. Absent in what was stored before this was kept. */
  sinceMs?: number;
  failure: CallFailure;
}
