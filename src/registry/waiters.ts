/** Those who wait until something is so, by the address that it concerns: of them, a commit concerns few. */
export class Waiters {
  readonly #looks = new Map<string, Set<() => void>>();

  /** Calls `look` whenever something may be new at the address; the answer ends it. */
  add(address: string, look: () => void): () => void {
    const looks = this.#looks.get(address) ?? new Set();
    this.#looks.set(address, looks.add(look));
    return () => {
      if (looks.delete(look) && looks.size === 0) this.#looks.delete(address);
    };
  }

  wake(address: string): void {
    for (const look of [...(this.#looks.get(address) ?? [])]) look();
  }

  wakeAll(): void {
    for (const address of [...this.#looks.keys()]) this.wake(address);
  }
}
