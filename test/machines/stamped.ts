/** What the tests of the machines share: XState's own `createActor`, with the stamps that a host gives each event. */
import type { ActorLogic, AnyActorRef, EventObject, Snapshot } from 'xstate';
import type { Stamped } from '../../machines/kit/host.js';

/** The same logic; every event that it takes, results and timers too, carries what `stamp` says then. */
export function stamped<
  TSnapshot extends Snapshot<unknown>,
  TEvent extends EventObject,
  TInput,
  TEmitted extends EventObject,
>(
  logic: ActorLogic<TSnapshot, TEvent, TInput, AnyActorRef['system'], TEmitted>,
  stamp: () => Stamped,
): ActorLogic<TSnapshot, TEvent, TInput, AnyActorRef['system'], TEmitted> {
  return {
    transition: (snapshot, event, scope) => logic.transition(snapshot, { ...event, ...stamp() }, scope),
    getInitialSnapshot: (scope, input) => logic.getInitialSnapshot(scope, input),
    getPersistedSnapshot: (snapshot, options) => logic.getPersistedSnapshot(snapshot, options),
    start: (snapshot, scope) => logic.start?.(snapshot, scope),
    ...(logic.restoreSnapshot && {
      restoreSnapshot: (kept, scope) => logic.restoreSnapshot?.(kept, scope) as TSnapshot,
    }),
  };
}

/** For events that are sent by hand. */
export const anyStamp: Stamped = { at: 0, random: 0 };

/** One run of an effect that a test ends as it likes. */
interface Run<TInput, TOutput> {
  input: TInput;
  signal: AbortSignal;
  resolve(output: TOutput): void;
  reject(error: unknown): void;
}

/** Every run of one effect, in order. */
export class Runs<TInput, TOutput> {
  readonly all: Run<TInput, TOutput>[] = [];

  /** Hand it to `fromPromise`. */
  readonly begin = ({ input, signal }: { input: TInput; signal: AbortSignal }): Promise<TOutput> =>
    new Promise((resolve, reject) => this.all.push({ input, signal, resolve, reject }));

  get last(): Run<TInput, TOutput> {
    const last = this.all.at(-1);
    if (!last) throw new Error('the effect was not asked for yet');
    return last;
  }
}
