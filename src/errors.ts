/** The one class of error that callers see. All codes, and what to do about each: docs/errors.md */
import type { AnswerClass } from '../machines/kit/csi-types.js';
import { type ErrorCode, errorTable } from '../machines/kit/error-table.js';

export { type ErrorCode, type ErrorRow, errorTable, isErrorCode } from '../machines/kit/error-table.js';

export interface ErrorDetails {
  /** The actor concerned. */
  address?: string;
  /** For STORE_UNAVAILABLE: whether the write is known not to have happened. */
  outcome?: 'refused' | 'unknown';
  /** Each fault of the input, by path. */
  faults?: string[];
  /** For CSI_ERROR: the RPC, e.g. `NodeStageVolume`. */
  rpc?: string;
  /** For CSI_ERROR: the name of the gRPC status, e.g. `UNAVAILABLE`. */
  grpcCode?: string;
  /** For CSI_ERROR: whether the same call is known to fail again. */
  final?: boolean;
  /** For CSI_ERROR: what the answer means, e.g. `busy`; see docs/csi.md#answers */
  answerClass?: AnswerClass;
  /** For EFFECT_FAILED and CALL_FAILED: the code of the error that was thrown, where that is no code of ours. */
  originalCode?: string;
  /** For CURSOR_EXPIRED and EVENT_DAMAGED: the event id to follow from to get all that is still kept. */
  oldest?: string;
  /** For CURSOR_EXPIRED: the id of the newest event. */
  newest?: string;
  cause?: unknown;
}

/** Every rejection of the public surface: a stable `code`, and a message that says what to do. */
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

/** Whether the same request may succeed later, by itself or by what others do. All else needs another request, or a mend. */
export const isRetryable = (error: unknown): boolean =>
  error instanceof StagecraftError && errorTable[error.code]?.isRetryable === true;

/** The text of anything that was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** For what is taken apart before its parts are checked. @throws StagecraftError INVALID_ARGUMENT */
export function refuseNoObject(given: unknown, what: string): void {
  if (typeof given === 'object' && given !== null) return;
  throw new StagecraftError('INVALID_ARGUMENT', `${what} must be an object, not ${JSON.stringify(given)}`);
}

/** For `catch`: ignores that an actor is in quarantine, which was reported when it was put there. @throws any other error */
export function unlessQuarantined(error: unknown): undefined {
  if (error instanceof StagecraftError && error.code === 'ACTOR_QUARANTINED') return undefined;
  throw error;
}
