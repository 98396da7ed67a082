/** One store with a topic, runtimes that append to it, and followers; no actors. */

import type { Random } from '../../src/engine/random.js';
import type { Store, TopicRow } from '../../src/engine/store.js';
import { TopicFeed } from '../../src/engine/topics/topic-feed.js';
import { TopicReader } from '../../src/engine/topics/topic-reader.js';
import { Topics, type TopicsOptions } from '../../src/engine/topics/topics.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import { type SimulatedClock, simulatedClock } from '../../src/testing/index.js';
import { type ControlledStore, controlledStore, faultyStore } from '../support/faulty-store.js';

export const topic = 'news';

export class TopicLab {
  readonly clock: SimulatedClock = simulatedClock();
  readonly data = memoryStore();
  readonly store: ControlledStore;
  #said = 0;

  /** @param through wraps the store for the runtimes */
  constructor(through: (store: Store) => Store = (store) => store) {
    this.store = controlledStore(through(this.data));
  }

  async open(): Promise<this> {
    await this.data.open();
    return this;
  }

  topics(options?: TopicsOptions): Topics {
    return new Topics(this.store, this.clock, options);
  }

  feed(): TopicFeed {
    return new TopicFeed({ store: this.store, clock: this.clock, name: topic, pollMs: 1_000 });
  }

  /** Appends `count` events through a runtime; each text equals its cursor. Resolves once all are in the topic. */
  async say(topics: Topics, count = 1): Promise<void> {
    await Promise.all(this.#entries(count).map((entry) => topics.append(topic, entry)));
  }

  /** Appends past every runtime here, as another process does. */
  async sayElsewhere(count = 1, padding = ''): Promise<void> {
    await this.data.appendTopic(topic, this.#entries(count, padding));
  }

  get said(): number {
    return this.#said;
  }

  get reads(): number {
    return this.store.calls.filter((method) => method === 'readTopic').length;
  }

  rest(): Promise<void> {
    return this.clock.advance(0);
  }

  #entries(count: number, padding = '') {
    return Array.from({ length: count }, () => {
      this.#said += 1;
      const text = JSON.stringify({ text: this.#said, padding });
      return { source: 'speaker', seq: this.#said, index: 0, text };
    });
  }
}

/** Returns a follower of this feed. */
export const readerOf = (feed: TopicFeed, start: number): TopicReader<TopicRow> =>
  new TopicReader({ feed, start, signal: undefined, read: (row) => row });

/** Returns the numbers from `from` to `to`, inclusive. */
export const run = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Store whose answers take a few turns of the event loop, and come in another order than the calls. */
export const lateStore = (inner: Store, random: Random): Store =>
  faultyStore(inner, {
    how: async (_, proceed) => {
      const result = await proceed();
      await turns(random);
      return result;
    },
  });

async function turns(random: Random): Promise<void> {
  for (let left = Math.floor(random.next() * 4); left > 0; left -= 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}
