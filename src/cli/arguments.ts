/** Parsers of the values of options. They throw commander's error with what is allowed. */
import { CommanderError, InvalidArgumentError } from 'commander';
import { messageOf, StagecraftError } from '../errors.js';

/** Units of sizes as people write them, e.g. 100Gi. */
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

export function countIn(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

export const countUpTo =
  (max: number) =>
  (text: string): number => {
    const count = countIn(text);
    if (count <= max) return count;
    throw new InvalidArgumentError(`It must be at most ${max}.`);
  };

export function sizeIn(text: string): number {
  try {
    return parseSize(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

/** Parses seconds, with decimals. @returns milliseconds */
export function secondsIn(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new InvalidArgumentError('Give a number of seconds above 0.');
  return Math.ceil(seconds * 1_000);
}

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];

/** Makes the error for arguments that don't fit together. */
export const misuse = (message: string): CommanderError => new CommanderError(2, 'usage', `error: ${message}`);

/** Parses the values of a repeatable option that takes `key=value`. */
export const pairs = (option: string, given: string[]): Record<string, string> =>
  Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw misuse(`${option} takes key=value`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
