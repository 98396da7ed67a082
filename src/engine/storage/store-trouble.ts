/** Errors for callers when the store fails. */
import { messageOf, StagecraftError } from '../../errors.js';

/** @param outcome `refused`: nothing has changed; `unknown`: the write may have happened, and is retried while no other runtime takes over */
export const storeUnavailable = (address: string, outcome: 'refused' | 'unknown', cause: unknown): StagecraftError =>
  new StagecraftError(
    'STORE_UNAVAILABLE',
    outcome === 'refused'
      ? `the store takes nothing now (${messageOf(cause)}); nothing has changed: ask again later`
      : `the store gave no answer (${messageOf(cause)}); the change may have happened: look at the state once the store answers, or ask again`,
    { address, outcome, cause },
  );

/** @throws {StagecraftError} the error of the call, or else STORE_UNAVAILABLE: nothing has changed */
export async function answered<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof StagecraftError) throw cause;
    throw new StagecraftError('STORE_UNAVAILABLE', `${what}: ${messageOf(cause)}`, { outcome: 'refused', cause });
  }
}
