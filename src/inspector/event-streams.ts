/** `GET /v1/events`: the events of all topics as server-sent events, or those that are kept as one list. */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { eventRoutes } from '../api/actor-routes.js';
import { messageOf, StagecraftError } from '../errors.js';
import {
  type EventFilter,
  type EventTopic,
  eventTopics,
  isAskedFor,
  type Runtime,
  type RuntimeEvent,
} from '../runtime/runtime.js';
import type { Answers } from './json-server.js';

type EventQuery = z.output<typeof eventRoutes.follow.query>;

/** A follower that has not taken this much is dropped: it can go on from the last id that it has. */
const mostWaitingBytes = 4 * 2 ** 20;
const heartbeatMs = 15_000;

interface Wish {
  filter: EventFilter;
  topics: readonly EventTopic[];
  from: string;
  isEndless: boolean;
  /** The same for all who want the same events. */
  key: string;
}

/**
 * The answer that streams events.
 * @param warn called with a line for the log
 * @returns also a function that ends all followers
 */
export function eventAnswers(
  events: Runtime['events'],
  warn: (line: string) => void = () => {},
): Answers['events'] & { end(): void } {
  const hub = new EventHub(events);
  return {
    follow: async ({ query, headers, reply }) => {
      const wish = wishOf(query, headers['last-event-id']);
      // Refused before anything is sent, if the place is no place.
      const kept = wish.from === 'now' ? undefined : events.subscribe({ from: wish.from, until: 'now' });
      await kept?.[Symbol.asyncIterator]().return?.();
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        ...definedHeaders(reply.getHeaders()),
      });
      raw.flushHeaders();
      const follower = new EventStream(raw, wish, warn);
      await (wish.isEndless ? follower.follow(events, hub) : follower.catchUp(events, 'now')).catch((error: unknown) =>
        follower.end(error),
      );
      if (!wish.isEndless) raw.end();
      return reply;
    },
    end: () => hub.close(),
  };
}

const definedHeaders = (
  headers: Record<string, number | string | string[] | undefined>,
): Record<string, number | string | string[]> =>
  Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

function wishOf(
  { topic, kind, address, plugin, from, follow }: EventQuery,
  lastId: string | string[] | undefined,
): Wish {
  const topics = topic?.split(',').map(topicIn) ?? eventTopics;
  const isEndless = follow !== false;
  const filter = { ...(kind !== undefined && { kinds: kind.split(',') }), address, plugin };
  return {
    topics,
    isEndless,
    filter,
    key: JSON.stringify([topics, filter]),
    from: (typeof lastId === 'string' ? lastId : from) ?? (isEndless ? 'now' : '0'),
  };
}

function topicIn(name: string): EventTopic {
  const topic = eventTopics.find((one) => one === name);
  if (topic) return topic;
  throw new StagecraftError('INVALID_ARGUMENT', `there is no topic '${name}': give one of ${eventTopics.join(', ')}`);
}

/** A follower, and its connection. */
class EventStream {
  readonly #raw: ServerResponse;
  readonly #wish: Wish;
  readonly #warn: (line: string) => void;
  #heartbeat: NodeJS.Timeout | undefined;
  /** Live events that came while the client gets those that are kept. */
  #waiting: Buffer[] | undefined;
  #waitingBytes = 0;

  constructor(raw: ServerResponse, wish: Wish, warn: (line: string) => void) {
    this.#raw = raw;
    this.#wish = wish;
    this.#warn = warn;
  }

