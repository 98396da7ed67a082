/** The driver's work that is under way: a process that is told to stop lets it end. */
import { setTimeout } from 'node:timers/promises';

const patienceMs = 5_000;

export class Underway {
  readonly #works = new Set<Promise<unknown>>();

  watch<T>(work: Promise<T>): Promise<T> {
    this.#works.add(work);
    return work.finally(() => this.#works.delete(work));
  }

  /** After 5 s also where it has not. */
  async settled(): Promise<void> {
    await Promise.race([Promise.allSettled(this.#works), setTimeout(patienceMs)]);
  }
}
