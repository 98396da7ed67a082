/** What is refused, for tests that look at the refusal itself. */
import { StagecraftError } from '../src/errors.js';

/** What the promise rejects with; anything but an error of ours fails the test. */
export async function refusalOf(promise: Promise<unknown>): Promise<StagecraftError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StagecraftError) return error;
    throw error;
  }
  throw new Error('expected a rejection');
}
