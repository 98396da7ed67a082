/**
 * What all followers of one topic share: its rows in pages, read once for all of them; its newest cursor; one poll
 * for what other processes append. Bounded, whatever its followers do. Who walks through it: topic-reader.ts
 */
import { type Clock, pause } from '../clock.js';
import type { Cursor, Store, TopicRow } from '../store.js';
import { eventId, type FollowedRow } from './event-ids.js';

const pageRows = 256;
/** Pages kept for those who come next: the last ones of the topic, and of its past what was asked for lately. */
const keptPages = 16;
const keptCharacters = 4 * 2 ** 20;

/** The rows of a fixed range of cursors, as far as they were read. They are frozen: all followers see the same ones. */
export interface FeedPage {
  readonly number: number;
  /** The cursor before the first row. */
  before: Cursor;
  rows: FollowedRow[];
  characters: number;
  /** What the store said last: see TopicPage. */
  oldest: Cursor;
  newest: Cursor;
  /** The read under way. */
  filling: Promise<FeedPage> | undefined;
}

/** Who follows, as the feed knows it. */
export interface FeedReader {
  readonly cursor: Cursor;
  /** Nobody asks it for anything now. */
  readonly isIdle: boolean;
  /** There is news, if it waits for some. */
  wake(): void;
  /** Holds no page any more. */
  letGo(): void;
  end(): void;
}

export interface FeedOptions {
  store: Store;
  clock: Clock;
  name: string;
  pollMs: number;
}

export class TopicFeed {
  readonly name: string;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #pollMs: number;
  /** Least recently used first. */
  readonly #pages = new Map<number, FeedPage>();
  /** Those who hold a page or wait for one, with the cursor that they had at the last poll. */
  readonly #readers = new Map<FeedReader, Cursor>();
  #newest: Cursor | undefined;
  /** The newest row that was read. */
  #last: TopicRow | undefined;
  #losses = 0;
  /** Until it is known whether the store has lost events, nothing is read. */
  #verifying: Promise<void> | undefined;
  /** Since the last tick, so that a poll would tell little. */
  #hasHeard = false;
  #cancelPoll = (): void => {};
  #isStopped = false;

  constructor({ store, clock, name, pollMs }: FeedOptions) {
    this.name = name;
    this.#store = store;
    this.#clock = clock;
    this.#pollMs = pollMs;
  }

  /** The newest cursor that is known to be in the store; undefined before anything was heard of it. */
  get newest(): Cursor | undefined {
    return this.#newest;
  }

  /** How often the store was found to have lost events that were read here. */
  get losses(): number {
    return this.#losses;
  }

