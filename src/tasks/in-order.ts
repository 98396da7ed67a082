/** Runs work on one id in the order of the requests, one piece at a time. Work on other ids does not wait for it. */
export class InOrder {
  /** Ends of the last pieces, by id, while there is work. */
  readonly #ends = new Map<string, Promise<void>>();

  /** @throws the error of `work`, which does not hold up later work */
  run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#ends.get(id);
    const done = before ? before.then(work) : work();
    const forget = (): void => {
      if (this.#ends.get(id) === end) this.#ends.delete(id);
    };
    const end = done.then(forget, forget);
    this.#ends.set(id, end);
    return done;
  }
}
