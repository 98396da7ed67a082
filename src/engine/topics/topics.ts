/**
 * Broadcast events: appends them to the store's topics in batches, deletes the oldest, and lets followers read by
 * cursor. Shared reads: topic-feed.ts. One follower: topic-reader.ts
 */
import { messageOf, StagecraftError } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { type Logger, silentLogger } from '../logger.js';
import { storeRetryMs, storeSubject, TroubleLog } from '../storage/trouble-log.js';
import type { Cursor, Store, TopicEntry } from '../store.js';
import type { FollowedRow } from './event-ids.js';
import { TopicFeed } from './topic-feed.js';
import { TopicReader, unreadableTopic } from './topic-reader.js';

const longestRetryMs = 1_000;
const batchSize = 1_000;

export interface TopicsOptions {
  /** Minimum number of newest events that a topic keeps; default 100,000. */
  keep?: number;
  /** Interval of polls for events that other processes append to a followed topic, in ms; default 1,000. */
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
  /** Cursor up to which the store was asked to delete events. */
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

  /** Resolves once the entry is in the topic. Append entries of one source in the order of their (seq, index). */
  append(topic: string, entry: TopicEntry): Promise<void> {
    const { waiting } = this.#topic(topic);
    return new Promise((appended) => {
      waiting.push({ entry, appended });
      this.#write(topic);
    });
  }

  /**
   * Yields events after the cursor, in order, until the signal is aborted, the iteration ends, or the engine stops.
   * `now` is the moment of this call, not of the first `next()`.
   * @throws {StagecraftError} CURSOR_EXPIRED, naming the ids that can still be followed; STORE_UNAVAILABLE: follow
   * again from the last row
   */
  follow(topic: string, from: Cursor | 'now', signal?: AbortSignal): TopicReader<FollowedRow> {
    const { feed } = this.#topic(topic);
    const start = from === 'now' ? this.#newest(feed) : from;
    return new TopicReader({ feed, start, signal, read: (row) => row });
  }

  /**
   * Cursors of the oldest event that is kept, and of the newest one.
   * @throws {StagecraftError} STORE_UNAVAILABLE
   */
  async range(topic: string): Promise<{ oldest: Cursor; newest: Cursor }> {
    const { feed } = this.#topic(topic);
    const known = feed.newest;
    try {
      const { oldest, newest } = await this.#store.readTopic(topic, 0, 0);
      feed.learn(newest, known);
      return { oldest, newest };
    } catch (cause) {
      throw unreadableTopic(topic, cause);
    }
  }

  /**
   * Checks all followed topics after the store may have lost events. Followers of a topic that lost events get
   * CURSOR_EXPIRED.
   */
  verify(): void {
    for (const { feed } of this.#topics.values()) feed.verify();
  }

  /** Resolves once all waiting entries are appended. */
  async flush(): Promise<void> {
    await Promise.all([...this.#topics.keys()].map((name) => this.#write(name)));
  }

  /** Ends all followers. Resolves once waiting entries are appended, or were tried once more. */
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
    // The awaiting follower handles the failure; a follower that is never read must not crash the process.
    asked.catch(() => {});
    return asked;
  }

  /**
   * Writes one batch at a time: the store drops entries older than the newest of their source, so the order matters.
   */
  #write(name: string): Promise<void> | undefined {
    const topic = this.#topic(name);
    if (topic.waiting.length > 0) topic.writing ??= this.#writeAll(topic);
    return topic.writing;
  }

  async #writeAll(topic: Topic): Promise<void> {
    await Promise.resolve(); // one write appends all entries of one turn
    const { feed } = topic;
    let delayMs = storeRetryMs;
    while (topic.waiting.length > 0) {
      const batch = topic.waiting.splice(0, batchSize);
      const entries = batch.map(({ entry }) => entry);
      const known = feed.newest;
      let newest: Cursor;
      try {
        newest = await this.#store.appendTopic(feed.name, entries);
      } catch (error) {
        // Entries of a commit stay in its outbox, which survives this process too.
        const message = `events can't be appended: ${messageOf(error)}`;
        if (delayMs === longestRetryMs)
          this.#troubles.failed(topic, { subject: storeSubject, fields: { topic: feed.name }, message, cause: error });
        topic.waiting.unshift(...batch);
        if (this.#stop.signal.aborted) break;
        await pause(this.#clock, delayMs, this.#stop.signal);
        delayMs = Math.min(delayMs * 2, longestRetryMs);
        continue;
      }
      delayMs = storeRetryMs;
      this.#troubles.over(topic);
      for (const { appended } of batch) appended();
      feed.learn(newest, known);
      this.#trim(topic, newest);
    }
    this.#troubles.abandon(topic);
    topic.writing = undefined;
  }

  /** Deletes old events from time to time, without waiting: the next trim repeats what a failed one left. */
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
 * Returns the event of a row: parsed once for all followers, and therefore deeply frozen.
 * @throws {StagecraftError} EVENT_DAMAGED, with the id after which the topic can be followed
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

type OfKind<One> = One extends { type: infer Kind } ? Omit<One, 'type'> & { kind: Kind } : never;

/**
 * Broadcast of an actor as followers get it, with `kind` in place of its type. `id` is its place in the topic: follow from
 * there to continue after it. `at` is in ms since the epoch.
 */
export type Change<Broadcast> = { id: string; at: number } & OfKind<Broadcast>;

/** Returns the broadcast of a row. @throws {StagecraftError} as `eventOf` */
export function changeOf<Broadcast>(row: FollowedRow): Change<Broadcast>;
export function changeOf(row: FollowedRow): object {
  const { type: kind, ...change } = eventOf<{ type: string }>(row);
  return { id: row.id, kind, ...change };
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
