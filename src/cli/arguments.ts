/** Reads what is given to options of the command line. */
import { InvalidArgumentError } from 'commander';
import { messageOf } from '../errors.js';
import { parseSize } from './size.js';

export function countIn(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

/** For what is not to be more than that. */
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

/** @returns milliseconds */
export function secondsIn(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new InvalidArgumentError('Give a number of seconds above 0.');
  return Math.ceil(seconds * 1_000);
}

/** For an option that may be given any number of times. */
export const collect = (value: string, before: string[] = []): string[] => [...before, value];
