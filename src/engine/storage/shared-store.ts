/** Shares one store among several engines of a process: opens it with the first engine, and closes it with the last. */
import type { Store, StoreEvents } from '../store.js';

export class SharedStore {
  readonly #store: Store;
  /** Engines that have the store open, with their listeners. */
  readonly #users = new Map<object, StoreEvents | undefined>();
  #opening: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the store for one engine. */
  handle(): Store {
    const user = {};
    const store = this.#store;
    return {
      open: (events) => this.#open(user, events),
      close: () => this.#close(user),
      acquireLease: (asked) => store.acquireLease(asked),
      renewLease: (lease) => store.renewLease(lease),
      releaseLease: (lease) => store.releaseLease(lease),
      load: (address) => store.load(address),
      list: (range) => store.list(range),
      due: (query) => store.due(query),
      commit: (items) => store.commit(items),
      unsettled: (range) => store.unsettled(range),
      settle: (rows) => store.settle(rows),
      appendInbox: (address, texts) => store.appendInbox(address, texts),
      readInbox: (address, after, limit) => store.readInbox(address, after, limit),
      appendTopic: (topic, entries) => store.appendTopic(topic, entries),
      readTopic: (topic, after, limit) => store.readTopic(topic, after, limit),
      trimTopic: (topic, upTo) => store.trimTopic(topic, upTo),
      readJournal: (address, from, limit) => store.readJournal(address, from, limit),
      trimJournal: (address, below) => store.trimJournal(address, below),
      ...(store.wire && { wire: store.wire }),
    };
  }

  async #open(user: object, events: StoreEvents | undefined): Promise<void> {
    this.#users.set(user, events);
    this.#opening ??= this.#store.open({
      warn: (message) => [...this.#users.values()][0]?.warn(message),
      suspect: (reason) => {
        for (const each of this.#users.values()) each?.suspect(reason);
      },
    });
    try {
      await this.#opening;
    } catch (error) {
      this.#users.delete(user);
      if (this.#users.size === 0) this.#opening = undefined;
      throw error;
    }
  }

  async #close(user: object): Promise<void> {
    if (!this.#users.delete(user) || this.#users.size > 0) return;
    this.#opening = undefined;
    await this.#store.close();
  }
}
