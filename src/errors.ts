/** The only error class of the public surface. Codes, and what to do about each: docs/errors.md */
import type { AnswerClass } from '../machines/kit/csi-types.js';
import { type ErrorCode, errorTable } from '../machines/kit/error-table.js';

export { type ErrorCode, type ErrorRow, errorTable, isErrorCode } from '../machines/kit/error-table.js';

export interface ErrorDetails {
  /** Address of the actor concerned. */
  address?: string;
  /** For STORE_UNAVAILABLE: `refused` means that nothing was written; `unknown`, that the write may have happened. */
  outcome?: 'refused' | 'unknown';
  /** Faults of the input, each with its path. */
  faults?: string[];
  /** For CSI_ERROR: the RPC, e.g. `NodeStageVolume`. */
  rpc?: string;
  /** For CSI_ERROR: the name of the gRPC status, e.g. `UNAVAILABLE`. */
  grpcCode?: string;
  /** For CSI_ERROR: true if the same call is known to fail again. */
  final?: boolean;
  /** For CSI_ERROR: the meaning of the answer, e.g. `busy`; see docs/csi.md#answers */
  answerClass?: AnswerClass;
  /** For EFFECT_FAILED and CALL_FAILED: the code of the thrown error, if it is not an ErrorCode. */
  originalCode?: string;
  /** For CURSOR_EXPIRED and EVENT_DAMAGED: follow from this event id to get all events that are still kept. */
  oldest?: string;
  /** For CURSOR_EXPIRED: the id of the newest event. */
  newest?: string;
  cause?: unknown;
}

/** Rejection of the public surface: a stable `code`, and a message that says what to do. */
export class StagecraftError extends Error {
  override readonly name = 'StagecraftError';
  readonly code: ErrorCode;
  declare readonly address?: string;
  declare readonly outcome?: 'refused' | 'unknown';
  declare readonly faults?: string[];
  declare readonly rpc?: string;
  declare readonly grpcCode?: string;
  declare readonly final?: boolean;
  declare readonly answerClass?: AnswerClass;
  declare readonly originalCode?: string;
  declare readonly oldest?: string;
  declare readonly newest?: string;

  constructor(code: ErrorCode, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

/**
 * Tells whether the same request may succeed later without a change. Any other failure needs another request, or a
 * repair.
 */
export const isRetryable = (error: unknown): boolean =>
  error instanceof StagecraftError && errorTable[error.code]?.isRetryable === true;

/** Returns the text of any thrown value. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Rejects input that is no object, before its parts are checked. @throws {StagecraftError} INVALID_ARGUMENT */
export function refuseNoObject(given: unknown, what: string): void {
  if (typeof given === 'object' && given !== null) return;
  throw new StagecraftError('INVALID_ARGUMENT', `${what} must be an object, not ${JSON.stringify(given)}`);
}

/** For `catch`: ignores a quarantined actor, which was reported when it was quarantined. @throws any other error */
export function unlessQuarantined(error: unknown): undefined {
  if (error instanceof StagecraftError && error.code === 'ACTOR_QUARANTINED') return undefined;
  throw error;
}
