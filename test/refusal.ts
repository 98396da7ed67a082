/** What is refused, for tests that look at the refusal itself. */
import { StagecraftError as BuiltError } from '../dist/src/errors.js';
import { StagecraftError } from '../src/errors.js';

/** What the promise rejects with; anything but an error of ours fails the test. */
export const refusalOf = (promise: Promise<unknown>): Promise<StagecraftError> => refusal(promise, StagecraftError);

/** The same of what is taken from dist/: its errors are of a class of their own. */
export const builtRefusalOf = (promise: Promise<unknown>): Promise<StagecraftError> => refusal(promise, BuiltError);

async function refusal(promise: Promise<unknown>, ours: typeof StagecraftError): Promise<StagecraftError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof ours) return error;
    throw error;
  }
  throw new Error('expected a rejection');
}

/** What an error of ours, thrown at once, names as wrong, part by part; anything else fails the test. */
export function faultsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof StagecraftError) return error.faults ?? [];
    throw error;
  }
  throw new Error('expected a refusal');
}