  /** The store may have lost events, and numbered others alike since: looks whether the newest that was read is there. */
  verify(): void {
    this.#verifying = this.#compare().finally(() => {
      this.#verifying = undefined;
    });
  }

  async #compare(): Promise<void> {
    const last = this.#last;
    if (!last) return;
    for (;;) {
      if (this.#isStopped) return;
      try {
        const { rows, oldest, newest } = await this.#store.readTopic(this.name, last.cursor - 1, 1);
        const [row] = rows;
        const isThere = row?.source === last.source && row.seq === last.seq && row.index === last.index;
        if (isThere || oldest > last.cursor) return;
        this.#losses += 1;
        this.#pages.clear();
        this.#last = undefined;
        this.#newest = newest;
        for (const reader of this.#readers.keys()) reader.wake();
        return;
      } catch {
        await pause(this.#clock, this.#pollMs); // readers wait for it, and hear of the store by their own reads then
      }
    }
  }

  /** How much is held for all: what a test looks at. */
  get held(): { readers: number; rows: number } {
    const rows = [...this.#pages.values()].reduce((sum, page) => sum + page.rows.length, 0);
    return { readers: this.#readers.size, rows };
  }

  /** Answers false where the engine has stopped. */
  join(reader: FeedReader): boolean {
    if (this.#isStopped) return false;
    if (this.#readers.size === 0) this.#cancelPoll = this.#clock.after(this.#pollMs, () => this.#tick());
    if (!this.#readers.has(reader)) this.#readers.set(reader, reader.cursor);
    return true;
  }

  leave(reader: FeedReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#cancelPoll();
    this.#pages.clear();
  }

  stop(): void {
    this.#isStopped = true;
    for (const reader of this.#readers.keys()) reader.end();
  }

  /**
   * The page in which the row after this cursor stands or will stand; read from the store where it isn't in memory.
   * The same read serves all who ask while it is under way.
   */
  load(after: Cursor): Promise<FeedPage> {
    const number = Math.floor(after / pageRows);
    const page = this.#pages.get(number) ?? emptyPage(number);
    this.#pages.delete(number);
    this.#pages.set(number, page);
    if (page.rows[after - page.before]) return Promise.resolve(page);
    page.filling ??= this.#fill(page).finally(() => {
      page.filling = undefined;
    });
    return page.filling;
  }

  /**
   * The store has told its newest cursor.
   * @param known what was known when it was asked: with less than that, it has lost something
   */
  learn(newest: Cursor, known: Cursor | undefined): void {
    this.#hasHeard = true;
    const isLoss = newest < (known ?? 0);
    if (isLoss) this.#pages.clear();
    else if (newest <= (this.#newest ?? -1)) return; // an older answer came late
    this.#newest = newest;
    for (const reader of this.#readers.keys()) reader.wake();
  }

  async #fill(page: FeedPage): Promise<FeedPage> {
    const known = this.#newest;
    const after = page.before + page.rows.length;
    const limit = (page.number + 1) * pageRows - after;
    if (limit <= 0) return page;
    await this.#verifying;
    const { rows, oldest, newest } = await this.#store.readTopic(this.name, after, limit);
    const first = rows[0]?.cursor ?? after + 1;
    if (first !== after + 1) Object.assign(page, { before: first - 1, rows: [], characters: 0 }); // trimmed meanwhile
    for (const row of rows) {
      page.rows.push(Object.freeze({ ...row, id: eventId(this.name, row.cursor) }));
      page.characters += row.text.length;
    }
    const newestRow = rows.at(-1);
    if (newestRow && newestRow.cursor > (this.#last?.cursor ?? 0)) this.#last = newestRow;
    page.oldest = oldest;
    page.newest = newest;
    this.learn(newest, known);
    this.#evict();
    return page;
  }

  #evict(): void {
    let characters = 0;
    for (const page of this.#pages.values()) characters += page.characters;
    for (const [number, page] of this.#pages) {
      const fits = this.#pages.size <= keptPages && characters <= keptCharacters;
      if (fits || this.#pages.size === 1) return;
      this.#pages.delete(number);
      characters -= page.characters;
    }
  }

  /** Looks for what others have appended, and takes the page from whoever has not moved since the last time. */
  #tick(): void {
    for (const [reader, cursor] of this.#readers) {
      if (!reader.isIdle || reader.cursor !== cursor) this.#readers.set(reader, reader.cursor);
      else {
        reader.letGo();
        this.leave(reader);
      }
    }
    if (this.#readers.size === 0) return;
    if (!this.#hasHeard) void this.#poll();
    this.#hasHeard = false;
    this.#cancelPoll = this.#clock.after(this.#pollMs, () => this.#tick());
  }

  async #poll(): Promise<void> {
    const known = this.#newest;
    try {
      const { newest } = await this.#store.readTopic(this.name, known ?? 0, 0);
      this.learn(newest, known);
      this.#hasHeard = false; // else every other poll would be left out
    } catch {
      // The next poll may do better; whoever needs a row meanwhile hears of it.
    }
  }
}

const emptyPage = (number: number): FeedPage => ({
  number,
  before: number * pageRows,
  rows: [],
  characters: 0,
  oldest: 1,
  newest: 0,
  filling: undefined,
});
