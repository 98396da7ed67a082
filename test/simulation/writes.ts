/** All that a store was asked to keep, in order: what a runtime leaves behind, to be written into any other store. */
import type { Commit, Lease, LeaseAsked, Store, TopicEntry } from '../../src/engine/store.js';

/** One write that the store has taken. */
export type Write =
  | { do: 'commit'; commit: Commit }
  | { do: 'settle'; rows: { address: string; seq: number }[] }
  | { do: 'inbox'; address: string; texts: string[] }
  | { do: 'topic'; topic: string; entries: TopicEntry[] }
  | { do: 'trim-topic'; topic: string; upTo: number }
  | { do: 'trim-journal'; address: string; below: number }
  | { do: 'lease'; asked: LeaseAsked; epoch: number };

/** @param written called with each write once the store has taken it */
export function withWrites(store: Store, written: (write: Write) => void): Store {
  return {
    ...store,
    async commit(items) {
      const results = await store.commit(items);
      for (const [at, commit] of items.entries()) if (results[at]?.status === 'done') written({ do: 'commit', commit });
      return results;
    },
    async settle(rows) {
      await store.settle(rows);
      written({ do: 'settle', rows });
    },
    async appendInbox(address, texts) {
      const ids = await store.appendInbox(address, texts);
      written({ do: 'inbox', address, texts });
      return ids;
    },
    async appendTopic(topic, entries) {
      const cursor = await store.appendTopic(topic, entries);
      written({ do: 'topic', topic, entries });
      return cursor;
    },
    async trimTopic(topic, upTo) {
      await store.trimTopic(topic, upTo);
      written({ do: 'trim-topic', topic, upTo });
    },
    async trimJournal(address, below) {
      await store.trimJournal(address, below);
      written({ do: 'trim-journal', address, below });
    },
    async acquireLease(asked) {
      const result = await store.acquireLease(asked);
      if (result.status === 'granted') written({ do: 'lease', asked, epoch: result.lease.epoch });
      return result;
    },
  };
}

/**
 * Writes all of it into an open, empty store. No lease is held in the end: whoever held one is dead.
 * @throws Error where the store does not take a write as the first one did
 */
export async function writeAgain(store: Store, writes: readonly Write[]): Promise<void> {
  const leases = new Map<string, Lease>();
  for (const write of writes) await again(store, write, leases);
  for (const lease of leases.values()) await store.releaseLease(lease);
}

async function again(store: Store, write: Write, leases: Map<string, Lease>): Promise<void> {
  switch (write.do) {
    case 'commit': {
      const [result] = await store.commit([write.commit]);
      if (result?.status !== 'done') throw new Error(`${write.commit.address}: ${JSON.stringify(result)}`);
      return;
    }
    case 'settle':
      return store.settle(write.rows);
    case 'inbox':
      await store.appendInbox(write.address, write.texts);
      return;
    case 'topic':
      await store.appendTopic(write.topic, write.entries);
      return;
    case 'trim-topic':
      return store.trimTopic(write.topic, write.upTo);
    case 'trim-journal':
      return store.trimJournal(write.address, write.below);
    case 'lease': {
      const { asked, epoch } = write;
      const before = leases.get(asked.name);
      if (before && before.owner !== asked.owner) await store.releaseLease(before);
      const result = await store.acquireLease({ ...asked, above: epoch - 1 });
      if (result.status !== 'granted' || result.lease.epoch !== epoch)
        throw new Error(`${asked.name}: ${JSON.stringify(result)} instead of epoch ${epoch}`);
      leases.set(asked.name, result.lease);
    }
  }
}
