/** A list whose positions count from 1 for ever, while its beginning may be forgotten. For the memory store. */
export class TrimmedLog<T> {
  #oldest = 1;
  #items: T[] = [];

  /** The first position still kept; after all is trimmed, the next one to come. */
  get oldest(): number {
    return this.#oldest;
  }

  /** The last position ever given, 0 before the first. */
  get newest(): number {
    return this.#oldest + this.#items.length - 1;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  read(from: number, limit: number): { at: number; item: T }[] {
    const start = Math.max(from, this.#oldest);
    const skipped = start - this.#oldest;
    return this.#items.slice(skipped, skipped + limit).map((item, i) => ({ at: start + i, item }));
  }

  trim(below: number): void {
    const kept = Math.min(Math.max(below, this.#oldest), this.newest + 1);
    if (kept === this.#oldest) return;
    this.#items = this.#items.slice(kept - this.#oldest);
    this.#oldest = kept;
  }
}
