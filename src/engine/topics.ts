/**
 * Broadcast events: appends them to the store's topics in groups, and lets followers read them by cursor.
 * A follower reads pages from the store; nothing is queued for it here, so a slow one delays nobody.
 */
import { StagecraftError } from '../errors.js';
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
  if (from !== '' && Number.isSafeInteger(cursor) && cursor >= 0) return cursor;
  throw new StagecraftError('INVALID_ARGUMENT', `'${from}' is no event id: give 'now' or the id of an event`);
}

interface Topic {
  waiting: { entry: TopicEntry; appended: () => void }[];
  writing: boolean;
  /** Called at the next append. */
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
   * @throws StagecraftError CURSOR_EXPIRED, naming the oldest cursor there is
   */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): AsyncIterable<TopicRow> {
    const signals = [this.#stop.signal, ...(signal ? [signal] : [])];
    const start = from === 'now' ? this.#store.readTopic(topic, 0, 0).then(({ newest }) => newest) : from;
    // Handled where it is awaited; a follower that is never read must not take the process down.
    Promise.resolve(start).catch(() => {});
    return this.#rows(topic, start, AbortSignal.any(signals));
  }

  /** Ends all followers. */
  stop(): void {
    this.#stop.abort();
  }

  async *#rows(topic: string, start: Cursor | Promise<Cursor>, signal: AbortSignal): AsyncGenerator<TopicRow, void> {
    let cursor = await start;
    while (!signal.aborted) {
      const news = this.#nextAppend(topic, signal);
      const { rows, oldest } = await this.#store.readTopic(topic, cursor, pageSize);
      if (cursor < oldest - 1) {
        throw new StagecraftError(
          'CURSOR_EXPIRED',
          `events before ${oldest} are gone: list the present state, go on from there`,
        );
      }
      for (const row of rows) {
        if (signal.aborted) return;
        yield row;
        cursor = row.cursor;
      }
      if (rows.length === 0) await news;
    }
  }

  /** Asked for before the read, so that nothing is appended unseen in between. */
  #nextAppend(topic: string, signal: AbortSignal): Promise<void> {
    const { followers } = this.#topic(topic);
    return new Promise((resolve) => {
      const wake = (): void => {
        followers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      followers.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #topic(name: string): Topic {
    let topic = this.#topics.get(name);
    if (!topic) {
      topic = { waiting: [], writing: false, followers: new Set() };
      this.#topics.set(name, topic);
    }
    return topic;
  }

  /** One write at a time: the store drops what is older than the newest of its source, so order is all. */
  async #write(name: string): Promise<void> {
    const topic = this.#topic(name);
    if (topic.writing) return;
    topic.writing = true;
    while (topic.waiting.length > 0 && !this.#stop.signal.aborted) {
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
        await pause(this.#clock, retryMs, this.#stop.signal);
        continue;
      }
      for (const { appended } of batch) appended();
      for (const wake of [...topic.followers]) wake();
    }
    topic.writing = false;
  }
}
