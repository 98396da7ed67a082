/** How long callers wait for what they asked for. */
import { z } from 'zod';
import type { Clock } from '../engine/clock.js';
import { StagecraftError } from '../errors.js';
import { checked } from './fields.js';

/** How long the result is waited for; default: until it is there. What is given up is the wait, never the request. */
export interface AwaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Of a request that may wait for what does not come by itself. */
export interface WaitOptions extends AwaitOptions {
  /**
   * Wait also for what somebody has to change first: secrets that can't be resolved, a topology that excludes the node, rights
   * to mount. Default false: such a request is refused at once, with the reason.
   */
  wait?: boolean | undefined;
}

/** For who follows what is waited for. */
export interface Telling {
  /** Told, whenever something has changed, why it does not get on; null: it does. */
  tell?: ((reason: string | null) => void) | undefined;
}

/** What is left of a time that begins now, where there is a limit. */
export function timeLeft(clock: Clock, timeoutMs: number | undefined): () => number | undefined {
  const beganMs = clock.monotonicMs();
  return () => timeoutMs && Math.max(0, timeoutMs - (clock.monotonicMs() - beganMs));
}

/** To be spread into the schemas of options. */
export const awaitShape = {
  timeoutMs: z.number().positive().optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
};

/** To be spread into the schemas of `WaitOptions`. */
export const waitShape = { ...awaitShape, wait: z.boolean().default(false) };

export const waitSchema = z.strictObject(waitShape);

/** Those that have nothing else. */
export const awaitSchema = z.strictObject(awaitShape);

/**
 * Options as they are given to a request.
 * @throws StagecraftError INVALID_ARGUMENT with every fault; ABORTED: nothing was asked for
 */
export function checkedOptions<T extends { signal?: AbortSignal | undefined }>(
  schema: z.ZodType<T>,
  given: unknown,
): T {
  const options = checked(schema, given, 'the options');
  if (options.signal?.aborted)
    throw new StagecraftError('ABORTED', 'its signal was aborted before it was asked for: nothing has changed');
  return options;
}
