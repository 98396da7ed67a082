/** Refuses commits of an older epoch of their lease, as every store must: for stores that don't know it yet. */
import type { Commit, CommitResult, Store } from '../../src/engine/store.js';

/** @returns what each of several runtimes sees of the one store between them */
export function fencing(): (store: Store) => Store {
  const epochs = new Map<string, number>();
  return (store) => ({
    ...store,
    acquireLease: async (asked) => {
      const result = await store.acquireLease(asked);
      if (result.status === 'granted') epochs.set(asked.name, result.lease.epoch);
      return result;
    },
    commit: (items) => Promise.all(items.map((item) => commit(store, item, epochs.get(item.lease ?? '') ?? 0))),
    close: async () => {}, // the others go on
  });
}

async function commit(store: Store, item: Commit, epoch: number): Promise<CommitResult> {
  if (epoch > item.epoch) {
    const stored = await store.load(item.address);
    return stored?.commitId === item.commitId ? { status: 'done' } : { status: 'fenced', epoch };
  }
  const [result] = await store.commit([item]);
  if (!result) throw new Error('the store gave no result');
  return result;
}
