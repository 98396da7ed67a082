/**
 * A change that happens once and calls back all who wait: a dispenser replaces another one. Not an AbortSignal: all
 * instances of a type wait for the same change, and that compares each listener with all others.
 */
export class Replacement {
  readonly #calls = new Set<() => void>();
  #isOver = false;

  /** Whether it has happened. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Calls back when it happens, at once if it has; the returned function ends that. */
  on(call: () => void): () => void {
    if (this.#isOver) call();
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  }

  happen(): void {
    this.#isOver = true;
    for (const call of [...this.#calls]) call();
  }
}
