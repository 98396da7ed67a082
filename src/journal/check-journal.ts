/** Compares a journal with the machines of this version: the same inputs have to lead to the same states. */
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
  return firstDifference(expected?.context, got?.context, '');
}

function firstDifference(expected: unknown, got: unknown, path: string): Omit<Divergence, 'seq'> | undefined {
  if (isDeepStrictEqual(expected, got)) return undefined;
  if (isBranch(expected) && isBranch(got)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(got)])) {
      const found = firstDifference(expected[key], got[key], path === '' ? key : `${path}.${key}`);
      if (found) return found;
    }
  }
  return { path, expected, got };
}

const isBranch = (value: unknown): value is Record<string, unknown> => value instanceof Object;
