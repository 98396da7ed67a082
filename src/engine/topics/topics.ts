/**
 * Broadcast events: appends them to the store's topics in groups, forgets the oldest, and lets followers read them by
 * cursor. Followers share what is read for them: topic-feed.ts. What each of them is: topic-reader.ts
 */
import { messageOf, StagecraftError } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { type Logger, silentLogger } from '../logger.js';
import { storeSubject, TroubleLog } from '../storage/trouble-log.js';
import type { Cursor, Store, TopicEntry } from '../store.js';
import type { FollowedRow } from './event-ids.js';
import { TopicFeed } from './topic-feed.js';
import { TopicReader } from './topic-reader.js';

const retryMs = 200;
const longestRetryMs = 1_000;
/** What one append carries at most. */
const batchSize = 1_000;

export interface TopicsOptions {
  /** How many of its newest events a topic keeps at least; default 100,000. */
  keep?: number;
  /** How often a topic that is followed is looked at for what other processes append, in ms; default 1,000. */
  pollMs?: number;
}

interface TopicsLogs {
  logger?: Logger;
  troubles?: TroubleLog;
}

interface Topic {
  feed: TopicFeed;
  waiting: { entry: TopicEntry; appended: () => void }[];
  writing: Promise<void> | undefined;
  /** Up to where the store was told to forget. */
  trimmed: Cursor;
}

export class Topics {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #keep: number;
  readonly #pollMs: number;
  readonly #logger: Logger;
  readonly #troubles: TroubleLog;
  readonly #topics = new Map<string, Topic>();
  readonly #stop = new AbortController();

  constructor(
    store: Store,
    clock: Clock,
    { keep = 100_000, pollMs = 1_000, logger = silentLogger, troubles }: TopicsOptions & TopicsLogs = {},
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#keep = keep;
    this.#pollMs = pollMs;
    this.#logger = logger;
    this.#troubles = troubles ?? new TroubleLog({ clock, logger });
  }

  /** Resolves when the entry is in the topic. Entries of one source must come in the order of their (seq, index). */
  append(topic: string, entry: TopicEntry): Promise<void> {
    const { waiting } = this.#topic(topic);
    return new Promise((appended) => {
      waiting.push({ entry, appended });
      this.#write(topic);
    });
  }

  /**
   * Yields what comes after the cursor, in order, until the signal is aborted, the iteration ended or the engine stopped.
   * `now` is the moment of this call, not of the first `next()`.
   * @throws StagecraftError CURSOR_EXPIRED, telling from where it can be followed; STORE_UNAVAILABLE: follow it again
   *   from the last row
   */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow> {
    const { feed } = this.#topic(topic);
    const start = from === 'now' ? this.#newest(feed) : from;
    return new TopicReader({ feed, start, signal, read: (row) => row });
  }

  /** The store may have lost events: who follows a topic that is not what it was hears CURSOR_EXPIRED. */
  verify(): void {
    for (const { feed } of this.#topics.values()) feed.verify();
  }

  /** Resolves when what waits now is appended. */
  async flush(): Promise<void> {
    await Promise.all([...this.#topics.keys()].map((name) => this.#write(name)));
  }

  /** Ends all followers. Resolves when what waits is appended, or was tried once more. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const { feed } of this.#topics.values()) feed.stop();
    await this.flush();
  }

  #topic(name: string): Topic {
    let topic = this.#topics.get(name);
    if (!topic) {
      const feed = new TopicFeed({ store: this.#store, clock: this.#clock, name, pollMs: this.#pollMs });
      if (this.#stop.signal.aborted) feed.stop();
      topic = { feed, waiting: [], writing: undefined, trimmed: 0 };
      this.#topics.set(name, topic);
    }
    return topic;
  }

  #newest(feed: TopicFeed): Promise<Cursor> {
    const known = feed.newest;
    const asked = this.#store.readTopic(feed.name, 0, 0).then(({ newest }) => {
      feed.learn(newest, known);
      return newest;
    });
    // Handled where it is awaited; a follower that is never read must not take the process down.
    asked.catch(() => {});
    return asked;
  }

  /** One write at a time: the store drops what is older than the newest of its source, so order is all. */
  #write(name: string): Promise<void> | undefined {
    const topic = this.#topic(name);
    if (topic.waiting.length > 0) topic.writing ??= this.#writeAll(topic);
    return topic.writing;
  }

  async #writeAll(topic: Topic): Promise<void> {
    await Promise.resolve(); // what is appended in one turn is written at once
    const { feed } = topic;
    let delayMs = retryMs;
    while (topic.waiting.length > 0) {
      const batch = topic.waiting.splice(0, batchSize);
      const entries = batch.map(({ entry }) => entry);
      const known = feed.newest;
      let newest: Cursor;
      try {
        newest = await this.#store.appendTopic(feed.name, entries);
      } catch (error) {
        // What was committed stays owed: the outbox keeps it beyond this process too.
        const message = `events can't be appended: ${messageOf(error)}`;
        if (delayMs === longestRetryMs)
          this.#troubles.failed(topic, { subject: storeSubject, fields: { topic: feed.name }, message });
        topic.waiting.unshift(...batch);
        if (this.#stop.signal.aborted) break;
        await pause(this.#clock, delayMs, this.#stop.signal);
        delayMs = Math.min(delayMs * 2, longestRetryMs);
        continue;
      }
      delayMs = retryMs;
      this.#troubles.over(topic);
      for (const { appended } of batch) appended();
      feed.learn(newest, known);
      this.#trim(topic, newest);
    }
    this.#troubles.abandon(topic);
    topic.writing = undefined;
  }

  /** Now and then, and not awaited: where it fails or is cut off, the next time does what this one left. */
  #trim(topic: Topic, newest: Cursor): void {
    const upTo = newest - this.#keep;
    if (upTo - topic.trimmed < this.#keep / 10) return;
    topic.trimmed = upTo;
    this.#store.trimTopic(topic.feed.name, upTo).catch((error: unknown) => {
      this.#logger.debug({ topic: topic.feed.name }, `events can't be forgotten now: ${messageOf(error)}`);
    });
  }
}

const events = new WeakMap<FollowedRow, unknown>();

/**
 * The event in a row: parsed once for all who follow, hence frozen through and through.
 * @throws StagecraftError EVENT_DAMAGED, with the cursor from which it goes on after it
 */
export function eventOf<Event>(row: FollowedRow): Event;
export function eventOf(row: FollowedRow): unknown {
  let event = events.get(row);
  if (event === undefined) {
    event = frozen(parsed(row));
    events.set(row, event);
  }
  return event;
}

function parsed({ id, text }: FollowedRow): object {
  try {
    const event: unknown = JSON.parse(text);
    if (event instanceof Object) return event;
    throw new Error('it is no object');
  } catch (cause) {
    const message = `event ${id} was damaged in the store (${messageOf(cause)}): list the present state, go on from ${id}`;
    throw new StagecraftError('EVENT_DAMAGED', message, { oldest: id, cause });
  }
}

function frozen<T>(value: T): T {
  if (value instanceof Object) for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
