/**
 * Reactions of charts to requests and observations: refuse, answer, or change something and look for the next piece of work. A
 * machine that uses them has the guard `isRefused` and the actions `answer`, `change` and `settle`.
 */
import type { AnswerParams } from './host.js';

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
