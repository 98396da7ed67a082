/**
 * What the statecharts of volumes and of their snapshots are made of: requests that are refused or change something, and
 * states that wait for a call to the plugin. Such a machine has the guards `isRefused`, `isDone` and `isOutdated`, the
 * actions `answer`, `change` and `settle`, and the delay `untilDue`.
 */

import type { BackoffPolicy } from './backoff.js';
import type { CallFailure, CallOutcome } from './csi-types.js';
import { type AnswerParams, failureIn, type Stamped, stampOf } from './host.js';

/** A forced deletion reports a step that has failed so often as a leftover, and goes on. */
export const forcedAttempts = 3;

/** The code where the plugin answered a creation with the id of something else: nothing at the plugin belongs to this actor. */
export const idTaken = 'CSI_ID_TAKEN';

/** One failed attempt at a call, with the policy that says when the next one is due. */
export interface FailedAttempt extends Stamped {
  failure: CallFailure;
  /** No call was made. */
  isNotBegun: boolean;
  /** Nor was this one: it is to be asked for again, with what is known now. */
  isAnew?: boolean;
  retry?: BackoffPolicy;
}

export interface Taken<TContext, TEvent> {
  context: TContext;
  event: TEvent;
}

/** What is asked for or told changes something; then it is looked for what is to be done now. */
export const changed = <TContext, TEvent, TChange>(change: (context: TContext, event: TEvent) => TChange) => ({
  actions: [
    { type: 'change' as const, params: ({ context, event }: Taken<TContext, TEvent>) => change(context, event) },
    'settle' as const,
  ],
});

/** It is answered, and that is all. */
export const answered = <TContext, TEvent>(answer: (context: TContext, event: TEvent) => AnswerParams) => ({
  actions: {
    type: 'answer' as const,
    params: ({ context, event }: Taken<TContext, TEvent>) => answer(context, event),
  },
});

/** Its answer says why it is refused. */
export const refused = <TContext, TRequest>(answer: (context: TContext, request: TRequest) => AnswerParams) => ({
  guard: { type: 'isRefused' as const, params: ({ event }: Taken<TContext, TRequest>) => event },
  ...answered(answer),
});

/** What a machine makes of every call. */
interface Settling<TTarget, TContext, TChange> {
  /** The state where the next piece of work is picked. */
  settling: TTarget;
  failed: (context: TContext, attempt: FailedAttempt) => TChange;
  /** Its plugin's driver is known from here on. @param change what the answer made of it */
  learned: (context: TContext, change: TChange, driver: string) => TChange;
}

interface Call<TId, TContext, TInput, TAnswer, TChange> {
  /** Default: its `src`. */
  id?: TId;
  input: (context: TContext) => TInput;
  done: (context: TContext, answer: TAnswer, stamp: Stamped) => TChange;
}

type Done<TContext, TAnswer> = Taken<TContext, { type: string; output: CallOutcome<TAnswer> } & Partial<Stamped>>;
type Thrown<TContext> = Taken<TContext, { type: string; error?: unknown } & Partial<Stamped>>;

/** @returns makers of states that wait for a call, for one machine */
export const callStates = <const TTarget extends string, TContext, TChange>({
  settling,
  failed,
  learned,
}: Settling<TTarget, TContext, TChange>) => ({
  /** The call is under way, or waits for its plugin. */
  calling: <const TSrc extends string, TInput, TAnswer, const TId extends string = TSrc>(
    src: TSrc,
    { id, input, done }: Call<TId, TContext, TInput, TAnswer, TChange>,
  ) => ({
    invoke: {
      id: id ?? src,
      src,
      input: ({ context }: { context: TContext }) => input(context),
      onDone: [
        {
          guard: { type: 'isDone' as const, params: ({ event }: Done<TContext, TAnswer>) => event.output },
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
    on: { settle: { guard: 'isOutdated' as const, target: settling } },
  }),
  /** A piece of work: the states in which it calls, and the one in which it waits for its time. */
  pending: <TCalling extends object>(calling: TCalling) => ({
    initial: 'backing-off' as const,
    states: { ...calling, 'backing-off': { on: { settle: settling }, after: { untilDue: settling } } },
  }),
});

interface NamedCall<TId, TContext, TInput, TAnswer, TOutcome> {
  /** Default: its `src`. */
  id?: TId;
  input: (context: TContext) => TInput;
  done: (answer: TAnswer, stamp: Stamped) => TOutcome;
  failed: (context: TContext, attempt: FailedAttempt) => TOutcome;
}

/**
 * The call of a state whose machine has an event for each outcome: the result of the call is raised as that event, so that
 * only states that expect the outcome accept it. Such a machine has the actions `learn` and `report`.
 */
export const asksFor = <
  const TSrc extends string,
  TContext,
  TInput,
  TAnswer,
  TOutcome,
  const TId extends string = TSrc,
>(
  src: TSrc,
  { id, input, done, failed }: NamedCall<TId, TContext, TInput, TAnswer, TOutcome>,
) => ({
  invoke: {
    id: id ?? src,
    src,
    input: ({ context }: { context: TContext }) => input(context),
    onDone: {
      actions: [
        { type: 'learn' as const, params: ({ event }: Done<TContext, TAnswer>) => driverIn(event.output) },
        {
          type: 'report' as const,
          params: ({ context, event }: Done<TContext, TAnswer>) =>
            event.output.status === 'done'
              ? done(event.output.answer, stampOf(event))
              : failed(context, attemptIn(event)),
        },
      ],
    },
    onError: {
      actions: {
        type: 'report' as const,
        params: ({ context, event }: Thrown<TContext>) => failed(context, attemptIn(event)),
      },
    },
  },
});

/** Of an outcome that is known to be done. */
function answerIn<TAnswer>(outcome: CallOutcome<TAnswer>): TAnswer {
  if (outcome.status !== 'done') throw new Error(`the call is not done: ${outcome.failure.message}`);
  return outcome.answer;
}

const driverIn = (outcome: CallOutcome<unknown>): string | undefined =>
  outcome.status === 'done' ? outcome.driver : undefined;

/** An effect that threw, or was given up by its host, may have made its call. */
function attemptIn(
  event: { type: string; output?: CallOutcome<unknown>; error?: unknown } & Partial<Stamped>,
): FailedAttempt {
  const { output } = event;
  const stamp = stampOf(event);
  if (!output || output.status === 'done') {
    const failure: CallFailure = failureIn(event);
    // The runtime ended while it was under way: no attempt.
    return { ...stamp, failure, isNotBegun: false, ...(failure.code === 'INTERRUPTED' && { isAnew: true }) };
  }
  const { failure, status, retry, anew } = output;
  const isNotBegun = status === 'not-begun';
  return { ...stamp, failure, isNotBegun, ...(retry && { retry }), ...(anew && { isAnew: anew }) };
}