  /** Sends what is kept after the wished place, up to another. Waits for a client that reads slowly. */
  async catchUp(events: Runtime['events'], until: string): Promise<void> {
    const gone = new AbortController();
    this.#raw.once('close', () => gone.abort());
    for await (const event of events.subscribe({ from: this.#wish.from, until, signal: gone.signal })) {
      if (this.#raw.destroyed) return;
      if (this.#isWanted(event) && !this.#raw.write(sentOf(event).text)) await this.#drained();
    }
  }

  /** Sends what is kept, then what happens, until the client leaves. */
  async follow(events: Runtime['events'], hub: EventHub): Promise<void> {
    this.#waiting = [];
    const { place, leave } = await hub.join({
      take: (batch) => this.#take(batch),
      end: (error) => this.end(error),
    });
    this.#raw.once('close', () => {
      clearInterval(this.#heartbeat);
      leave();
    });
    if (this.#raw.destroyed) return leave();
    this.#heartbeat = setInterval(() => this.#raw.write(':\n\n'), heartbeatMs).unref();
    // Until the first event a client has the place where it began.
    this.#raw.write(`id: ${this.#wish.from === 'now' ? place : this.#wish.from}\n\n`);
    if (this.#wish.from !== 'now') await this.catchUp(events, place);
    for (const bytes of this.#waiting.splice(0)) this.#raw.write(bytes);
    this.#waiting = undefined;
    this.#waitingBytes = 0;
  }

  /** Ends with the reason as an event of its own. */
  end(error: unknown): void {
    clearInterval(this.#heartbeat);
    if (this.#raw.destroyed || this.#raw.writableEnded) return;
    const code = error instanceof StagecraftError ? error.code : 'INTERNAL';
    const { oldest, newest }: { oldest?: unknown; newest?: unknown } = Object(error);
    this.#raw.end(`event: error\ndata: ${JSON.stringify({ code, message: messageOf(error), oldest, newest })}\n\n`);
  }

  #take(batch: EventBatch): void {
    const bytes = batch.chosenBy(this.#wish.key, this.#isWanted);
    if (bytes.length === 0 || this.#raw.destroyed) return;
    if (this.#waiting) {
      this.#waiting.push(bytes);
      this.#waitingBytes += bytes.length;
    } else this.#raw.write(bytes);
    const waiting = this.#waitingBytes + this.#raw.writableLength;
    if (waiting <= mostWaitingBytes) return;
    this.#warn(`a follower of events was dropped: it left ${waiting} bytes unread; it can go on from its last id`);
    this.#raw.destroy();
  }

  readonly #isWanted = (event: RuntimeEvent): boolean =>
    this.#wish.topics.includes(event.topic) && isAskedFor(this.#wish.filter, event);

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#raw.off('drain', end);
        this.#raw.off('close', end);
        resolve();
      };
      this.#raw.on('drain', end);
      this.#raw.on('close', end);
    });
  }
}

interface SentEvent {
  event: RuntimeEvent;
  /** The event as a block of a stream of server-sent events. */
  text: string;
}

/** Events that are sent together. */
class EventBatch {
  readonly #events: readonly SentEvent[];
  readonly #chosen = new Map<string, Buffer>();

  constructor(events: readonly SentEvent[]) {
    this.#events = events;
  }

  /** Bytes of the events that `isAskedFor` chooses, made once for all followers with the same key. */
  chosenBy(key: string, isWanted: (event: RuntimeEvent) => boolean): Buffer {
    const known = this.#chosen.get(key);
    if (known) return known;
    const texts = this.#events.flatMap(({ event, text }) => (isWanted(event) ? [text] : []));
    const chosen = Buffer.from(texts.join(''));
    this.#chosen.set(key, chosen);
    return chosen;
  }
}

interface Follower {
  take(batch: EventBatch): void;
  /** Nothing comes any more. */
  end(error: unknown): void;
}

const retryMs = 1_000;
/** Time for which events are gathered, so that each follower costs one write for all of them. */
const gatherMs = 20;

const sentOf = (event: RuntimeEvent): SentEvent => ({
  event,
  text: `id: ${event.id}\nevent: ${event.topic}\ndata: ${JSON.stringify(event)}\n\n`,
});

/**
 * Hands live events to any number of followers: one subscription for all, in batches, and each event becomes text once. A
 * follower that begins in the past reads up to the hub's place by itself, and then joins.
 */
class EventHub {
  readonly #events: Pick<Runtime['events'], 'subscribe' | 'now'>;
  readonly #followers = new Set<Follower>();
  /** Id up to which events were handed out; absent while nobody follows. */
  #place: Promise<string> | undefined;
  #stop = new AbortController();
  #gathered: SentEvent[] = [];
  #gathering: NodeJS.Timeout | undefined;

  constructor(events: Pick<Runtime['events'], 'subscribe' | 'now'>) {
    this.#events = events;
  }

  /**
   * Adds a follower, which gets all events from now on.
   * @returns id of the last event that it does not get; and a function that ends it
   * @throws {StagecraftError} STORE_UNAVAILABLE, RUNTIME_CLOSED
   */
  async join(follower: Follower): Promise<{ place: string; leave(): void }> {
    this.#followers.add(follower);
    try {
      this.#place ??= this.#begin();
      return { place: await this.#place, leave: () => this.#leave(follower) };
    } catch (error) {
      this.#leave(follower);
      throw error;
    }
  }

  /** Ends all followers. */
  close(): void {
    const closed = new StagecraftError('RUNTIME_CLOSED', 'the agent ends');
    for (const follower of [...this.#followers]) follower.end(closed);
    this.#followers.clear();
    this.#rest();
  }

  async #begin(): Promise<string> {
    const place = await this.#events.now();
    void this.#run(place, this.#stop.signal);
    return place;
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size === 0) this.#rest();
  }

  /** Without followers: the next one begins anew. */
  #rest(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#gathered = [];
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#place = undefined;
  }

  async #run(from: string, signal: AbortSignal): Promise<void> {
    let place = from;
    while (!signal.aborted) {
      try {
        for await (const event of this.#events.subscribe({ from: place, signal })) {
          if (signal.aborted) return;
          place = event.id;
          this.#gathered.push(sentOf(event));
          this.#gathering ??= setTimeout(this.#handOut, gatherMs);
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) {
          for (const follower of [...this.#followers]) follower.end(error);
          this.#followers.clear();
          this.#rest();
          return;
        }
        await pause(retryMs, undefined, { ref: false });
      }
    }
  }

  readonly #handOut = (): void => {
    const events = this.#gathered;
    this.#gathering = undefined;
    this.#gathered = [];
    const last = events.at(-1);
    if (!last) return;
    // Set before the events are handed out: whoever joins during that gets the events after them.
    this.#place = Promise.resolve(last.event.id);
    const batch = new EventBatch(events);
    for (const follower of [...this.#followers]) follower.take(batch);
  };
}
