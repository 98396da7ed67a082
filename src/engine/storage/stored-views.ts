/** Reads the committed state of actors that another runtime may write. Reads the store only, and loads no actor. */
import { unlessAborted } from '../../abort.js';
import type { StagecraftError } from '../../errors.js';
import { type Reader, storedView } from '../actor/from-record.js';
import type { ActorPage, ActorView } from '../actor-system.js';
import type { Clock } from '../clock.js';
import type { Logger } from '../logger.js';
import type { Range, Store, StoredRecord } from '../store.js';
import { TimerHeap } from '../timer-heap.js';
import { pageOfViews, unreadable } from './pages.js';
import { answered, patienceMs, waitGivenUp } from './store-patience.js';
import { type TimedStore, timedStore } from './timed-store.js';

interface StoredViewsOptions {
  /** Opened and closed by its owner. */
  store: Store;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  /** Reads the records at an address; undefined: no such kind is known here. */
  readerOf(address: string): Reader | undefined;
  /** Makes the error for a record that only its owner can read, e.g. one of a later version. */
  unreadable(address: string, why: string): StagecraftError;
}

export class StoredViews {
  readonly #options: StoredViewsOptions;
  readonly #store: TimedStore;
  /** Records that were left out of listings, each with the last reason, which is logged once. */
  readonly #skipped = new Map<string, string>();

  constructor(options: StoredViewsOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#store = timedStore(store, { clock, timers: new TimerHeap(clock), limitMs: patienceMs });
  }

  /** @throws {StagecraftError} STORE_UNAVAILABLE, and the error of `unreadable` */
  async read(address: string, limit?: AbortSignal): Promise<ActorView | undefined> {
    const load = async (): Promise<StoredRecord | undefined> => {
      limit?.throwIfAborted();
      const loaded = answered(this.#store.load(address), `the store can't read ${address} now`);
      return limit ? unlessAborted(limit, loaded) : loaded;
    };
    const stored = await load().catch((error: unknown) => {
      throw limit?.aborted ? waitGivenUp({ address, outcome: 'refused', reason: limit.reason }, this.#store) : error;
    });
    try {
      return stored && this.#viewOf(stored);
    } catch (error) {
      throw this.#options.unreadable(address, unreadable(error));
    }
  }

  /** Trouble with the store, as seen by these reads. Undefined: none. */
  trouble(forMs?: number): Error | undefined {
    return this.#store.trouble(forMs);
  }

  /** @throws {StagecraftError} STORE_UNAVAILABLE */
  async page(range: Range): Promise<ActorPage> {
    const { rows, next } = await answered(this.#store.list(range), `the store can't list ${range.prefix} now`);
    const page = pageOfViews(rows, (record) => this.#viewOf(record));
    for (const [address] of page.rows) this.#skipped.delete(address);
    for (const { address, reason } of page.skipped ?? []) {
      if (this.#skipped.get(address) === reason) continue;
      this.#skipped.set(address, reason);
      this.#options.logger.warn({ address }, `${address} is left out of lists: ${reason}`);
    }
    return { ...page, ...(next !== undefined && { next }) };
  }

  #viewOf(stored: StoredRecord): ActorView | undefined {
    const reader = this.#options.readerOf(stored.address);
    if (!reader) throw new Error('no such machine is known here');
    return storedView(reader, stored);
  }
}
