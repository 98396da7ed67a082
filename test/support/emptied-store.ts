/** A store that loses all data at once, as a Redis without persistence that was started anew. */
import type { Store } from '../../src/engine/store.js';

export class EmptiedStore {
  readonly store: Store;
  readonly #make: () => Store;
  #inner: Store;

  /** @param make makes an empty store */
  constructor(make: () => Store) {
    this.#make = make;
    this.#inner = make();
    const now = (): Store => this.#inner;
    this.store = {
      open: (events) => now().open(events),
      close: () => now().close(),
      acquireLease: (request) => now().acquireLease(request),
      renewLease: (lease) => now().renewLease(lease),
      releaseLease: (lease) => now().releaseLease(lease),
      load: (address) => now().load(address),
      list: (range) => now().list(range),
      due: (query) => now().due(query),
      commit: (items) => now().commit(items),
      unsettled: (range) => now().unsettled(range),
      settle: (rows) => now().settle(rows),
      appendInbox: (address, texts) => now().appendInbox(address, texts),
      readInbox: (address, after, limit) => now().readInbox(address, after, limit),
      appendTopic: (topic, entries) => now().appendTopic(topic, entries),
      readTopic: (topic, after, limit) => now().readTopic(topic, after, limit),
      trimTopic: (topic, upTo) => now().trimTopic(topic, upTo),
      readJournal: (address, from, limit) => now().readJournal(address, from, limit),
      trimJournal: (address, below) => now().trimJournal(address, below),
    };
  }

  async empty(): Promise<void> {
    this.#inner = this.#make();
    await this.#inner.open();
  }
}
