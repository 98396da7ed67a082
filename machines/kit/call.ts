/**
 * The call of an actor. An actor has parts and makes one call at a time, for the part whose work is due first. A part is a
 * phase; its chart says which call the phase wants (`meta`) and what an outcome means. How far the call is stands here,
 * once for all actors: due, under way, waiting until it may be made, or resting until its time.
 */
import { type BackoffPolicy, defaultBackoff, jittered } from './backoff.js';
import type { AdmissionCall, AdmissionOutcome, Awaiting, CallFailure, CallOutcome, Tries, Wait } from './csi-types.js';
import { failureIn, type Stamped, stampOf } from './host.js';
import type { Taken } from './requests.js';

/** How far the call is that a part wants. */
export type CallStep = 'due' | 'calling' | 'waiting-for-plugin' | 'backing-off';

/** Record of an actor, as far as its call is concerned. */
interface Caller<TKind extends string = string> {
  work: { kind: TKind; dueAtMs: number; isCalling: boolean } | null;
  awaiting: Awaiting | null;
}

/** Call that is under way, and may take effect until its outcome is known. Absent: none is, or it waits. */
export const callUnderWay = <TWork extends { isCalling: boolean }>({
  work,
  awaiting,
}: {
  work: TWork | null;
  awaiting: Awaiting | null;
}): TWork | undefined => (work?.isCalling && !awaiting ? work : undefined);

/** Counts one more failed attempt at the same goal. */
export function counted(before: Tries | undefined, { failure, retry, at, random }: FailedAttempt): Tries {
  const count = (before?.count ?? 0) + 1;
  return { count, notBeforeMs: at + jittered(retry ?? defaultBackoff, count, random), sinceMs: at, failure };
}

/** How far the call is that is next. */
export const presentStepOf = ({ work, awaiting }: Caller): Exclude<CallStep, 'due'> =>
  !work?.isCalling ? 'backing-off' : awaiting ? 'waiting-for-plugin' : 'calling';

/** @param isOwn whether the present call of the actor is the one that the part wants */
export function callStepOf(caller: Caller, isOwn: boolean, tries: Tries | undefined): CallStep {
  if (isOwn && caller.work?.isCalling) return presentStepOf(caller);
  return tries && tries.notBeforeMs > 0 ? 'backing-off' : 'due';
}

/**
 * The piece of work that is due first, so that one that fails again and again keeps no other waiting; null if there is none.
 * @param pieces in the order of their importance
 */
export function firstDue<TPiece extends { dueAtMs: number }>(pieces: Iterable<TPiece>): TPiece | null {
  let next: TPiece | null = null;
  for (const one of pieces) if (!next || one.dueAtMs < next.dueAtMs) next = one;
  return next;
}

/** One kind of call. */
interface Call<TContext, TChange> {
  /** State of the machine while this call is under way. */
  state: string;
  /** Effect that makes the call. */
  src: string;
  /** Id of the effect. Default: its `src`. */
  id?: string;
  input: (context: TContext) => object;
  done: (context: TContext, answer: never, stamp: Stamped) => TChange;
}

/** Rules of the actor for its calls. */
interface Rules<TContext, TChange> {
  /** Whether the present call is still the next. */
  isNext: (context: TContext, nowMs: number) => boolean;
  /** Whether a wait has a limit. Default: never. */
  isForced?: (context: TContext) => boolean;
  failed: (context: TContext, attempt: FailedAttempt) => TChange;
  /** Tells the part that wants the call that none was made: it waits, or is made anew. */
  notMade: (context: TContext, stamp: Stamped) => TChange;
  /**
   * Keeps the name of the plugin's driver: the call was made without knowing it.
   * @param change what the answer has changed
   */
  learned: (context: TContext, change: TChange, driver: string) => TChange;
}

type InputOf<TCall> = TCall extends { input: (context: never) => infer TInput } ? TInput : never;
type IdOf<TCall> = TCall extends { id: infer TId } ? TId : TCall extends { src: infer TSrc } ? TSrc : never;

