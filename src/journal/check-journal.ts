/**
 * Compares states: those of a journal with those of the machines of this version, as the same inputs have to lead to the same
 * states; and two of one actor, value by value.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PersistedSnapshot } from '../engine/machine/hosted-machine.js';
import { Replay } from '../engine/machine/replay.js';
import { messageOf } from '../errors.js';
import { contextAfter } from './export-journal.js';
import { machineAt } from './journal-file.js';
import type { EntryLine } from './journal-text.js';

/** First entry after which this version is in another state than the one that wrote the journal. */
export interface Divergence {
  seq: number;
  /** Name of the value that differs: `state`, `error`, or its path in the context. */
  path: string;
  expected: unknown;
  got: unknown;
}

export interface JournalCheck {
  address: string;
  /** Entries whose states were compared. */
  compared: number;
  /** Entries of another version of the machine, or whose beginning was forgotten. */
  skipped: number;
  divergence?: Divergence;
}

/** Replays an actor up to the first divergence. */
export async function checkJournal(address: string, entries: AsyncIterable<EntryLine>): Promise<JournalCheck> {
  const past = new Replay(machineAt(address));
  const result: JournalCheck = { address, compared: 0, skipped: 0 };
  let expected: PersistedSnapshot | undefined;
  for await (const entry of entries) {
    const { seq, after, snapshot } = entry;
    if (after === null) expected = undefined;
    else if (after)
      expected = { value: after.state as PersistedSnapshot['value'], context: contextAfter(expected?.context, after) };
    else if (snapshot) expected = snapshot;
    let moment: ReturnType<Replay['apply']>;
    try {
      moment = past.apply(entry);
    } catch (error) {
      return { ...result, divergence: { seq, path: 'error', expected: undefined, got: messageOf(error) } };
    }
    if (entry.kind === 'crash' && moment && !moment.thrown)
      return { ...result, divergence: { seq, path: 'error', expected: entry.error, got: undefined } };
    if (!moment || (after === undefined && snapshot === undefined)) {
      result.skipped += 1;
      continue;
    }
    const found = difference(expected, moment.snapshot);
    if (found) return { ...result, divergence: { seq, ...found } };
    result.compared += 1;
  }
  return result;
}

function difference(
  expected: PersistedSnapshot | undefined,
  got: PersistedSnapshot | undefined,
): Omit<Divergence, 'seq'> | undefined {
  if (!isDeepStrictEqual(expected?.value, got?.value))
    return { path: 'state', expected: expected?.value, got: got?.value };
  const [first] = differencesOf(expected?.context, got?.context);
  return first && { path: first.path, expected: first.was, got: first.is };
}

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
  if (isBranch(was) && isBranch(is)) {
    const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
    const inner = [...keys].flatMap((key) => differencesOf(was[key], is[key], path === '' ? key : `${path}.${key}`));
    // A list and a map with the same items differ as a whole.
    if (inner.length > 0) return inner;
  }
  return [{ path, ...(was !== undefined && { was }), ...(is !== undefined && { is }) }];
}

const isBranch = (value: unknown): value is Record<string, unknown> => value instanceof Object;
