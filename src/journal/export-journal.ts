/** Writes journals as text, with the state after each entry: so that another version can be compared with this one. */
import { isDeepStrictEqual } from 'node:util';
import { catalogEntryOf } from '../../machines/catalog.js';
import type { JournalEntry, UnreadableEntry } from '../engine/actor/actor-record.js';
import { HostedMachine, type PersistedSnapshot } from '../engine/machine/hosted-machine.js';
import { type Moment, Replay } from '../engine/machine/replay.js';
import type { Shown } from '../host/shown.js';
import type { After, EndLine, EntryLine, JournalLine } from './journal-text.js';
import { journalFormat, journalVersion } from './journal-text.js';

interface JournalSource {
  addresses: AsyncIterable<string> | Iterable<string>;
  /** Entries of one actor, oldest first, without secrets. @param skipped called for each that can't be read */
  entries(address: string, skipped: (entry: UnreadableEntry) => void): AsyncIterable<Shown<JournalEntry>>;
  /** Moment of the export, in milliseconds since the epoch. */
  at: number;
  /** Version of Stagecraft. */
  stagecraft: string;
}

/** Yields the lines of an export, each with its line break. Actors without a journal are left out. */
export async function* journalLines({
  addresses,
  entries,
  at,
  stagecraft,
}: JournalSource): AsyncGenerator<string, void> {
  yield asLine({ format: journalFormat, version: journalVersion, at, stagecraft });
  const count = { actors: 0, entries: 0 };
  const unreadable: NonNullable<EndLine['unreadable']> = [];
  const skipped = ({ address: actor, seq, reason }: UnreadableEntry): void =>
    void unreadable.push({ actor, seq, reason });
  for await (const address of addresses) {
    const { machine } = catalogEntryOf(address) ?? {};
    const hosted = machine && HostedMachine.of(machine);
    const past = hosted && new Replay(hosted);
    let before: PersistedSnapshot | undefined;
    let isFirst = true;
    for await (const entry of entries(address, skipped)) {
      if (isFirst) {
        yield asLine({ actor: address, machine: hosted?.name ?? 'unknown', version: entry.version });
        count.actors += 1;
        isFirst = false;
      }
      const moment = past && applied(past, entry);
      const line: EntryLine = { ...entry };
      if (moment) {
        line.after = moment.snapshot ? changeOf(before, moment.snapshot) : null;
        before = moment.snapshot;
      }
      yield asLine(line);
      count.entries += 1;
    }
  }
  yield asLine({ end: true, ...count, ...(unreadable.length > 0 && { unreadable }) });
}

/** State after an entry; undefined: not known, also where the machine of this version throws at it. */
function applied(past: Replay, entry: JournalEntry): Moment | undefined {
  try {
    return past.apply(entry);
  } catch {
    return undefined;
  }
}

const asLine = (line: JournalLine): string => `${JSON.stringify(line)}\n`;

function changeOf(before: PersistedSnapshot | undefined, { value, context }: PersistedSnapshot): After {
  const was = new Map(Object.entries(before?.context ?? {}));
  const set = Object.fromEntries(Object.entries(context).filter(([key, is]) => !isSame(was.get(key), is)));
  const unset = [...was.keys()].filter((key) => !(key in context));
  return {
    state: value,
    ...(Object.keys(set).length > 0 && { set }),
    ...(unset.length > 0 && { unset }),
  };
}

const isSame = (one: unknown, other: unknown): boolean => one === other || isDeepStrictEqual(one, other);

/** Applies what an entry has changed to the context before it. */
export function contextAfter(before: object | undefined, { set = {}, unset = [] }: After): object {
  const kept = Object.entries(before ?? {}).filter(([key]) => !unset.includes(key));
  return { ...Object.fromEntries(kept), ...set };
}
