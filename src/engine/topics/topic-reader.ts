/**
 * One follower of a topic: a cursor, and the shared page at that cursor. Queues no rows. Written by hand: an async
 * generator costs several times as much per row, and cannot notice return() while it waits. Shared part: topic-feed.ts
 */
import { onAbort } from '../../abort.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { Cursor } from '../store.js';
import { cursorOf, eventId, type FollowedRow } from './event-ids.js';
import type { FeedPage, FeedReader, TopicFeed } from './topic-feed.js';

/** Rows read in one stretch, before timers and sockets get their turn. */
const stretchRows = 1_024;

type Result<T> = IteratorResult<T, void>;

interface Asked<T> {
  resolve(result: Result<T>): void;
  reject(error: unknown): void;
}

interface TopicReaderOptions<T> {
  feed: TopicFeed;
  /** Position of the follower: the first row comes after this cursor. */
  start: Cursor | Promise<Cursor>;
  /** Converts a row into the follower's item; a row that gives undefined is skipped. */
  read: (row: FollowedRow) => T | undefined;
  signal: AbortSignal | undefined;
}

export class TopicReader<T> implements AsyncIterableIterator<T, void>, FeedReader {
  readonly #options: TopicReaderOptions<T>;
  readonly #feed: TopicFeed;
  readonly #read: (row: FollowedRow) => T | undefined;
  #cursor: Cursor = 0;
  #page: FeedPage | undefined;
  /** Calls of next() that wait for their row, in order. */
  readonly #asked: Asked<T>[] = [];
  #state: 'new' | 'open' | 'ended' = 'new';
  #isWaiting = false;
  /** Cursor at the last yield to the event loop. */
  #restedAt: Cursor = 0;
  #isInDoubt = false;
  #unsubscribe: (() => void) | undefined;
  /** The feed's count of losses when this follower began. */
  #losses = 0;

