/** `GET /v1/events`: the events of all topics as server-sent events, or those that are kept as one list. */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { messageOf, StagecraftError } from '../errors.js';
import { type EventFilter, type EventTopic, eventTopics, isWanted, type Runtime } from '../runtime/runtime.js';
import { EventHub, type SentEvent, sentOf } from './event-hub.js';

interface EventQuery {
  /** Names, separated by commas. */
  topic?: string;
  kind?: string;
  address?: string;
  plugin?: string;
  from?: string;
  /** `false`: ends with the present. */
  follow?: string;
}

/** A follower that has not taken this much is dropped: it can go on from the last id that it has. */
const mostWaitingBytes = 4 * 2 ** 20;
const heartbeatMs = 15_000;

interface Wish {
  filter: EventFilter;
  topics: readonly EventTopic[];
  from: string;
  isEndless: boolean;
}

/** @returns a function that ends all followers */
export function serveEvents(server: FastifyInstance, { events }: Pick<Runtime, 'events'>): () => void {
  const hub = new EventHub(events);
  server.get<{ Querystring: EventQuery }>('/v1/events', async ({ query, headers }, reply) => {
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
    const follower = new EventStream(raw, wish);
    await (wish.isEndless ? follower.follow(events, hub) : follower.catchUp(events, 'now')).catch((error: unknown) =>
      follower.end(error),
    );
    if (!wish.isEndless) raw.end();
  });
  return () => hub.close();
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
  if (follow !== undefined && follow !== 'true' && follow !== 'false')
    throw new StagecraftError('INVALID_ARGUMENT', `follow must be true or false, not '${follow}'`);
  const isEndless = follow !== 'false';
  return {
    topics,
    isEndless,
    from: (typeof lastId === 'string' ? lastId : from) ?? (isEndless ? 'now' : '0'),
    filter: { ...(kind !== undefined && { kinds: kind.split(',') }), address, plugin },
  };
}

function topicIn(name: string): EventTopic {
  const topic = eventTopics.find((one) => one === name);
  if (topic) return topic;
  throw new StagecraftError('INVALID_ARGUMENT', `there is no topic '${name}': give one of ${eventTopics.join(', ')}`);
}

/** One follower, and its connection. */
class EventStream {
  readonly #raw: ServerResponse;
  readonly #wish: Wish;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(raw: ServerResponse, wish: Wish) {
    this.#raw = raw;
    this.#wish = wish;
  }

  /** Sends what is kept after the wished place, up to another. Waits for a client that reads slowly. */
  async catchUp(events: Runtime['events'], until: string): Promise<void> {
    const gone = new AbortController();
    this.#raw.once('close', () => gone.abort());
    for await (const event of events.subscribe({ from: this.#wish.from, until, signal: gone.signal })) {
      if (this.#raw.destroyed) return;
      if (this.#isWanted(sentOf(event)) && !this.#send(sentOf(event))) await this.#drained();
    }
  }

  /** Sends what is kept, then what happens, until the client leaves. */
  async follow(events: Runtime['events'], hub: EventHub): Promise<void> {
    let waiting: SentEvent[] | undefined = [];
    const { place, leave } = await hub.join({
      take: (sent) => {
        if (waiting) waiting.push(sent);
        else this.#take(sent);
      },
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
    for (const sent of waiting) this.#take(sent);
    waiting = undefined;
  }

  /** Ends with the reason as an event of its own. */
  end(error: unknown): void {
    clearInterval(this.#heartbeat);
    if (this.#raw.destroyed || this.#raw.writableEnded) return;
    const code = error instanceof StagecraftError ? error.code : 'INTERNAL';
    const { oldest, newest }: { oldest?: unknown; newest?: unknown } = Object(error);
    this.#raw.end(`event: error\ndata: ${JSON.stringify({ code, message: messageOf(error), oldest, newest })}\n\n`);
  }

  #take(sent: SentEvent): void {
    if (!this.#isWanted(sent)) return;
    this.#send(sent);
    if (this.#raw.writableLength > mostWaitingBytes) this.#raw.destroy();
  }

  #isWanted({ event }: SentEvent): boolean {
    return this.#wish.topics.includes(event.topic) && isWanted(this.#wish.filter, event);
  }

  #send({ event, text }: SentEvent): boolean {
    return this.#raw.write(`id: ${event.id}\nevent: ${event.topic}\ndata: ${text}\n\n`);
  }

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
