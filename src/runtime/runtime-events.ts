/** `runtime.events`: the events of all topics of a runtime, in one stream with one cursor. */
import { z } from 'zod';
import { isClusterOwned } from '../../machines/kit/addresses.js';
import type { ActorSystem } from '../engine/actor-system.js';
import type { ElectedEngine } from '../engine/lease/elected-engine.js';
import { type Cursors, type MergedRow, TopicFault, TopicMerge } from '../engine/topics/topic-merge.js';
import type { Topics } from '../engine/topics/topics.js';
import { StagecraftError } from '../errors.js';
import { checked } from '../requests/fields.js';
import { type EventTopic, eventTopics, keyOfTopic, type RuntimeEvent, toldOf, topicNames } from './event-topics.js';

export interface EventFilter {
  /** Kinds of events, such as `health`; default: all. */
  kinds?: readonly string[] | undefined;
  /** Beginning of the address of the actor. */
  address?: string | undefined;
  /** Registered name of the plugin. */
  plugin?: string | undefined;
}

export interface SubscribeOptions extends EventFilter {
  topics?: readonly EventTopic[] | undefined;
  /** `now`; `0` for all kept events; or the id of the last event that the caller has seen. Default `now`. */
  from?: string | undefined;
  /** `now`, or the id of the last event to read. Default: no end. */
  until?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface Events {
  /**
   * Follows the events of all topics, or of those named. Kept events come in the order of their times, later ones as they
   * happen. `id` of an event holds the place in every topic: subscribe from there to go on with the next event.
   * @throws {StagecraftError} CURSOR_EXPIRED, naming the ids that can still be followed; EVENT_DAMAGED; INVALID_ARGUMENT;
   *   STORE_UNAVAILABLE: subscribe again, from the last event's id; RUNTIME_CLOSED
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<RuntimeEvent>;
  /** Id of the present moment: a subscription from there gives all events after it. @throws STORE_UNAVAILABLE */
  now(): Promise<string>;
}

const optionsSchema = z.strictObject({
  topics: z.array(z.enum(eventTopics)).min(1).optional(),
  kinds: z.array(z.string().min(1)).min(1).optional(),
  address: z.string().min(1).optional(),
  plugin: z.string().min(1).optional(),
  from: z.string().default('now'),
  until: z.string().optional(),
  signal: z.instanceof(AbortSignal).optional(),
});

/** Tells whether an event is one of those asked for. */
export const isAskedFor = ({ kinds, address, plugin }: EventFilter, event: RuntimeEvent): boolean =>
  (kinds?.includes(event.kind) ?? true) &&
  (address === undefined || event.address.startsWith(address)) &&
  (plugin === undefined || event.plugin === plugin);

interface RuntimeEventsOptions {
  node: string;
  topics: Pick<Topics, 'range' | 'follow'>;
  /** Registered name of the plugin of an actor; undefined: it has none, or it is not known. */
  pluginOf(address: string): Promise<string | undefined>;
  /** Why nothing can be followed any more. */
  refusal(): StagecraftError | undefined;
}

export class RuntimeEvents implements Events {
  readonly #options: RuntimeEventsOptions;

  constructor(options: RuntimeEventsOptions) {
    this.#options = options;
  }

  subscribe(options: SubscribeOptions = {}): AsyncIterable<RuntimeEvent> {
    const refusal = this.#options.refusal();
    if (refusal) throw refusal;
    const { topics: asked, from, until, signal, ...filter } = checked(optionsSchema, options, 'the options');
    const topics = eventTopics.filter((topic) => asked?.includes(topic) ?? true);
    const rows = new TopicMerge({
      ...{ topics: this.#options.topics, names: topics.map(this.#nameOf), signal },
      from: from === 'now' ? from : from === '0' ? 'oldest' : this.#placesIn(from, topics),
      until: until === undefined || until === 'now' ? until : this.#placesIn(until, topics),
    });
    return this.#events(rows, filter);
  }

  async now(): Promise<string> {
    const places = eventTopics.map(async (topic): Promise<[string, number]> => {
      const name = this.#nameOf(topic);
      return [name, (await this.#options.topics.range(name)).newest];
    });
    return this.#idOf(new Map(await Promise.all(places)));
  }

  readonly #nameOf = (topic: EventTopic): string => topicNames[topic](this.#options.node);

  #events(rows: TopicMerge, filter: EventFilter): AsyncIterableIterator<RuntimeEvent, void> {
    const told = this.#told(rows, filter);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => told.next(),
      return: async () => {
        await rows.return();
        return told.return();
      },
    };
  }

  async *#told(rows: TopicMerge, filter: EventFilter): AsyncGenerator<RuntimeEvent, void> {
    try {
      for await (const row of rows) {
        const event = await this.#eventOf(row);
        if (isAskedFor(filter, event)) yield event;
      }
    } catch (error) {
      throw error instanceof TopicFault ? this.#faultOf(error) : error;
    }
  }

