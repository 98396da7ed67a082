/**
 * Finds actors by keys in their records, with an index in memory. Reads the store once, at the first use of the index, and
 * follows each commit from then on.
 */
import type { AnyStateMachine } from 'xstate';
import type { ActorsOf, ViewOf } from '../engine/actors-of.js';
import { StagecraftError, unlessQuarantined } from '../errors.js';

const nobody: readonly never[] = Object.freeze([]);

interface IndexedRecords<M extends AnyStateMachine> {
  of: readonly ActorsOf<M>[];
  keysOf(view: ViewOf<M>): readonly string[];
}

export class CommittedIndex<M extends AnyStateMachine> {
  readonly #records: IndexedRecords<M>;
  readonly #keys = new Map<string, readonly string[]>();
  /**
   * Addresses of the actors that have a key. Most keys have one actor: a set for each would take several times the
   * memory.
   */
  readonly #addresses = new Map<string, string | Set<string>>();
  #reading: Promise<void> | undefined;
  /** Actors with a commit since the read of the store began. The row that the read finds for them may be older. */
  readonly #newer = new Set<string>();
  /** Actors whose records can't be read, and so may have any key. */
  readonly #unread = new Set<string>();
  #isKnown = false;
  #isWatching = false;

  constructor(records: IndexedRecords<M>) {
    this.#records = records;
  }

  /** Whether the index is complete, so that `at` misses nothing. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Resolves once the index is complete. @throws StagecraftError STORE_UNAVAILABLE; the next call tries again */
  async known(): Promise<void> {
    if (!this.#reading) {
      const reading: Promise<void> = this.#read(() => this.#reading === reading).catch((error: unknown) => {
        if (this.#reading === reading) this.forget();
        throw error;
      });
      this.#reading = reading;
    }
    await this.#reading;
  }

  /** Drops the index, as another runtime may have changed the records. The next call of `known` reads again. */
  forget(): void {
    this.#reading = undefined;
    this.#isKnown = false;
    for (const all of [this.#keys, this.#addresses, this.#newer, this.#unread]) all.clear();
  }

  at(key: string): Iterable<string> {
    const addresses = this.#addresses.get(key) ?? nobody;
    return typeof addresses === 'string' ? [addresses] : addresses;
  }

  has(key: string): boolean {
    return this.#addresses.has(key);
  }

  /** Whether the record of this actor can't be read: it may have any key. */
  isUnread(address: string): boolean {
    return this.#unread.has(address);
  }

  /**
   * Reads the unread records once more: a person may have repaired them. Call after `known`.
   * @returns addresses of those that still can't be read @throws StagecraftError STORE_UNAVAILABLE, TIMEOUT, ABORTED
   */
  async unread(signal?: AbortSignal): Promise<string[]> {
    for (const actors of this.#records.of)
      for (const address of [...this.#unread].filter((address) => address.startsWith(actors.prefix))) {
        try {
          const view = await actors.read(address, signal);
          if (this.#unread.has(address)) this.#keep(address, view);
        } catch (error) {
          if (error instanceof StagecraftError) unlessQuarantined(error); // else its context is damaged
        }
      }
    return [...this.#unread];
  }

  /** @param isWanted false after `forget`: the rest of the read is dropped */
  async #read(isWanted: () => boolean): Promise<void> {
    this.#watch();
    // Lets the caller set `#reading` first.
    await Promise.resolve();
    for (const actors of this.#records.of) {
      for await (const [address, view] of actors.all(({ address }) => this.#unread.add(address))) {
        if (!isWanted()) return;
        if (this.#newer.has(address)) continue;
        try {
          this.#keep(address, view);
        } catch {
          this.#unread.add(address); // its context is damaged
        }
      }
    }
    if (!isWanted()) return;
    this.#isKnown = true;
    this.#newer.clear();
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    for (const actors of this.#records.of)
      actors.observe(({ address, view }) => {
        if (!this.#reading) return;
        if (!this.#isKnown) this.#newer.add(address);
        this.#keep(address, view);
      });
  }

  #keep(address: string, view: ViewOf<M> | undefined): void {
    const keys = view ? this.#records.keysOf(view) : nobody;
    this.#unread.delete(address);
    const before = this.#keys.get(address) ?? nobody;
    if (keys.length === before.length && keys.every((key, at) => key === before[at])) return;
    for (const key of before) this.#drop(key, address);
    for (const key of keys) {
      const others = this.#addresses.get(key);
      if (others === undefined || others === address) this.#addresses.set(key, address);
      else if (typeof others === 'string') this.#addresses.set(key, new Set([others, address]));
      else others.add(address);
    }
    if (keys.length > 0) this.#keys.set(address, keys);
    else this.#keys.delete(address);
  }

  #drop(key: string, address: string): void {
    const addresses = this.#addresses.get(key);
    if (typeof addresses === 'string') this.#addresses.delete(key);
    else if (addresses?.delete(address) && addresses.size === 0) this.#addresses.delete(key);
  }
}
