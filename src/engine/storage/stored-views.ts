/** Reads the committed state of actors that another runtime may write. Reads the store only, and loads no actor. */
import { unlessAborted } from '../../abort.js';
import { messageOf, type StagecraftError } from '../../errors.js';
import { decodeRecord } from '../actor/actor-record.js';
import type { ActorView } from '../actor-system.js';
import type { Clock } from '../clock.js';
import type { Range, Store, StoredRecord, StorePage } from '../store.js';
import { TimerHeap } from '../timer-heap.js';
import { givenUp, patienceMs } from './store-patience.js';
import { answered } from './store-trouble.js';
import { type TimedStore, timedStore } from './timed-store.js';

export interface StoredViewsOptions {
  /** Opened and closed by its owner. */
  store: Store;
  clock: Clock;
  /** Version of the machine that this runtime can read at an address; undefined: none. */
  versionOf(address: string): string | undefined;
  /** Makes the error for a record that only its owner can read, e.g. one of another version. */
  unreadable(address: string, why: string): StagecraftError;
}

export class StoredViews {
  readonly #options: StoredViewsOptions;
  readonly #store: TimedStore;

  constructor(options: StoredViewsOptions) {
    this.#options = options;
    const { store, clock } = options;
    this.#store = timedStore(store, { clock, timers: new TimerHeap(clock), limitMs: patienceMs });
  }

  /** @throws {StagecraftError} STORE_UNAVAILABLE, and the error of `unreadable` */
  async read(address: string, limit?: AbortSignal): Promise<ActorView | undefined> {
    const signal = limit ?? new AbortController().signal;
    const load = (): Promise<StoredRecord | undefined> =>
      answered(this.#store.load(address), `the store can't read ${address} now`);
    const stored = await unlessAborted(signal, load).catch((error: unknown) => {
      throw signal.aborted ? givenUp({ address, outcome: 'refused', reason: signal.reason }, this.#store) : error;
    });
    return stored && this.#viewOf(stored);
  }

  /** Trouble with the store, as seen by these reads. Undefined: none. */
  trouble(forMs?: number): Error | undefined {
    return this.#store.trouble(forMs);
  }

  async page(range: Range): Promise<StorePage<[address: string, view: ActorView]>> {
    const { rows, next } = await answered(this.#store.list(range), `the store can't list ${range.prefix} now`);
    const views = rows.flatMap((record): [string, ActorView][] => {
      const view = this.#viewOf(record);
      return view ? [[record.address, view]] : [];
    });
    return { rows: views, ...(next !== undefined && { next }) };
  }

  #viewOf({ address, seq, gone, text }: StoredRecord): ActorView | undefined {
    if (gone) return undefined;
    const { versionOf, unreadable } = this.#options;
    let record: ReturnType<typeof decodeRecord>;
    try {
      record = decodeRecord(text);
    } catch (error) {
      throw unreadable(address, `its record can't be read: ${messageOf(error)}`);
    }
    const { snapshot, version, at } = record;
    if (version !== versionOf(address)) throw unreadable(address, `its record is of version ${version}`);
    return snapshot && { seq, state: snapshot.value, context: snapshot.context, ...(at !== undefined && { at }) };
  }
}
