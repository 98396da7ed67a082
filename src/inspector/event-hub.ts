/**
 * Hands live events to any number of followers: one subscription for all, in batches, and each event becomes text once. A
 * follower that begins in the past reads up to the hub's place by itself, and then joins.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { StagecraftError } from '../errors.js';
import type { Runtime, RuntimeEvent } from '../runtime/runtime.js';

interface SentEvent {
  event: RuntimeEvent;
  /** The event as a block of a stream of server-sent events. */
  text: string;
}

/** Events that are sent together. */
export class EventBatch {
  readonly #events: readonly SentEvent[];
  readonly #chosen = new Map<string, Buffer>();

  constructor(events: readonly SentEvent[]) {
    this.#events = events;
  }

  /** Bytes of the events that `isWanted` chooses, made once for all followers with the same key. */
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

export const sentOf = (event: RuntimeEvent): SentEvent => ({
  event,
  text: `id: ${event.id}\nevent: ${event.topic}\ndata: ${JSON.stringify(event)}\n\n`,
});

export class EventHub {
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