/**
 * The states and guards of a call, and its delay. Its machine has a state that decides what comes next, and states of its own for
 * its rest. It has the actions `change`, `choose` and `settle`, and the effect `awaitAdmission`.
 * @param deciding id of the state that decides
 * @param calls by kind
 */
export const callChart = <
  TContext extends Caller,
  TChange extends { context: Partial<TContext> },
  const TCalls extends Record<string, Call<TContext, TChange>>,
  const TDeciding extends string,
>(
  deciding: TDeciding,
  calls: TCalls,
  { isNext, isForced = () => false, failed, notMade, learned }: Rules<TContext, TChange>,
) => {
  type Kind = keyof TCalls & string;
  const callOf = ({ work }: TContext): Call<TContext, TChange> => {
    const call = work ? calls[work.kind] : undefined;
    if (!call) throw new Error('no call is in progress');
    return call;
  };

  /** The call is over when its outcome is applied: what follows in the same step takes no call for still under way. */
  const over = (context: TContext): TContext => ({
    ...context,
    work: context.work && { ...context.work, isCalling: false },
  });

  const withData = (change: TChange, data: object): TChange => ({ ...change, context: { ...change.context, ...data } });

  /** Keeps what the call waits for. Also called when the reason changes. */
  const waits = (context: TContext, { reason, for: what }: Wait, stamp: Stamped): TChange => {
    const awaiting: Awaiting = { reason, for: what, ...(isForced(context) && { isForced: true }) };
    return withData(notMade({ ...context, awaiting }, stamp), { awaiting });
  };

  const ended = (before: TContext, event: Done<TContext, unknown>['event']): TChange => {
    const { output } = event;
    const stamp = stampOf(event);
    if (output.status === 'must-wait') return waits(before, output, stamp);
    const context = over(before);
    if (output.status === 'call-again') {
      const { status: _, ...settled } = output;
      return withData(notMade(context, stamp), settled);
    }
    if (output.status !== 'done') return failed(context, attemptIn(event));
    const change = callOf(context).done(context, answerIn(output) as never, stamp);
    const driver = driverIn(output);
    return driver === undefined ? change : learned(context, change, driver);
  };

  const changedByEnd = {
    type: 'change' as const,
    params: ({ context, event }: Done<TContext, unknown>) => ended(context, event),
  };
  const onDone = [
    {
      guard: { type: 'mustWait' as const, params: ({ event }: Done<TContext, unknown>) => event.output },
      target: '#waiting-for-plugin' as const,
      actions: changedByEnd,
    },
    { target: deciding, actions: changedByEnd },
  ] as const;
  const onError = {
    target: deciding,
    actions: {
      type: 'change' as const,
      params: ({ context, event }: Thrown<TContext>) => failed(over(context), attemptIn(event)),
    },
  } as const;

  const underWay = ({ src, id = src, input }: Call<TContext, TChange>) => ({
    invoke: { id, src, input: ({ context }: { context: TContext }) => input(context), onDone, onError },
  });
  type UnderWay<TCall extends Call<TContext, TChange>> = {
    invoke: {
      id: IdOf<TCall>;
      src: TCall['src'];
      input: (taken: { context: TContext }) => InputOf<TCall>;
      onDone: typeof onDone;
      onError: typeof onError;
    };
  };
  const calling = Object.fromEntries(Object.values(calls).map((call) => [call.state, underWay(call)])) as {
    [K in Kind as TCalls[K]['state']]: UnderWay<TCalls[K]>;
  };

  const notAdmitted = {
    target: deciding,
    actions: {
      type: 'change' as const,
      params: ({ context, event }: Thrown<TContext>) => failed(over(context), notSent(event)),
    },
  } as const;

  return {
    /** Ways out of the state that decides: to the call that is due, else to rest until one is. */
    ways: [
      ...Object.entries(calls).map(([kind, { state }]) => ({
        guard: { type: 'isDueNow' as const, params: kind as Kind },
        target: state as TCalls[Kind]['state'],
      })),
      { guard: 'isDueLater' as const, target: 'backing-off' as const },
    ],
    /** State of the machine in which no part wants a call. */
    atRest: { on: { settle: deciding } },
    states: {
      ...calling,
      /** The next call begins at its time, or once something else is asked for. */
      'backing-off': { on: { settle: deciding }, after: { untilDue: deciding } },
      /** The call was not made, and can't be made now. */
      'waiting-for-plugin': {
        id: 'waiting-for-plugin',
        invoke: {
          id: 'admission',
          src: 'awaitAdmission' as const,
          input: ({ context }: { context: TContext }): AdmissionCall => {
            const { src, input } = callOf(context);
            return { src, call: input(context), wait: waitOf(context) };
          },
          onDone: [
            {
              guard: { type: 'isAdmitted' as const, params: ({ event }: AdmissionDone<TContext>) => event.output },
              target: deciding,
            },
            notAdmitted,
          ],
          onError: notAdmitted,
        },
        on: {
          settle: { guard: 'isNotNextNow' as const, target: deciding },
          'wait.changed': {
            actions: {
              type: 'change' as const,
              params: ({ context, event }: Taken<TContext, Wait & Partial<Stamped>>) =>
                waits(context, event, stampOf(event)),
            },
          },
        },
      },
    },
    guards: {
      isDueNow: ({ context: { work } }: { context: TContext }, kind: string) =>
        work?.isCalling === true && work.kind === kind,
      isDueLater: ({ context: { work } }: { context: TContext }) => work !== null,
      isAdmitted: (_: unknown, { status }: AdmissionOutcome) => status === 'admitted',
      /** Whether the call has to wait and is still the next. */
      mustWait: ({ context, event }: Taken<TContext, Partial<Stamped>>, outcome: CallOutcome<unknown>) => {
        if (outcome.status !== 'must-wait') return false;
        const stamp = stampOf(event);
        return isNext({ ...context, ...waits(context, outcome, stamp).context }, stamp.at);
      },
      /** Whether another call is due than the waiting one, or none, or the wait now has a limit. */
      isNotNextNow: ({ context, event }: Taken<TContext, Partial<Stamped>>) =>
        !isNext(context, stampOf(event).at) || (isForced(context) && !context.awaiting?.isForced),
    },
    delays: {
      untilDue: ({ context: { work }, event }: Taken<TContext, Partial<Stamped>>) =>
        Math.max(0, (work?.dueAtMs ?? 0) - stampOf(event).at),
    },
  };
};

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

