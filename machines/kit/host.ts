/**
 * Requests of machines to their host, as data: messages to other actors and answers to callers. Broadcasts use
 * XState's own `emit`. Under a plain `createActor` these actions do nothing. The host:
 * docs/architecture.md#save-then-act
 */
import {
  type AnyEventObject,
  type CallbackActorLogic,
  type EventObject,
  fromCallback,
  fromPromise,
  type PromiseActorLogic,
} from 'xstate';
import { type ErrorCode, isErrorCode } from './error-table.js';

/** Stamp that the host puts on every event, so that machines need no clock and no random numbers of their own. */
export interface Stamped {
  /** Milliseconds since the epoch, when the event was taken from the mailbox. */
  at: number;
  /** Uniform in [0, 1), drawn once per event. */
  random: number;
}

/** Stamp of an event; a fixed one if nobody has stamped it, as under a plain `createActor`. */
export const stampOf = ({ at = 0, random = 0.5 }: Partial<Stamped>): Stamped => ({ at, random });

/**
 * Sends `event` to the actor at `to`, or starts that actor with `input`: after the commit, once, in order per pair of
 * actors.
 */
export type MessageParams = { to: string; event: AnyEventObject } | { to: string; input: object };

/** Answer that the caller of the present event gets after the commit; without one the caller gets `undefined`. */
export type AnswerParams = { value: unknown } | { error: Failure };

/** A failure as data: kept by machines and sent to callers. */
export interface Failure {
  code: ErrorCode;
  message: string;
  /** Whether a repeat of the same request is known to fail again. */
  final: boolean;
  /** Code of the thrown error, if it is none of ours. */
  originalCode?: string;
}

/** The failure that an `xstate.error.actor.*` event carries; hosts flatten errors to plain data before they send it. */
export function failureIn(event: { type: string; error?: unknown }): Failure {
  const error: Partial<Failure> = event.error instanceof Object ? event.error : { message: String(event.error) };
  return {
    ...codeIn(error, 'EFFECT_FAILED'),
    message: error.message ?? 'unknown error',
    final: error.final ?? false,
  };
}

/** The code of what was thrown; where it is no code of ours, `instead`, with that code beside it. */
export function codeIn(
  thrown: unknown,
  instead: 'EFFECT_FAILED' | 'CALL_FAILED',
): Pick<Failure, 'code' | 'originalCode'> {
  const { code, originalCode }: { code?: unknown; originalCode?: unknown } = thrown instanceof Object ? thrown : {};
  if (isErrorCode(code)) return { code, ...(typeof originalCode === 'string' && { originalCode }) };
  return { code: instead, ...(typeof code === 'string' && { originalCode: code }) };
}

/** The actions that a host collects instead of running. Spread into `setup({ actions })`. */
export const hostActions = {
  messages: (_: unknown, _params: MessageParams[]): void => {},
  answer: (_: unknown, _params: AnswerParams): void => {},
};

/** Stands for an effect that ends with one result; a host or a test provides it. */
export function unbound<TOutput, TInput extends object>(): PromiseActorLogic<TOutput, TInput> {
  return fromPromise<TOutput, TInput>(() => new Promise<TOutput>(() => {}));
}

/** Stands for an effect that goes on while its state is active and sends events; a host or a test provides it. */
export function unboundLoop<TEvent extends EventObject, TInput extends object>(): CallbackActorLogic<TEvent, TInput> {
  return fromCallback<TEvent, TInput>(() => {});
}

/** Result of restoring a runtime's actors. */
export interface RestoreReport {
  /** Actors that run again. */
  actors: number;
  /** Addresses whose records could not be read; they are left as they are. */
  quarantined: string[];
}
