/** The one class of error that callers see. All codes, and what to do about each: docs/errors.md */

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
  /** For CSI_ERROR: what the answer means, e.g. `busy`; see docs/errors.md. */
  answerClass?: string;
  /** For CURSOR_EXPIRED and EVENT_DAMAGED: the event id to follow from to get all that is still kept. */
  oldest?: string;
  /** For CURSOR_EXPIRED: the id of the newest event. */
  newest?: string;
  cause?: unknown;
}

/** Every rejection of the public surface: a stable `code`, and a message that says what to do. */
export class StagecraftError extends Error {
  override readonly name = 'StagecraftError';
  readonly code: string;
  declare readonly address?: string;
  declare readonly outcome?: 'refused' | 'unknown';
  declare readonly faults?: string[];
  declare readonly rpc?: string;
  declare readonly grpcCode?: string;
  declare readonly final?: boolean;
  declare readonly answerClass?: string;
  declare readonly oldest?: string;
  declare readonly newest?: string;

  constructor(code: string, message: string, { cause, ...details }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, details);
  }
}

/** The text of anything that was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
