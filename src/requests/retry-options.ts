/** Options of a retry, besides its subject. */
import { z } from 'zod';
import { textSchema } from '../host/names.js';
import { checked } from './fields.js';

export interface RetryOptions {
  /**
   * Own name (GetPluginInfo) of a driver that has taken over the volumes of another driver. Calls to it are no longer
   * refused with OTHER_DRIVER.
   */
  acceptDriver?: string | undefined;
}

export const retrySchema = z.strictObject({
  acceptDriver: textSchema.optional().describe('Own name of a driver that has taken over the volumes of another.'),
});

/** @throws {StagecraftError} INVALID_ARGUMENT */
export function checkedRetry(options: RetryOptions): { acceptDriver?: string } {
  const { acceptDriver } = checked(retrySchema, options, 'the options');
  return acceptDriver === undefined ? {} : { acceptDriver };
}
