/**
 * Lab whose store can lose accepted writes under a live runtime: it replaces the store by a copy of its earlier state.
 */
import type { Store, StoreEvents } from '../../src/engine/store.js';
import { memoryStore } from '../../src/stores/memory/memory.js';
import type { ControlledStore } from '../support/faulty-store.js';
import { Lab } from './lab.js';

type Call = (store: Store) => Promise<unknown>;

export class LossyLab extends Lab {
  /** All writes, in order. */
  #log: Call[] = [];
  #current = this.#fresh();
  #events: StoreEvents | undefined;
  override readonly data = this.#recorded();

  /** Marks the present moment, for `rollBack`. */
  mark(): number {
    return this.#log.length;
  }

  /** Sets the store back to the mark, without a notice. */
  async rollBack(mark: number): Promise<void> {
    this.#log = this.#log.slice(0, mark);
    const copy = this.#fresh();
    await copy.open();
    for (const call of this.#log) await call(copy);
    this.#current = copy;
  }

  /** Reports that the store may have lost writes. */
  suspect(): void {
    this.#events?.suspect('a test says so');
  }

  /** Sets the store back to the mark, and reports it. */
  async lose(mark: number): Promise<void> {
    await this.rollBack(mark);
    this.suspect();
  }

  override store(through?: (store: Store) => Store): ControlledStore {
    const controlled = super.store(through);
    return {
      ...controlled,
      open: (events) => {
        this.#events = events;
        return controlled.open();
      },
    };
  }

  #fresh(): Store {
    return memoryStore({ monotonicMs: () => this.clock.monotonicMs() });
  }

  #recorded(): Store {
    const now = (): Store => this.#current;
    const write = <T>(call: (store: Store) => Promise<T>): Promise<T> => {
      this.#log.push(call);
      return call(now());
    };
    return {
      open: () => write((store) => store.open()),
      close: () => write((store) => store.close()),
      acquireLease: (asked) => write((store) => store.acquireLease(asked)),
      renewLease: (lease) => now().renewLease(lease),
      releaseLease: (lease) => write((store) => store.releaseLease(lease)),
      load: (address) => now().load(address),
      list: (range) => now().list(range),
      due: (query) => now().due(query),
      commit: (items) => write((store) => store.commit(items)),
      unsettled: (range) => now().unsettled(range),
      settle: (rows) => write((store) => store.settle(rows)),
      appendInbox: (address, texts) => write((store) => store.appendInbox(address, texts)),
      readInbox: (address, after, limit) => now().readInbox(address, after, limit),
      appendTopic: (topic, entries) => write((store) => store.appendTopic(topic, entries)),
      readTopic: (topic, after, limit) => now().readTopic(topic, after, limit),
      trimTopic: (topic, upTo) => write((store) => store.trimTopic(topic, upTo)),
      readJournal: (address, from, limit) => now().readJournal(address, from, limit),
      trimJournal: (address, below) => write((store) => store.trimJournal(address, below)),
    };
  }
}