  async #eventOf({ topic, row, cursors }: MergedRow): Promise<RuntimeEvent> {
    const told = toldOf(keyOfTopic(topic), row, this.#options.node);
    const plugin = told.plugin ?? (await this.#options.pluginOf(told.address));
    return { id: this.#idOf(cursors), ...told, ...(plugin !== undefined && { plugin }) } as RuntimeEvent;
  }

  /** `NODE@plugins-12.volumes-40`: the node, as the topics of nodes are their own, and the place in each topic. */
  #idOf(cursors: Cursors): string {
    const places = [...cursors].map(([topic, cursor]) => `${keyOfTopic(topic)}-${cursor}`);
    return `${encodeURIComponent(this.#options.node)}@${places.join('.')}`;
  }

  #placesIn(id: string, topics: readonly EventTopic[]): Cursors {
    const such = "give 'now', '0', or the id of an event of this agent";
    const at = id.lastIndexOf('@');
    if (at < 0) throw invalid(`'${id}' is no id of an event: ${such}`);
    if (id.slice(0, at) !== encodeURIComponent(this.#options.node))
      throw invalid(`'${id}' is the id of an event of another node: ${such}`);
    const places = new Map<string, number>();
    for (const part of id.slice(at + 1).split('.')) {
      const [, topic = '', cursor] = /^([a-zA-Z]+)-(\d{1,15})$/.exec(part) ?? [];
      if (cursor === undefined) throw invalid(`'${id}' is no id of an event: ${such}`);
      places.set(topic, Number(cursor));
    }
    const missing = topics.find((topic) => !places.has(topic));
    if (missing) throw invalid(`'${id}' says nothing of ${missing}: it is of a subscription without it`);
    return new Map(topics.map((topic) => [this.#nameOf(topic), places.get(topic) ?? 0]));
  }

  /** The error of one topic, with ids of all of them. */
  #faultOf({ topic, cursors, cause }: TopicFault): unknown {
    if (!(cause instanceof StagecraftError)) return cause;
    const idAt = (id: string | undefined): string | undefined =>
      id === undefined
        ? undefined
        : this.#idOf(new Map([...cursors, [topic, Number(id.slice(id.lastIndexOf('@') + 1))]]));
    const [oldest, newest] = [idAt(cause.oldest), idAt(cause.newest)];
    return new StagecraftError(cause.code, `${keyOfTopic(topic)}: ${cause.message}`, {
      ...(oldest !== undefined && { oldest }),
      ...(newest !== undefined && { newest }),
      ...(cause.outcome && { outcome: cause.outcome }),
      cause,
    });
  }
}

const invalid = (message: string): StagecraftError => new StagecraftError('INVALID_ARGUMENT', message);

/** Names remembered, so that the last events of a deleted actor have them, too. */
const remembered = 10_000;

const prefixes = ['volume/', 'volume-snapshot/', 'group-snapshot/', 'mount/'];

/** Names the plugin of volumes, snapshots and mounts, for their events: those don't say it themselves. */
export class PluginNames {
  readonly #own: Pick<ActorSystem, 'peek' | 'read'>;
  readonly #elected: ElectedEngine;
  readonly #names = new Map<string, string | undefined>();

  constructor(own: Pick<ActorSystem, 'peek' | 'read'>, elected: ElectedEngine) {
    this.#own = own;
    this.#elected = elected;
  }

  /** Undefined: the actor has no plugin, or it is not known. */
  readonly of = async (address: string): Promise<string | undefined> => {
    if (!prefixes.some((prefix) => address.startsWith(prefix))) return undefined;
    const now = nameIn(this.#peek(address)?.context);
    if (now !== undefined) return this.#remember(address, now);
    if (this.#names.has(address)) return this.#names.get(address);
    const system = isClusterOwned(address) ? this.#elected : this.#own;
    const read = await system.read(address).catch(() => undefined);
    return this.#remember(address, nameIn(read?.context));
  };

  #peek(address: string): ReturnType<ActorSystem['peek']> {
    return isClusterOwned(address) ? this.#elected.readNow(address)?.view : this.#own.peek(address);
  }

  #remember(address: string, name: string | undefined): string | undefined {
    this.#names.delete(address);
    this.#names.set(address, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > remembered && oldest !== undefined) this.#names.delete(oldest);
    return name;
  }
}

/** Contexts of volumes and snapshots have a spec, those of mounts the volume. */
function nameIn(context: object | undefined): string | undefined {
  const { spec, volume }: { spec?: { plugin?: string } | null; volume?: { plugin?: string } | null } = context ?? {};
  return spec?.plugin ?? volume?.plugin;
}
