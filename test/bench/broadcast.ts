/** Events handed to followers per second, from append to `for await`, against the simplest queues in memory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../dist/src/engine/clock.js';
import type { Store, TopicEntry } from '../../dist/src/engine/store.js';
import { Topics } from '../../dist/src/engine/topics/topics.js';
import { lmdbStore } from '../../dist/src/stores/lmdb/lmdb.js';
import { memoryStore } from '../../dist/src/stores/memory/memory.js';
import type { Contender } from './measure.js';

const deliveries = 1_000_000;
const burstSize = 1_000;

/** Whoever appends leaves the event loop to others between bursts, as a runtime does that reads sockets. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const text = JSON.stringify({
  type: 'registered',
  at: 1_767_225_600_000,
  info: { type: 'csi-node', of: 'x'.repeat(200) },
});
const entry = (seq: number): TopicEntry => ({ source: 'plugin/bench', seq, index: 0, text });

/** Hands each item to whoever iterates; what is not taken yet waits in an array of its own. */
class Queue implements AsyncIterableIterator<TopicEntry, void> {
  #items: TopicEntry[] = [];
  #at = 0;
  #waits: ((result: IteratorResult<TopicEntry, void>) => void) | undefined;

  [Symbol.asyncIterator](): this {
    return this;
  }

  push(value: TopicEntry): void {
    this.#items.push(value);
    const resolve = this.#waits;
    this.#waits = undefined;
    if (resolve) void this.next().then(resolve);
  }

  async next(): Promise<IteratorResult<TopicEntry, void>> {
    const value = this.#items[this.#at];
    if (!value)
      return new Promise((resolve) => {
        this.#waits = resolve;
      });
    this.#at += 1;
    return { value, done: false };
  }
}

async function take(events: AsyncIterable<{ text: string }>, count: number): Promise<void> {
  let taken = 0;
  for await (const event of events) {
    if (event.text !== text) throw new Error('another event');
    taken += 1;
    if (taken === count) return;
  }
}

const bare: Contender = {
  name: 'an array for each of 100 followers, nothing kept',
  async run() {
    const queues = Array.from({ length: 100 }, () => new Queue());
    const count = deliveries / queues.length;
    const taken = queues.map((queue) => take(queue, count));
    for (let seq = 1; seq <= count; seq += 1) {
      const event = entry(seq);
      for (const queue of queues) queue.push(event);
      if (seq % burstSize === 0) await turn();
    }
    await Promise.all(taken);
    return deliveries;
  },
};

async function broadcast(store: Store, followers: number): Promise<number> {
  await store.open();
  const topics = new Topics(store, systemClock);
  const count = Math.min(deliveries / followers, 100_000);
  const taken = Array.from({ length: followers }, () => take(topics.follow('bench', 'now'), count));
  for (let seq = 1; seq <= count; ) {
    const burst: Promise<void>[] = [];
    for (; seq <= count && burst.length < burstSize; seq += 1) burst.push(topics.append('bench', entry(seq)));
    await Promise.all(burst);
    await turn();
  }
  await Promise.all(taken);
  await topics.stop();
  await store.close();
  return followers * count;
}

const inMemory = (followers: number): Contender => ({
  name: `memory store, ${followers.toLocaleString('en')} followers`,
  run: () => broadcast(memoryStore(), followers),
});

const onDisk = (followers: number): Contender => ({
  name: `LMDB, fdatasync, ${followers.toLocaleString('en')} followers`,
  async run() {
    const path = mkdtempSync(join(tmpdir(), 'stagecraft-bench-'));
    try {
      return await broadcast(lmdbStore(path), followers);
    } finally {
      rmSync(path, { recursive: true });
    }
  },
});

const crowds = [1, 10, 100, 1_000];

export const broadcasts = [bare, ...crowds.map(inMemory), ...crowds.map(onDisk)];
