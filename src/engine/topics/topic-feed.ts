/**
 * Shared part of all followers of one topic: its rows in pages, read once for all; its newest cursor; one poll for
 * events of other processes. Bounded, however slow its followers are. Next: topic-reader.ts
 */
import { type Clock, pause } from '../clock.js';
import type { Cursor, Store, TopicRow } from '../store.js';
import { eventId, type FollowedRow } from './event-ids.js';

const pageRows = 256;
/** Number of pages kept for later followers: the last ones of the topic, and those of its past used lately. */
const keptPages = 16;
const keptCharacters = 4 * 2 ** 20;

/** Rows of a fixed range of cursors, as far as they were read. Frozen, as all followers share them. */
export interface FeedPage {
  readonly number: number;
  before: Cursor;
  rows: FollowedRow[];
  characters: number;
  /** `oldest` and `newest` as the store reported last: see TopicPage. */
  oldest: Cursor;
  newest: Cursor;
  filling: Promise<FeedPage> | undefined;
}

/** Follower, as the feed sees it. */
export interface FeedReader {
  readonly cursor: Cursor;
  /** True while no caller waits for its next row. */
  readonly isIdle: boolean;
  /** Called when the topic may have new rows, or has lost some. */
  wake(): void;
  /** Makes the follower drop its page. */
  letGo(): void;
  end(): void;
}

interface FeedOptions {
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
  /** Followers that hold a page or wait for one, with their cursors at the last poll. */
  readonly #readers = new Map<FeedReader, Cursor>();
  #newest: Cursor | undefined;
  #last: TopicRow | undefined;
  #losses = 0;
  /** Check for lost events; reads wait for it. */
  #verifying: Promise<void> | undefined;
  /** True if the store has reported its newest cursor since the last tick, so that no poll is needed. */
  #hasHeard = false;
  #cancelPoll = (): void => {};
  #isStopped = false;

  constructor({ store, clock, name, pollMs }: FeedOptions) {
    this.name = name;
    this.#store = store;
    this.#clock = clock;
    this.#pollMs = pollMs;
  }

  /** Newest cursor known to be in the store; undefined before the store's first answer. */
  get newest(): Cursor | undefined {
    return this.#newest;
  }

  /** Number of times that the store was found to have lost events that were read here. */
  get losses(): number {
    return this.#losses;
  }

  /** Checks whether the newest row read is still in the store, which may have lost events and reused their cursors. */
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
        await pause(this.#clock, this.#pollMs); // reads that follow report a failing store themselves
      }
    }
  }

  /** Number of readers and rows held in memory, for tests. */
  get held(): { readers: number; rows: number } {
    const rows = [...this.#pages.values()].reduce((sum, page) => sum + page.rows.length, 0);
    return { readers: this.#readers.size, rows };
  }

  /** Returns false if the engine has stopped. */
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
   * Returns the page that holds, or will hold, the row after this cursor. Reads the store if the row is not in memory.
   * All callers during a read share it.
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
   * Notes the newest cursor that the store has reported.
   * @param known newest cursor known at the time of the request: a lower report means that the store has lost events
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

  /**
   * Polls for events of other processes, and takes the page from idle followers that have not moved since the last
   * tick.
   */
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
      this.#hasHeard = false; // otherwise every other poll would be skipped
    } catch {
      // A later poll may succeed; a follower that needs a row meanwhile gets the error from its own read.
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
