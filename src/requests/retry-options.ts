/** Options of a retry, beside its subject. */
import { z } from 'zod';
import { textSchema } from '../host/names.js';
import { checked } from './fields.js';

export interface RetryOptions {
  /**
   * The own name of the driver, as GetPluginInfo has it, that has taken over what another driver made: calls to it are not
   * refused with OTHER_DRIVER from here on.
   */
  acceptDriver?: string | undefined;
}

const retrySchema = z.strictObject({ acceptDriver: textSchema.optional() });

/** @throws StagecraftError INVALID_ARGUMENT */
export function checkedRetry(options: RetryOptions): { acceptDriver?: string } {
  const { acceptDriver } = checked(retrySchema, options, 'the options');
  return acceptDriver === undefined ? {} : { acceptDriver };
}
