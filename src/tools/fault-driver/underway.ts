/** Driver's work in flight: a stopping process lets it end. */
import { setTimeout } from 'node:timers/promises';

const patienceMs = 5_000;

export class Underway {
  readonly #works = new Set<Promise<unknown>>();

  watch<T>(work: Promise<T>): Promise<T> {
    this.#works.add(work);
    return work.finally(() => this.#works.delete(work));
  }

  /** Resolves when all work has ended, after 5 s at the latest. */
  async settled(): Promise<void> {
    const patience = new AbortController();
    const late = setTimeout(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#works), late]);
    patience.abort();
  }
}
