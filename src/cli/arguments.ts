/** Parsers of the values of options. They throw commander's error with what is allowed. */
import { CommanderError, InvalidArgumentError } from 'commander';
import { messageOf } from '../errors.js';
import { parseSize } from './size.js';

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
