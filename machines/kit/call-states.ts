/**
 * Building blocks of the charts of volumes and snapshots: requests that are refused or change something, and states
 * that wait for a call to the plugin. A machine that uses them has the guards `isRefused`, `hasOtherWork` and those
 * of `callGuards`, the actions `answer`, `change` and `settle`, the effect `awaitAdmission`, and the delay
 * `untilDue`.
 */

import type { BackoffPolicy } from './backoff.js';
import type {
  AdmissionCall,
  AdmissionOutcome,
  Awaiting,
  CallFailure,
  CallOutcome,
  Settled,
  Wait,
} from './csi-types.js';
import { type AnswerParams, failureIn, type Stamped, stampOf } from './host.js';

/** After this many failures a forced deletion reports the step as a leftover, and goes on. */
export const forcedAttempts = 3;

/** Creations in a row whose result can't be trusted; after these no further one is made. */
export const maxUnproven = 3;

/**
 * Code of a creation that the plugin answered with the id of another volume or snapshot: nothing at the plugin
 * belongs to this actor.
 */
export const idTaken = 'CSI_ID_TAKEN';

/** One failed attempt at a call, with the policy that says when the next one is due. */
export interface FailedAttempt extends Stamped {
  failure: CallFailure;
  /**
   * `not-sent`: no call was made. `failed`: the call may have taken effect. `interrupted`: the runtime ended while the call was
   * under way, which is no attempt, but it may have taken effect.
   */
  status: 'failed' | 'not-sent' | 'interrupted';
  retry?: BackoffPolicy;
}

export interface Taken<TContext, TEvent> {
  context: TContext;
  event: TEvent;
}

/** Applies the change of a request or an observation; then the machine looks for its next piece of work. */
export const changed = <TContext, TEvent, TChange>(change: (context: TContext, event: TEvent) => TChange) => ({
  actions: [
    { type: 'change' as const, params: ({ context, event }: Taken<TContext, TEvent>) => change(context, event) },
    'settle' as const,
  ],
});

/** Answers the request and does nothing else. */
export const answered = <TContext, TEvent>(answer: (context: TContext, event: TEvent) => AnswerParams) => ({
  actions: {
    type: 'answer' as const,
    params: ({ context, event }: Taken<TContext, TEvent>) => answer(context, event),
  },
});

/** Answers with the reason of the refusal. */
export const refused = <TContext, TRequest>(answer: (context: TContext, request: TRequest) => AnswerParams) => ({
  guard: { type: 'isRefused' as const, params: ({ event }: Taken<TContext, TRequest>) => event },
  ...answered(answer),
});

/** Reactions of the machine to the outcome of every call. */
interface Settling<TTarget, TContext, TChange> {
  /** The state where the next piece of work is picked. */
  settling: TTarget;
  failed: (context: TContext, attempt: FailedAttempt) => TChange;
  /**
   * Keeps the name of the plugin's driver.
   * @param change what the answer has changed
   */
  learned: (context: TContext, change: TChange, driver: string) => TChange;
  /**
   * Keeps what the call waits for: no call was made, and none can be made now. Also called when the reason of the
   * wait changes.
   */
  hasToWait: (context: TContext, wait: Wait, stamp: Stamped) => TChange;
  /**
   * Makes the call anew: none was made.
   * @param settled what the call has from here on
   */
  again: (context: TContext, settled: Settled) => TChange;
}

interface Call<TId, TContext, TInput, TAnswer, TChange> {
  /** Default: the `src`. */
  id?: TId;
  input: (context: TContext) => TInput;
  done: (context: TContext, answer: TAnswer, stamp: Stamped) => TChange;
}

interface Waiting {
  awaiting: Awaiting | null;
}

export type Done<TContext, TAnswer> = Taken<
  TContext,
  { type: string; output: CallOutcome<TAnswer> } & Partial<Stamped>
>;
export type Admitted<TContext> = Taken<TContext, { type: string; output: AdmissionOutcome } & Partial<Stamped>>;
export type Thrown<TContext> = Taken<TContext, { type: string; error?: unknown } & Partial<Stamped>>;

