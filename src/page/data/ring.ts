/** The newest items up to a limit: older ones are forgotten. */
export class Ring<T> {
  readonly #most: number;
  #items: T[] = [];
  /** Items that were added altogether. */
  total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(items: readonly T[]): void {
    this.total += items.length;
    for (const item of items) this.#items.push(item);
    // Cut seldom: cutting moves all that stays.
    if (this.#items.length > 2 * this.#most) this.#items = this.#items.slice(-this.#most);
  }

  /** Items, oldest first. */
  get items(): readonly T[] {
    return this.#items.length > this.#most ? this.#items.slice(-this.#most) : this.#items;
  }

  clear(): void {
    this.#items = [];
  }
}
