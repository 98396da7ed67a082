/** A list whose positions rise for ever, while its beginning may be forgotten. For the memory store. */
export class TrimmedLog<T> {
  #rows: { at: number; item: T }[] = [];
  #newest = 0;

  /** The first position still kept; after all is trimmed, the next one to come. */
  get oldest(): number {
    return this.#rows[0]?.at ?? this.#newest + 1;
  }

  /** The last position ever given, 0 before the first. */
  get newest(): number {
    return this.#newest;
  }

  /** @param at above `newest`; what lies between stays empty */
  push(item: T, at = this.#newest + 1): void {
    this.#rows.push({ at, item });
    this.#newest = at;
  }

  read(from: number, limit: number): { at: number; item: T }[] {
    const start = this.#indexFrom(from);
    return this.#rows.slice(start, start + limit);
  }

  trim(below: number): void {
    const start = this.#indexFrom(below);
    if (start > 0) this.#rows = this.#rows.slice(start);
  }

  /** Index of the first row at or after this position. */
  #indexFrom(position: number): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle]?.at ?? position) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