/** @returns maker of states that wait for a call, for one machine */
export const callStates = <const TTarget extends string, TContext extends Waiting, TChange>({
  settling,
  failed,
  learned,
  hasToWait,
  again,
}: Settling<TTarget, TContext, TChange>) => ({
  /** Makes a piece of work: its call is under way, waits until it may be made, or waits for its time. */
  pending: <const TSrc extends string, TInput extends object, TAnswer, const TId extends string = TSrc>(
    src: TSrc,
    { id, input, done }: Call<TId, TContext, TInput, TAnswer, TChange>,
  ) => ({
    initial: 'backing-off' as const,
    states: {
      calling: {
        invoke: {
          id: id ?? src,
          src,
          input: ({ context }: { context: TContext }) => input(context),
          onDone: [
            {
              guard: { type: 'isDone' as const, params: outputIn<TContext, TAnswer> },
              target: settling,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Done<TContext, TAnswer>) => {
                  const change = done(context, answerIn(event.output), stampOf(event));
                  const driver = driverIn(event.output);
                  return driver === undefined ? change : learned(context, change, driver);
                },
              },
            },
            {
              guard: { type: 'mustWait' as const, params: outputIn<TContext, TAnswer> },
              target: 'waiting-for-plugin' as const,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Done<TContext, TAnswer>) =>
                  hasToWait(context, waitIn(event.output), stampOf(event)),
              },
            },
            {
              guard: { type: 'isWaitUnwanted' as const, params: outputIn<TContext, TAnswer> },
              target: settling,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Done<TContext, TAnswer>) =>
                  hasToWait(context, waitIn(event.output), stampOf(event)),
              },
            },
            {
              guard: { type: 'isToCallAgain' as const, params: outputIn<TContext, TAnswer> },
              target: settling,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Done<TContext, TAnswer>) => again(context, settledIn(event.output)),
              },
            },
            {
              target: settling,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Done<TContext, TAnswer>) => failed(context, attemptIn(event)),
              },
            },
          ],
          onError: {
            target: settling,
            actions: {
              type: 'change' as const,
              params: ({ context, event }: Thrown<TContext>) => failed(context, attemptIn(event)),
            },
          },
        },
      },
      'waiting-for-plugin': {
        invoke: {
          ...admissionOf(id ?? src, src, input),
          onDone: [
            { guard: { type: 'isAdmitted' as const, params: outputOf<TContext> }, target: settling },
            {
              target: settling,
              actions: {
                type: 'change' as const,
                params: ({ context, event }: Admitted<TContext>) => failed(context, notSent(event)),
              },
            },
          ],
          onError: {
            target: settling,
            actions: {
              type: 'change' as const,
              params: ({ context, event }: Thrown<TContext>) => failed(context, notSent(event)),
            },
          },
        },
        on: {
          settle: { guard: 'hasOtherWork' as const, target: settling },
          'wait.changed': {
            actions: {
              type: 'change' as const,
              params: ({ context, event }: Taken<TContext, Wait & Partial<Stamped>>) =>
                hasToWait(context, event, stampOf(event)),
            },
          },
        },
      },
      'backing-off': { on: { settle: settling }, after: { untilDue: settling } },
    },
  }),
});

/** Guards of a machine with such states, by the outcome of an effect. */
export const callGuards = {
  isDone: (_: unknown, { status }: CallOutcome<unknown>) => status === 'done',
  isWaitUnwanted: (_: unknown, { status }: CallOutcome<unknown>) => status === 'must-wait',
  isToCallAgain: (_: unknown, { status }: CallOutcome<unknown>) => status === 'call-again',
  isAdmitted: (_: unknown, { status }: AdmissionOutcome) => status === 'admitted',
};

const outputIn = <TContext, TAnswer>({ event }: Done<TContext, TAnswer>): CallOutcome<TAnswer> => event.output;
const outputOf = <TContext>({ event }: Admitted<TContext>): AdmissionOutcome => event.output;

/** The effect of a state whose call waits: it makes no call. @param id of the effect that makes the call, by its `src` */
const admissionOf = <TContext extends Waiting, TInput extends object>(
  id: string,
  src: string,
  input: (context: TContext) => TInput,
) => ({
  id: `${id}Admission`,
  src: 'awaitAdmission' as const,
  input: ({ context }: { context: TContext }): AdmissionCall<TInput> => ({
    src,
    call: input(context),
    wait: waitOf(context),
  }),
});

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

export const settledIn = (outcome: CallOutcome<unknown>): Settled => (outcome.status === 'call-again' ? outcome : {});

/** Wait of an outcome that is known to be `must-wait`. */
export function waitIn(outcome: CallOutcome<unknown>): Wait {
  if (outcome.status !== 'must-wait') throw new Error(`the call does not wait, but is ${outcome.status}`);
  const { reason, for: what } = outcome;
  return { reason, for: what };
}

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