  constructor(options: TopicReaderOptions<T>) {
    this.#options = options;
    this.#feed = options.feed;
    this.#read = options.read;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Returns a follower that converts rows with `read`. Use it instead of this one, before any row is read. */
  reading<U>(read: (row: FollowedRow) => U | undefined): TopicReader<U> {
    return new TopicReader({ ...this.#options, read });
  }

  next(): Promise<Result<T>> {
    if (this.#asked.length === 0) {
      try {
        const value = this.#take();
        if (value !== undefined) return Promise.resolve({ value, done: false });
      } catch (error) {
        this.end();
        return Promise.reject(error);
      }
    }
    if (this.#state === 'ended') return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      if (this.#asked.length === 1) this.#fetch();
    });
  }

  return(): Promise<Result<T>> {
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  get isIdle(): boolean {
    return this.#asked.length === 0;
  }

  wake(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#goOn();
  }

  letGo(): void {
    this.#page = undefined;
  }

  readonly end = (): void => {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#page = undefined;
    this.#feed.leave(this);
    this.#unsubscribe?.();
    for (const { resolve } of this.#asked.splice(0)) resolve({ value: undefined, done: true });
  };

  /** Returns the next item if its row is in the current page. */
  #take(): T | undefined {
    const page = this.#page;
    if (!page) return undefined;
    for (let row = page.rows[this.#cursor - page.before]; row; row = page.rows[this.#cursor - page.before]) {
      this.#cursor = row.cursor;
      const item = this.#read(row);
      if (item !== undefined) return item;
    }
    return undefined;
  }

  readonly #goOn = (): void => {
    try {
      while (this.#asked.length > 0) {
        const value = this.#take();
        if (value === undefined) break;
        this.#asked.shift()?.resolve({ value, done: false });
      }
    } catch (error) {
      this.#fail(error);
    }
    if (this.#asked.length > 0) this.#fetch();
  };

  /** Arranges that #goOn is called once a row may be there. */
  #fetch(): void {
    if (this.#state === 'new') this.#begin();
    else if (this.#losses !== this.#feed.losses) this.#fail(lost(this.#cursor));
    else if (!this.#feed.join(this)) this.end();
    else if (this.#cursor === this.#feed.newest) {
      this.#isWaiting = true;
      this.#restedAt = this.#cursor;
    } else if (this.#cursor - this.#restedAt >= stretchRows) {
      this.#restedAt = this.#cursor;
      setImmediate(this.#goOn);
    } else this.#feed.load(this.#cursor).then(this.#turnTo, this.#unreadable);
  }

  #begin(): void {
    const { start, signal } = this.#options;
    this.#state = 'open';
    this.#losses = this.#feed.losses;
    if (signal?.aborted) this.end();
    else if (!this.#feed.join(this)) this.end();
    else {
      this.#unsubscribe = signal && onAbort(signal, this.end);
      Promise.resolve(start).then(this.#startFrom, this.#unreadable);
    }
  }

  readonly #startFrom = (cursor: Cursor): void => {
    this.#cursor = cursor;
    this.#restedAt = cursor;
    this.#goOn();
  };

  readonly #turnTo = (page: FeedPage): void => {
    if (this.#state === 'ended') return;
    if (this.#losses !== this.#feed.losses) {
      this.#fail(lost(this.#cursor));
      return;
    }
    this.#page = page;
    const error = page.rows[this.#cursor - page.before] ? undefined : this.#fault(page);
    if (error) this.#fail(error);
    else this.#goOn();
  };

  /** Returns the fault if a page has no row after the cursor; undefined if the row is still to come. */
  #fault({ oldest, newest }: FeedPage): StagecraftError | undefined {
    const cursor = this.#cursor;
    if (cursor < oldest - 1) return expired(`events before ${oldest} are gone`, this.#feed.name, { oldest, newest });
    if (cursor < newest)
      return unreadableTopic(this.#feed.name, `its newest event is ${newest}, it has none after ${cursor}`);
    // The read may have begun before another process appended the event at our cursor. The second read in a row has
    // not.
    const wasInDoubt = this.#isInDoubt;
    this.#isInDoubt = cursor > newest;
    if (!wasInDoubt || !this.#isInDoubt) return undefined;
    return expired(
      `there is no event ${cursor}: the newest is ${newest}, what came after it is lost`,
      this.#feed.name,
      {
        oldest,
        newest,
      },
    );
  }

  readonly #unreadable = (cause: unknown): void => this.#fail(unreadableTopic(this.#feed.name, cause));

  readonly #fail = (error: unknown): void => {
    this.#asked.shift()?.reject(error);
    this.end();
  };
}

const expired = (what: string, topic: string, kept: Pick<FeedPage, 'oldest' | 'newest'>): StagecraftError =>
  new StagecraftError('CURSOR_EXPIRED', `${what}: list the present state, go on from there`, {
    oldest: eventId(topic, kept.oldest - 1),
    newest: eventId(topic, kept.newest),
  });

const lost = (cursor: Cursor): StagecraftError =>
  new StagecraftError(
    'CURSOR_EXPIRED',
    `the store has lost events up to ${cursor}: list the present state, follow 'now'`,
  );

/** Error of a topic that can't be read now. */
export const unreadableTopic = (name: string, cause: unknown): StagecraftError =>
  new StagecraftError('STORE_UNAVAILABLE', `the store can't read ${name} now (${messageOf(cause)}): follow it again`, {
    outcome: 'refused',
    cause,
  });

export interface FollowOptions {
  /** `now`; `0` for all kept events; or the id of the last event that the caller has seen. Default `now`. */
  from?: string;
  signal?: AbortSignal;
}

interface Followed {
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow>;
}

/** Follows a topic with the caller's options. @throws {StagecraftError} INVALID_ARGUMENT */
export function followAs(engine: Followed, topic: string, options: unknown = {}): TopicReader<FollowedRow> {
  if (!(options instanceof Object)) throw invalid(`the options are { from, signal }, not ${JSON.stringify(options)}`);
  const { from = 'now', signal }: { from?: unknown; signal?: unknown } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalid('signal must be an AbortSignal');
  return engine.follow(topic, cursorOf(topic, from), signal);
}

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);
