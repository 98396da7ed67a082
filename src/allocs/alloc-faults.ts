/** Errors about a volume of an alloc: what each means, and its message. */
import type { AllocVolume } from '../../machines/alloc/types.js';
import { volumeName } from '../../machines/volume/requests.js';
import { type Clock, pause } from '../engine/clock.js';
import { messageOf, StagecraftError } from '../errors.js';

/** Whether another alloc has the claim. */
export const isConflict = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === 'CLAIM_CONFLICT';

/** Whether every further attempt would fail likewise, unless somebody changes something. */
export const isFinal = (error: unknown): boolean => error instanceof StagecraftError && error.final === true;

/** Whether the runtime ends: the next one goes on. */
export const isClosing = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === 'RUNTIME_CLOSED';

const claimLostCode = 'CLAIM_LOST';

/** Whether the claim is lost: another alloc has it, or none. */
export const isClaimLost = (error: unknown): boolean =>
  error instanceof StagecraftError && error.code === claimLostCode;

/** Whether nothing keeps the volume for the alloc any more: its claim is lost, or the volume is gone. */
export const isKeptNoMore = (error: unknown): boolean =>
  isClaimLost(error) || (error instanceof StagecraftError && error.code === 'VOLUME_NOT_FOUND');

/** @param volume whose claim the alloc has lost */
export const claimLost = ({ volume }: AllocVolume, allocId: string): StagecraftError => {
  const why = 'its node was taken for lost, somebody released it by hand, or the volume was deleted with force';
  const message = `${volumeName(volume)}: the claim of alloc ${allocId} was given up: ${why}. The volume may be in use elsewhere: it is unmounted here`;
  return new StagecraftError(claimLostCode, message, { final: true });
};

/** Adds the name of the volume to an error. */
export function named({ name, volume }: AllocVolume, error: unknown): unknown {
  if (!(error instanceof StagecraftError)) return error;
  const { code, message, cause, ...details } = error;
  const text = message.includes(volumeName(volume))
    ? `'${name}': ${message}`
    : `'${name}', ${volumeName(volume)}: ${message}`;
  return new StagecraftError(code, text, { ...details, cause });
}

/** Limits and reports of the repeats. */
export interface RetryPolicy {
  clock: Clock;
  signal: AbortSignal;
  /** Called with the reason and the error while the work makes no progress; with null once it does. */
  onWait(reason: string | null, error?: unknown): void;
  /** Whether a repeat may end otherwise. */
  mayRetry(error: unknown): boolean;
  /** Whether the error is reported; default: it is. */
  isReason?(error: unknown): boolean;
}

export const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Repeats work with growing pauses while that may help, and reports why it makes no progress. */
export async function retrying<T>(policy: RetryPolicy, work: () => Promise<T>): Promise<T> {
  const { clock, signal, onWait, mayRetry, isReason } = policy;
  let hasTold = false;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal.throwIfAborted();
    try {
      const done = await work();
      // Other work beside it may have reported something, too.
      if (hasTold) onWait(null);
      return done;
    } catch (error) {
      if (signal.aborted || !mayRetry(error)) throw error;
      if (isReason?.(error) !== false) {
        hasTold = true;
        onWait(messageOf(error), error);
      }
    }
    await pause(clock, pauseMs, signal);
  }
}
