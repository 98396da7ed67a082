/**
 * Reactions of charts to requests and observations: refuse, answer, or change something and look for the next piece of work. A
 * machine that uses them has the guard `isRefused` and the actions `answer`, `change` and `settle`.
 */
import { type EventObject, enqueueActions, type MachineContext } from 'xstate';
import type { AnswerParams, MessageParams } from './host.js';

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
