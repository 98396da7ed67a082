/** `GET /v1/events`: the events of all topics as server-sent events, or those that are kept as one list. */
import type { ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { eventRoutes } from '../api/actor-routes.js';
import { messageOf, StagecraftError } from '../errors.js';
import {
  type EventFilter,
  type EventTopic,
  eventTopics,
  isWanted,
  type Runtime,
  type RuntimeEvent,
} from '../runtime/runtime.js';
import { type EventBatch, EventHub, sentOf } from './event-hub.js';
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
    this.#wish.topics.includes(event.topic) && isWanted(this.#wish.filter, event);

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