type Done<TContext, TAnswer> = Taken<TContext, { type: string; output: CallOutcome<TAnswer> } & Partial<Stamped>>;
type AdmissionDone<TContext> = Taken<TContext, { type: string; output: AdmissionOutcome } & Partial<Stamped>>;
type Thrown<TContext> = Taken<TContext, { type: string; error?: unknown } & Partial<Stamped>>;

function waitOf({ awaiting }: Waiting): Wait {
  if (!awaiting) throw new Error('the call does not wait');
  const { reason, for: what } = awaiting;
  return { reason, for: what };
}

/** Answer of an outcome that is known to be `done`. */
function answerIn<TAnswer>(outcome: CallOutcome<TAnswer>): TAnswer {
  if (outcome.status !== 'done') throw new Error(`the call is not done, but ${outcome.status}`);
  return outcome.answer;
}

const driverIn = (outcome: CallOutcome<unknown>): string | undefined =>
  outcome.status === 'done' ? outcome.driver : undefined;

interface Ended extends Partial<Stamped> {
  type: string;
  output?: CallOutcome<unknown> | AdmissionOutcome;
  error?: unknown;
}

/** Failed attempt of an effect that threw or was given up by its host: its call may have been made. */
function attemptIn(event: Ended): FailedAttempt {
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
const notSent = (event: Ended): FailedAttempt => ({ ...attemptIn(event), status: 'not-sent' });
