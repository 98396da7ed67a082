/** Reads an exported journal from a file, and replays its actors: without a runtime, a store or a plugin. */
import { createReadStream } from 'node:fs';
import { catalogEntryOf } from '../../machines/catalog.js';
import { HostedMachine } from '../engine/machine/hosted-machine.js';
import { type Moment, Replay, type Replayed, replay } from '../engine/machine/replay.js';
import { messageOf, StagecraftError } from '../errors.js';
import { type EntryLine, type JournalHead, LineReader, longestLine, tooLong } from './journal-text.js';

/** An actor of a journal. */
export interface JournalledActor {
  address: string;
  machine: string;
  /** Version of its machine at its first entry. */
  version: string;
  entries: number;
  /** Seq of its first and last entry. */
  first: number;
  last: number;
}

interface Part extends JournalledActor {
  /** Number of its first line in the file. */
  line: number;
}

/** An exported journal whose every line was checked when it was opened. Read from the disk as it is asked for. */
export class JournalFile {
  readonly #path: string;
  readonly #parts: ReadonlyMap<string, Part>;
  readonly head: JournalHead;

  constructor(path: string, head: JournalHead, parts: readonly Part[]) {
    this.#path = path;
    this.head = head;
    this.#parts = new Map(parts.map((part) => [part.address, part]));
  }

  get actors(): JournalledActor[] {
    return [...this.#parts.values()].map(({ line: _, ...actor }) => actor);
  }

  /** Entries of an actor, oldest first. @throws {StagecraftError} ACTOR_NOT_FOUND */
  async *entries(address: string): AsyncGenerator<EntryLine, void> {
    const { line, entries } = this.#part(address);
    let at = 0;
    for await (const text of linesOf(this.#path)) {
      at += 1;
      if (at > line + entries) return;
      if (at > line) yield JSON.parse(text);
    }
  }

  /**
   * State after entry `to`; default: the last. No effect runs.
   * @throws {StagecraftError} ACTOR_NOT_FOUND; JOURNAL_BROKEN if that state can't be known
   */
  replay(address: string, to?: number): Promise<Replayed> {
    return replay(machineAt(address), this.entries(address), to);
  }

  /** Replays an actor step by step, from the first state that is known. @throws {StagecraftError} ACTOR_NOT_FOUND */
  async *moments(address: string): AsyncGenerator<Moment, void> {
    const past = new Replay(machineAt(address));
    for await (const { after: _, ...entry } of this.entries(address)) {
      const moment = past.apply(entry);
      if (moment) yield moment;
    }
  }

  #part(address: string): Part {
    const part = this.#parts.get(address);
    if (part) return part;
    const message = `the journal has no actor ${address}: it has ${[...this.#parts.keys()].slice(0, 20).join(', ') || 'none'}`;
    throw new StagecraftError('ACTOR_NOT_FOUND', message, { address });
  }
}

/** @throws {StagecraftError} ACTOR_NOT_FOUND */
export function machineAt(address: string): HostedMachine {
  const known = catalogEntryOf(address);
  if (known) return HostedMachine.of(known.machine);
  throw new StagecraftError('ACTOR_NOT_FOUND', `${address}: this version has no machine of that name`, { address });
}

/**
 * Opens a journal that `stagecraft journal export` or `runtime.journal.export` wrote, and checks every line of it.
 * @throws {StagecraftError} JOURNAL_BROKEN naming line and reason; INVALID_ARGUMENT if the file can't be read
 */
export async function openJournal(path: string): Promise<JournalFile> {
  const reader = new LineReader();
  const parts: Part[] = [];
  let head: JournalHead | undefined;
  let line = 0;
  for await (const text of linesOf(path)) {
    line += 1;
    const read = reader.read(text);
    const part = parts.at(-1);
    if ('format' in read) head = read;
    else if ('actor' in read) {
      const { actor: address, machine, version } = read;
      parts.push({ address, machine, version, entries: 0, first: 0, last: 0, line });
    } else if ('seq' in read && part) {
      part.first ||= read.seq;
      part.last = read.seq;
      part.entries += 1;
    }
  }
  reader.finish();
  if (!head) throw new StagecraftError('JOURNAL_BROKEN', 'line 1: the file is empty');
  return new JournalFile(path, head, parts);
}

/** Yields the lines of a file; refuses one that is too long before it is read to its end. */
async function* linesOf(path: string): AsyncGenerator<string, void> {
  const input = createReadStream(path, { encoding: 'utf8' });
  let line = 0;
  let rest: string[] = [];
  let length = 0;
  const whole = (end: string): string => {
    const text = [...rest, end].join('');
    rest = [];
    length = 0;
    line += 1;
    return text;
  };
  try {
    for await (const part of readable(path, input)) {
      let begin = 0;
      for (let end = part.indexOf('\n'); end >= 0; end = part.indexOf('\n', begin)) {
        yield whole(part.slice(begin, end));
        begin = end + 1;
      }
      rest.push(part.slice(begin));
      length += part.length - begin;
      if (length > longestLine) throw tooLong(line + 1);
    }
    if (length > 0) yield whole('');
  } finally {
    input.destroy();
  }
}

async function* readable(path: string, input: AsyncIterable<string>): AsyncGenerator<string, void> {
  try {
    yield* input;
  } catch (cause) {
    throw new StagecraftError('INVALID_ARGUMENT', `can't read the journal ${path}: ${messageOf(cause)}`, { cause });
  }
}
