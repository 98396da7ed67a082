/** Differences between two states of an actor, value by value. */
import { isDeepStrictEqual } from 'node:util';

/** A value that differs. `was` is absent for a new one, `is` for one that is gone. */
export interface Difference {
  /** Keys from the outermost on, with dots between them. */
  path: string;
  was?: unknown;
  is?: unknown;
}

/** Innermost values that differ, in the order of their keys. */
export function differencesOf(was: unknown, is: unknown, path = ''): Difference[] {
  if (isDeepStrictEqual(was, is)) return [];
  if (!isBranch(was) || !isBranch(is))
    return [{ path, ...(was !== undefined && { was }), ...(is !== undefined && { is }) }];
  const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...keys].flatMap((key) => differencesOf(was[key], is[key], path === '' ? key : `${path}.${key}`));
}

const isBranch = (value: unknown): value is Record<string, unknown> => value instanceof Object;
