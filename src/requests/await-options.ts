/** Options for waiting on the result of a request. */
import { z } from 'zod';
import type { Clock } from '../engine/clock.js';
import { TimeOver, withDeadline } from '../engine/deadline.js';
import { messageOf, StagecraftError } from '../errors.js';
import { textSchema } from '../host/names.js';
import { checked } from './fields.js';

/** Limits of the wait for a result; default: no limit. The limits end the wait, never the request. */
export interface AwaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Options of a request that may depend on somebody's help. */
export interface WaitOptions extends AwaitOptions {
  /**
   * Wait also for changes that somebody has to make first: secrets that cannot be resolved, a topology that excludes
   * the node, missing rights to mount. Default false: such a request is refused at once, with the reason.
   */
  wait?: boolean | undefined;
}

/** Options of the deletion of a volume or a snapshot. */
export interface DeleteOptions extends AwaitOptions {
  force?: boolean | undefined;
  /** Delete only what has this uid: if it is deleted, or another one has its id, nothing is done. */
  uid?: string | undefined;
}

/** Progress of a wait. */
export interface WaitReporting {
  /** Called on each change with the reason why the work does not continue; null: it continues. */
  onWait?: ((reason: string | null) => void) | undefined;
}

/** Starts to count a time limit. @returns a function that gives the whole milliseconds left; undefined without a limit */
export function timeLeft(clock: Pick<Clock, 'monotonicMs'>, timeoutMs: number | undefined): () => number | undefined {
  const beganMs = clock.monotonicMs();
  return () => timeoutMs && Math.max(0, Math.ceil(timeoutMs - (clock.monotonicMs() - beganMs)));
}

/**
 * Runs a request within its caller's limits. `work` gets the signal that ends it, or none if nothing limits the
 * request. The reason is a TimeOver or the caller's own: `work` may end with it as long as it has changed nothing.
 * @throws StagecraftError TIMEOUT, ABORTED in place of the reason; errors of `work`
 */
export async function inTime<T>(
  clock: Clock,
  { timeoutMs, signal }: AwaitOptions,
  work: (limit?: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = async (limit?: AbortSignal): Promise<T> => {
    try {
      return await work(limit);
    } catch (error) {
      throw limit?.aborted && error === limit.reason ? endedEarly(error) : error;
    }
  };
  if (timeoutMs === undefined) return ending(signal);
  return withDeadline({ clock, timeoutMs, ends: [signal] }, ending);
}

function endedEarly(reason: unknown): StagecraftError {
  if (reason instanceof StagecraftError) return reason;
  const isLate = reason instanceof TimeOver;
  const why = isLate ? reason.message : `given up (${messageOf(reason)})`;
  const message = `${why} before anything was asked for; nothing has changed`;
  return new StagecraftError(isLate ? 'TIMEOUT' : 'ABORTED', message, { outcome: 'refused', cause: reason });
}

export const awaitShape = {
  timeoutMs: z.number().positive().optional(),
  signal: z.instanceof(AbortSignal, { error: 'must be an AbortSignal' }).optional(),
};

export const waitShape = { ...awaitShape, wait: z.boolean().default(false) };

export const waitSchema = z.strictObject(waitShape);

export const awaitSchema = z.strictObject(awaitShape);

export const deleteSchema = z.strictObject({
  ...awaitShape,
  force: z.boolean().default(false),
  uid: z.string().optional(),
});

/**
 * Checks the options of a request.
 * @throws {StagecraftError} INVALID_ARGUMENT with every fault; ABORTED: the request was not sent
 */
export function checkedOptions<T extends { signal?: AbortSignal | undefined }>(
  schema: z.ZodType<T>,
  given: unknown,
): T {
  const options = isEmpty(given) ? defaultsOf(schema) : checked(schema, given, 'the options');
  if (options.signal?.aborted)
    throw new StagecraftError('ABORTED', 'the signal was aborted before the request was sent: nothing has changed');
  return options;
}

/** Most requests have no options. */
const isEmpty = (given: unknown): boolean =>
  given instanceof Object && Object.getPrototypeOf(given) === Object.prototype && Reflect.ownKeys(given).length === 0;

const defaultsBySchema = new WeakMap<z.ZodType, object>();

/** Returns a copy of the defaults of a schema, which are checked once. */
function defaultsOf<T extends object>(schema: z.ZodType<T>): T;
function defaultsOf(schema: z.ZodType<object>): object {
  const defaults = defaultsBySchema.get(schema) ?? checked(schema, {}, 'the options');
  defaultsBySchema.set(schema, defaults);
  return { ...defaults };
}

export interface RetryOptions {
  /**
   * Own name (GetPluginInfo) of a driver that has taken over the volumes of another driver. Calls to it are no longer
   * refused with OTHER_DRIVER.
   */
  acceptDriver?: string | undefined;
}

export const retrySchema = z.strictObject({
  acceptDriver: textSchema.optional().describe('Own name of a driver that has taken over the volumes of another.'),
});

/** @throws {StagecraftError} INVALID_ARGUMENT */
export function checkedRetry(options: RetryOptions): { acceptDriver?: string } {
  const { acceptDriver } = checked(retrySchema, options, 'the options');
  return acceptDriver === undefined ? {} : { acceptDriver };
}
