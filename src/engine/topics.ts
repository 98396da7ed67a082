/**
 * Broadcast events: appends them to the store's topics in groups, and lets followers read them by cursor.
 * A follower reads pages from the store; nothing is queued for it here, so a slow one delays nobody.
 */
import { messageOf, StagecraftError } from '../errors.js';
import { type Clock, pause } from './clock.js';
import type { Cursor, Store, TopicEntry, TopicRow } from './store.js';

const pageSize = 256;
const retryMs = 200;

/** How subscribers of the public surface ask for a topic. */
export interface FollowOptions {
  /** `now`, or the id of the last event that was seen. Default `now`. */
  from?: string;
  signal?: AbortSignal;
}

/** @throws StagecraftError INVALID_ARGUMENT for what is no event id */
export function cursorOf(from: string): Cursor | 'now' {
  if (from === 'now') return from;
  const cursor = Number(from);
  if (/^\d+$/.test(from) && Number.isSafeInteger(cursor)) return cursor;
  throw new StagecraftError('INVALID_ARGUMENT', `'${from}' is no event id: give 'now' or the id of an event`);
}

interface Topic {
  waiting: { entry: TopicEntry; appended: () => void }[];
  writing: Promise<void> | undefined;
  /** Called at each append. */
  followers: Set<() => void>;
}

export class Topics {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #topics = new Map<string, Topic>();
  readonly #stop = new AbortController();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Resolves when the entry is in the topic. Entries of one source must come in the order of their (seq, index). */
  append(topic: string, entry: TopicEntry): Promise<void> {
    const { waiting } = this.#topic(topic);
    return new Promise((appended) => {
      waiting.push({ entry, appended });
      queueMicrotask(() => this.#write(topic));
    });
  }

  /**
   * Yields what comes after the cursor, in order, until the signal is aborted, the iteration ended or the engine stopped.
   * `now` is the moment of this call, not of the first `next()`.
   * @throws StagecraftError CURSOR_EXPIRED, naming the oldest cursor there is; STORE_UNAVAILABLE
   */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): AsyncIterable<TopicRow> {
    const ended = new AbortController();
    const start = from === 'now' ? this.#store.readTopic(topic, 0, 0).then(({ newest }) => newest) : from;
    // Handled where it is awaited; a follower that is never read must not take the process down.
    Promise.resolve(start).catch(() => {});
    const signals = [this.#stop.signal, ended.signal, ...(signal ? [signal] : [])];
    const rows = this.#rows(topic, start, AbortSignal.any(signals));
    const iterator: AsyncIterator<TopicRow, void> = {
      next: () => rows.next(),
      return: () => {
        ended.abort(); // a generator that waits for news would not hear of it
        return rows.return();
      },
    };
    return { [Symbol.asyncIterator]: () => iterator };
  }

  /** Ends all followers. Resolves when what waits is appended, or was tried once more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#topics.keys()].map((name) => this.#write(name)));
  }

  async *#rows(name: string, start: Cursor | Promise<Cursor>, signal: AbortSignal): AsyncGenerator<TopicRow, void> {
    const { followers } = this.#topic(name);
    let hasNews = true;
    let wake = (): void => {};
    const notice = (): void => {
      hasNews = true;
      wake();
    };
    followers.add(notice);
    signal.addEventListener('abort', notice);
    try {
      let cursor = await start;
      while (!signal.aborted) {
        hasNews = false; // before the read, so that nothing is appended unseen in between
        const { rows, oldest } = await this.#store.readTopic(name, cursor, pageSize);
        if (cursor < oldest - 1) throw expired(oldest);
        for (const row of rows) {
          if (signal.aborted) return;
          yield row;
          cursor = row.cursor;
        }
        if (rows.length > 0 || hasNews || signal.aborted) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } catch (error) {
      if (!signal.aborted) throw error instanceof StagecraftError ? error : unreadable(name, error);
    } finally {
      followers.delete(notice);
      signal.removeEventListener('abort', notice);
    }
  }

  #topic(name: string): Topic {
    let topic = this.#topics.get(name);
    if (!topic) {
      topic = { waiting: [], writing: undefined, followers: new Set() };
      this.#topics.set(name, topic);
    }
    return topic;
  }

  /** One write at a time: the store drops what is older than the newest of its source, so order is all. */
  #write(name: string): Promise<void> | undefined {
    const topic = this.#topic(name);
    if (topic.waiting.length > 0) topic.writing ??= this.#writeAll(name, topic);
    return topic.writing;
  }

  async #writeAll(name: string, topic: Topic): Promise<void> {
    while (topic.waiting.length > 0) {
      const batch = topic.waiting;
      try {
        topic.waiting = [];
        await this.#store.appendTopic(
          name,
          batch.map(({ entry }) => entry),
        );
      } catch {
        // What was committed stays owed: the outbox keeps it beyond this process too.
        topic.waiting = [...batch, ...topic.waiting];
        if (this.#stop.signal.aborted) break;
        await pause(this.#clock, retryMs, this.#stop.signal);
        continue;
      }
      for (const { appended } of batch) appended();
      for (const notice of topic.followers) notice();
    }
    topic.writing = undefined;
  }
}

/**
 * A followed topic as its subscribers know it: each row as `read` makes it; where that answers nothing, none.
 * Unlike an async generator it ends at once, also while a `next()` waits.
 */
export function reading<T>(
  rows: AsyncIterable<TopicRow>,
  read: (row: TopicRow) => T | undefined,
): AsyncIterableIterator<T, void> {
  const source = rows[Symbol.asyncIterator]();
  const iterator: AsyncIterableIterator<T, void> = {
    [Symbol.asyncIterator]: () => iterator,
    async next() {
      for (;;) {
        const { value, done } = await source.next();
        if (done) return { value: undefined, done };
        const item = read(value);
        if (item !== undefined) return { value: item };
      }
    },
    async return() {
      await source.return?.();
      return { value: undefined, done: true };
    },
  };
  return iterator;
}

const expired = (oldest: Cursor): StagecraftError =>
  new StagecraftError('CURSOR_EXPIRED', `events before ${oldest} are gone: list the present state, go on from there`);

const unreadable = (name: string, cause: unknown): StagecraftError =>
  new StagecraftError('STORE_UNAVAILABLE', `the store can't read ${name} now (${messageOf(cause)}): follow it again`, {
    outcome: 'refused',
    cause,
  });
