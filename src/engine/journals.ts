/** The past of actors: reads their journals from the store, and replays them. */
import { messageOf, StagecraftError } from '../errors.js';
import { decodeEntry, type JournalEntry } from './actor/actor-record.js';
import type { HostedMachine } from './machine/hosted-machine.js';
import { holdsState, type Moment, Replay, type Replayed, replay } from './machine/replay.js';
import type { TimedStore } from './storage/timed-store.js';
import type { JournalRow, Range, StorePage } from './store.js';

const pageSize = 512;

export interface JournalsOptions {
  store: Pick<TimedStore, 'load' | 'list' | 'due' | 'readJournal'>;
  /** @throws {StagecraftError} ACTOR_NOT_FOUND for an address that is not of this runtime */
  machineOf(address: string): HostedMachine;
  /** Seq of an actor in memory; undefined: it is not there, or may be old. */
  seqOf(address: string): number | undefined;
}

/** Errors of all methods: ACTOR_NOT_FOUND for an address that is not of this runtime; JOURNAL_BROKEN; STORE_UNAVAILABLE. */
export class Journals {
  readonly #store: JournalsOptions['store'];
  readonly #machineOf: JournalsOptions['machineOf'];
  readonly #seqOf: JournalsOptions['seqOf'];

  constructor({ store, machineOf, seqOf }: JournalsOptions) {
    this.#store = store;
    this.#machineOf = machineOf;
    this.#seqOf = seqOf;
  }

  /** Addresses of all actors that have a journal: of those that live, in order, then of deleted ones. */
  async *addresses(prefix: string): AsyncGenerator<string, void> {
    const listed = new Set<string>();
    const unlisted = (rows: { address: string }[]): string[] =>
      rows.map(({ address }) => address).filter((address) => !listed.has(address) && listed.add(address));
    for await (const rows of pagesUnder(prefix, (range) => this.#store.list(range))) yield* unlisted(rows);
    // A deleted actor has a reminder for as long as its journal is kept.
    const untilMs = Number.MAX_SAFE_INTEGER;
    for await (const rows of pagesUnder(prefix, (range) => this.#store.due({ ...range, untilMs })))
      yield* unlisted(rows);
  }

  /** Entries of an actor as far back as they are kept, oldest first. */
  async *entries(address: string, from = 1): AsyncGenerator<JournalEntry, void> {
    this.#machineOf(address);
    for (let next = from; ; ) {
      const rows = await this.#rows(address, next, pageSize);
      for (const row of rows) {
        yield readable(address, row);
        next = row.seq + 1;
      }
      if (rows.length < pageSize) return;
    }
  }

  /** Seqs of the oldest and the newest entry that is kept; undefined: none is. */
  async range(address: string): Promise<{ first: number; last: number } | undefined> {
    this.#machineOf(address);
    const [oldest] = await this.#rows(address, 1, 1);
    const last = this.#seqOf(address) || (await this.#storedSeq(address));
    return oldest && last ? { first: oldest.seq, last } : undefined;
  }

  /**
   * Rebuilds the state of an actor after entry `to`, from the last kept state before it.
   * @see replay
   */
  async replay(address: string, to?: number): Promise<Replayed> {
    const machine = this.#machineOf(address);
    const from = to === undefined ? 1 : await this.#lastState(address, to);
    return replay(machine, this.entries(address, from), to);
  }

  /**
   * Replays an actor step by step. Leaves out steps whose state can't be known, as their beginning was forgotten or they
   * are of another version of the machine.
   */
  async *moments(address: string, from = 1, to = Number.POSITIVE_INFINITY): AsyncGenerator<Moment, void> {
    const past = new Replay(this.#machineOf(address));
    for await (const entry of this.entries(address, await this.#lastState(address, from))) {
      if (entry.seq > to) return;
      const moment = past.apply(entry);
      if (moment && entry.seq >= from) yield moment;
    }
  }

  /** Seq of the last entry up to `to` with which a replay can begin; 1 if there is none. */
  async #lastState(address: string, to: number): Promise<number> {
    const machine = this.#machineOf(address);
    const newest = this.#seqOf(address) || (await this.#storedSeq(address));
    for (let last = Math.min(to, newest ?? 0); last > 1; last -= pageSize) {
      const first = Math.max(1, last - pageSize + 1);
      const rows = await this.#rows(address, first, last - first + 1);
      const found = rows.findLast((row) => row.seq <= last && holdsState(readable(address, row), machine));
      if (found) return found.seq;
    }
    return 1;
  }

  async #storedSeq(address: string): Promise<number | undefined> {
    const record = await this.#store.load(address).catch((cause: unknown) => {
      throw unreadable(address, 'an actor', cause);
    });
    return record?.seq;
  }

  #rows(address: string, from: number, limit: number): Promise<JournalRow[]> {
    return this.#store.readJournal(address, from, limit).catch((cause: unknown) => {
      throw unreadable(address, 'a journal', cause);
    });
  }
}

async function* pagesUnder<T>(
  prefix: string,
  read: (range: Range) => Promise<StorePage<T>>,
): AsyncGenerator<T[], void> {
  for (let after: string | undefined; ; ) {
    const page = await read({ prefix, limit: pageSize, ...(after !== undefined && { after }) }).catch(
      (cause: unknown) => {
        throw unreadable(prefix, 'the list of actors', cause);
      },
    );
    yield page.rows;
    if (page.next === undefined) return;
    after = page.next;
  }
}

const unreadable = (address: string, what: string, cause: unknown): StagecraftError =>
  new StagecraftError('STORE_UNAVAILABLE', `the store can't read ${what} now (${messageOf(cause)}): ask again later`, {
    ...{ address, outcome: 'refused', cause },
  });

function readable(address: string, { seq, text }: JournalRow): JournalEntry {
  try {
    return decodeEntry(text);
  } catch (cause) {
    const message = `entry ${seq} of ${address} can't be read: ${messageOf(cause)}`;
    throw new StagecraftError('JOURNAL_BROKEN', message, { address, cause });
  }
}
