/** Sizes as people write them, e.g. 100Gi. */
import { StagecraftError } from '../errors.js';

const units: Readonly<Record<string, number>> = {
  '': 1,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/**
 * Parses a number of bytes, or of Ki, Mi, Gi, Ti or Pi. Decimals are allowed where the result is a whole number of bytes.
 * @returns bytes
 * @throws {StagecraftError} INVALID_ARGUMENT
 */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|Pi)?$/.exec(text) ?? [];
  const bytes = Number(digits) * (units[unit] ?? Number.NaN);
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  const message = `${JSON.stringify(text)} must be a whole number of bytes above 0 and below 2^53, plain or in Ki, Mi, Gi, Ti or Pi, e.g. 100Gi`;
  throw new StagecraftError('INVALID_ARGUMENT', message);
}
