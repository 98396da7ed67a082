/** Errors of a close that could not do all of its work. */
import { messageOf, StagecraftError } from '../errors.js';
import { drainAgain } from './registry-actor.js';

/** The error of a stop, with that of the release before it. */
export const bothOf = (first: StagecraftError, then: StagecraftError): StagecraftError =>
  new StagecraftError(then.code, `${first.message}; ${then.message}`, {
    faults: [...(first.faults ?? [first.message]), ...(then.faults ?? [then.message])],
    cause: then,
  });

export const asFault = (error: unknown): StagecraftError =>
  error instanceof StagecraftError ? error : new StagecraftError('DRAIN_FAILED', messageOf(error), { cause: error });

export const unreleased = ({ code, message, faults = [message], cause }: StagecraftError): StagecraftError =>
  new StagecraftError(code, `${message}; ${drainAgain}`, { faults, cause });

export const tooLate = (): StagecraftError =>
  new StagecraftError('RUNTIME_CLOSED', 'it was closed without releasing: create it again, then close it with release');

export function closedWithoutStore({ address, outcome, cause }: StagecraftError, released: boolean): StagecraftError {
  const details = { ...(address && { address }), ...(outcome && { outcome }), cause };
  const why = `the store takes nothing now (${messageOf(cause)})`;
  const advice = 'plugin processes run on; start it again once the store answers';
  if (released)
    return new StagecraftError('DRAIN_FAILED', `nothing was stopped: ${why}; ${advice}, then drain`, details);
  return new StagecraftError('STORE_UNAVAILABLE', `closed with work under way: ${why}; ${advice}`, details);
}
