/**
 * Reactions of charts to requests and observations: refuse, answer, or change something and look for the next piece of work. A
 * machine that uses them has the guard `isRefused` and the actions `answer`, `change` and `settle`.
 */
import { type EventObject, enqueueActions, type MachineContext } from 'xstate';
import type { ErrorCode } from './error-table.js';
import type { AnswerParams, Failure, MessageParams } from './host.js';

export interface Taken<TContext, TEvent> {
  context: TContext;
  event: TEvent;
}

/**
 * The action `change`: takes over a change, sends its messages and broadcasts what it says. The types are given: `setup` can't
 * infer them if there are parameters.
 * @param broadcastsOf returns the broadcasts, with what each says of the actor
 */
export const takesOver = <
  TContext extends MachineContext,
  TEvent extends EventObject,
  TChange extends { context: Partial<TContext>; messages?: MessageParams[] },
  TEmitted extends EventObject,
>(
  broadcastsOf: (context: TContext, change: TChange) => TEmitted[],
) =>
  enqueueActions<
    TContext,
    TEvent,
    TChange,
    TEvent,
    never,
    { type: 'messages'; params: MessageParams[] },
    never,
    never,
    TEmitted
  >(({ context, enqueue }, change) => {
    const { context: after, messages = [] } = change;
    enqueue.assign(after);
    if (messages.length > 0) enqueue({ type: 'messages', params: messages });
    for (const told of broadcastsOf(context, change)) enqueue.emit(told);
  });

/** Applies the change of a request or an observation; then the machine looks for its next piece of work. */
export const changed = <TContext, TEvent, TChange>(change: (context: TContext, event: TEvent) => TChange) => ({
  actions: [
    { type: 'change' as const, params: ({ context, event }: Taken<TContext, TEvent>) => change(context, event) },
    'settle' as const,
  ],
});

/** Makes the guard `isRefused` and the reaction to a refused request of a machine, both of its one function. */
export const refusing = <TContext, TRequest>(
  refusalOf: (context: TContext, request: TRequest) => Failure | undefined,
) => ({
  isRefused: ({ context }: { context: TContext }, request: TRequest): boolean =>
    refusalOf(context, request) !== undefined,
  /** Answers a request that is refused with the reason. */
  refused: {
    guard: { type: 'isRefused' as const, params: ({ event }: Taken<TContext, TRequest>) => event },
    actions: {
      type: 'answer' as const,
      params: ({ context, event }: Taken<TContext, TRequest>): AnswerParams => {
        const error = refusalOf(context, event);
        return error ? { error } : { value: undefined };
      },
    },
  },
});

/** Makes the refusals of a machine: each names its actor, and says what is in the way, and what to do. */
export const refusalBy =
  <TContext>(nameOf: (context: TContext) => string) =>
  (code: ErrorCode, context: TContext, why: string): Failure => ({
    code,
    message: `${nameOf(context)}: ${why}`,
    final: true,
  });
