/** Outcomes of a call, as its machine reads them. Pure. What becomes of them: call.ts */
import type { BackoffPolicy } from './backoff.js';
import type { AdmissionOutcome, Awaiting, CallFailure, CallOutcome, Wait } from './csi-types.js';
import { failureIn, type Stamped, stampOf } from './host.js';
import type { Taken } from './requests.js';

/** After this many failures a forced deletion reports the step as a leftover, and goes on. */
export const forcedAttempts = 3;

/** Creations in a row whose result can't be trusted; after these no further one is made. */
export const maxUnproven = 3;

/**
 * Code of a creation that the plugin answered with the id of another volume or snapshot: nothing at the plugin
 * belongs to this actor.
 */
export const idTaken = 'CSI_ID_TAKEN';

/** Failed attempt at a call, with the policy that says when the next one is due. */
export interface FailedAttempt extends Stamped {
  failure: CallFailure;
  /**
   * `not-sent`: no call was made. `failed`: the call may have taken effect. `interrupted`: the runtime ended while the call was
   * under way, which is no attempt, but it may have taken effect.
   */
  status: 'failed' | 'not-sent' | 'interrupted';
  retry?: BackoffPolicy;
}

interface Waiting {
  awaiting: Awaiting | null;
}

export type Done<TContext, TAnswer> = Taken<
  TContext,
  { type: string; output: CallOutcome<TAnswer> } & Partial<Stamped>
>;
export type AdmissionDone<TContext> = Taken<TContext, { type: string; output: AdmissionOutcome } & Partial<Stamped>>;
export type Thrown<TContext> = Taken<TContext, { type: string; error?: unknown } & Partial<Stamped>>;

export function waitOf({ awaiting }: Waiting): Wait {
  if (!awaiting) throw new Error('the call does not wait');
  const { reason, for: what } = awaiting;
  return { reason, for: what };
}

/** Answer of an outcome that is known to be `done`. */
export function answerIn<TAnswer>(outcome: CallOutcome<TAnswer>): TAnswer {
  if (outcome.status !== 'done') throw new Error(`the call is not done, but ${outcome.status}`);
  return outcome.answer;
}

export const driverIn = (outcome: CallOutcome<unknown>): string | undefined =>
  outcome.status === 'done' ? outcome.driver : undefined;

interface Ended extends Partial<Stamped> {
  type: string;
  output?: CallOutcome<unknown> | AdmissionOutcome;
  error?: unknown;
}

/** Failed attempt of an effect that threw or was given up by its host: its call may have been made. */
export function attemptIn(event: Ended): FailedAttempt {
  const { output } = event;
  const stamp = stampOf(event);
  if (output?.status === 'failed' || output?.status === 'not-sent') {
    const { failure, status, retry } = output;
    return { ...stamp, failure, status, ...(retry && { retry }) };
  }
  const failure: CallFailure = failureIn(event);
  return { ...stamp, failure, status: failure.code === 'INTERRUPTED' ? 'interrupted' : 'failed' };
}

/** Failed attempt of an effect that waits: it makes no call, however it ends. */
export const notSent = (event: Ended): FailedAttempt => ({ ...attemptIn(event), status: 'not-sent' });
