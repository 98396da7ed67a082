/** The past of actors: reads their journals from the store, and replays them. */
import { messageOf, StagecraftError } from '../errors.js';
import { entryIn, type JournalEntry, type UnreadableEntry } from './actor/actor-record.js';
import type { HostedMachine } from './machine/hosted-machine.js';
import { holdsState, type Moment, Replay, type Replayed, replay } from './machine/replay.js';
import type { TimedStore } from './storage/timed-store.js';
import type { JournalRow, Range, StorePage } from './store.js';

const pageSize = 512;

interface JournalsOptions {
  store: Pick<TimedStore, 'load' | 'list' | 'due' | 'readJournal'>;
  /** @throws {StagecraftError} ACTOR_NOT_FOUND for an address that is not of this runtime */
  machineOf(address: string): HostedMachine;
  /** Seq of an actor in memory; undefined: it is not there, or may be old. */
  seqOf(address: string): number | undefined;
  /** Called once for each entry that can't be read. */
  unreadable(entry: UnreadableEntry): void;
}

/**
 * An entry that can't be read is left out: states after it are known from the next entry on that holds the whole state.
 * Errors of all methods: ACTOR_NOT_FOUND for an address that is not of this runtime; JOURNAL_BROKEN; STORE_UNAVAILABLE.
 */
export class Journals {
  readonly #store: JournalsOptions['store'];
  readonly #machineOf: JournalsOptions['machineOf'];
  readonly #seqOf: JournalsOptions['seqOf'];
  readonly #unreadable: JournalsOptions['unreadable'];
  /** Entries that were reported as unreadable. */
  readonly #reported = new Set<string>();

  constructor({ store, machineOf, seqOf, unreadable }: JournalsOptions) {
    this.#store = store;
    this.#machineOf = machineOf;
    this.#seqOf = seqOf;
    this.#unreadable = unreadable;
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

  /** Entries of an actor as far back as they are kept, oldest first. @param skipped called for each that can't be read */
  async *entries(
    address: string,
    from = 1,
    skipped: (entry: UnreadableEntry) => void = () => {},
  ): AsyncGenerator<JournalEntry, void> {
    this.#machineOf(address);
    for (let next = from; ; ) {
      const rows = await this.#rows(address, next, pageSize);
      for (const row of rows) {
        const entry = this.#entryIn(address, row, skipped);
        if (entry) yield entry;
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
    const unreadable: UnreadableEntry[] = [];
    const replaying = replay(
      machine,
      this.entries(address, from, (entry) => unreadable.push(entry)),
      to,
    );
    const outcome = await replaying.catch((error: unknown) => ({ seq: 0, error }));
    const missed = unreadable.findLast(({ seq }) => seq > outcome.seq);
    if (missed) throw new StagecraftError('JOURNAL_BROKEN', unreadableWords(missed), { address });
    if ('error' in outcome) throw outcome.error;
    return outcome;
  }

  /**
   * Replays an actor step by step. Leaves out steps whose state can't be known, as their beginning was forgotten or they
   * are of another version of the machine.
   */
  async *moments(address: string, from = 1, to = Number.POSITIVE_INFINITY): AsyncGenerator<Moment, void> {
    const past = new Replay(this.#machineOf(address));
    for await (const entry of this.entries(address, await this.#lastState(address, from))) {
      if (entry.seq > to) return;
      const moment = this.#applied(past, address, entry);
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
      for (const row of rows.reverse()) {
        const entry = row.seq <= last ? this.#entryIn(address, row) : undefined;
        if (entry && holdsState(entry, machine)) return entry.seq;
      }
    }
    return 1;
  }

  /** Replays an entry. One at which its machine throws is left out, as one that can't be read. */
  #applied(past: Replay, address: string, entry: JournalEntry): Moment | undefined {
    try {
      return past.apply(entry);
    } catch (error) {
      this.#report({ address, seq: entry.seq, reason: messageOf(error) });
      return undefined;
    }
  }

  #entryIn(
    address: string,
    row: JournalRow,
    skipped: (entry: UnreadableEntry) => void = () => {},
  ): JournalEntry | undefined {
    try {
      return entryIn(row);
    } catch (error) {
      const unreadable = { address, seq: row.seq, reason: messageOf(error) };
      this.#report(unreadable);
      skipped(unreadable);
      return undefined;
    }
  }

  #report(unreadable: UnreadableEntry): void {
    const place = `${unreadable.address} ${unreadable.seq}`;
    if (!this.#reported.has(place)) this.#unreadable(unreadable);
    this.#reported.add(place);
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

export const unreadableWords = ({ address, seq, reason }: UnreadableEntry): string =>
  `entry ${seq} of ${address} can't be read: ${reason}`;

const unreadable = (address: string, what: string, cause: unknown): StagecraftError =>
  new StagecraftError('STORE_UNAVAILABLE', `the store can't read ${what} now (${messageOf(cause)}): ask again later`, {
    ...{ address, outcome: 'refused', cause },
  });
