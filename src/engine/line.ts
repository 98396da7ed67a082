/**
 * Items in the order in which they came, of which the first can be had and any may leave, at the same cost however many
 * there are. A Set alone keeps that order too, but each look at its first goes past the places of all that left before.
 */
export class Line<T extends object> {
  readonly #items = new Set<T>();
  /** All that it has gone past have left, but for `#first`. */
  #walk = this.#items.values();
  #first: T | undefined;

  get size(): number {
    return this.#items.size;
  }

  has(item: T): boolean {
    return this.#items.has(item);
  }

  /** It comes last; one that is there already gives up its place. */
  join(item: T): void {
    this.leave(item);
    this.#items.add(item);
  }

  /** @returns whether it was there */
  leave(item: T): boolean {
    if (item === this.#first) this.#first = undefined;
    return this.#items.delete(item);
  }

  get first(): T | undefined {
    this.#first ??= this.#walk.next().value;
    if (this.#first || this.#items.size === 0) return this.#first;
    // It had come to the end before these came.
    this.#walk = this.#items.values();
    this.#first = this.#walk.next().value;
    return this.#first;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }
}
