/** Parser of counts in the queries of HTTP requests. */
import { StagecraftError } from '../errors.js';

/** @throws StagecraftError INVALID_ARGUMENT */
export function countIn(name: string, text: string, what = 'a positive whole number'): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new StagecraftError('INVALID_ARGUMENT', `${name} must be ${what}, not '${text}'`);
}
