/** One operation at a time on each thing: a second one is answered ABORTED, as CSI wants it. */
import { CsiStatus } from '../csi/server.js';

export class Pending {
  /** How many are at work on each, or that it is one alone. */
  readonly #keys = new Map<string, 'alone' | number>();
  readonly #waiting: (() => void)[] = [];

  /** @param keys what the work is about, e.g. `volume/<id>`, `volume-name/<name>` */
  async only<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    const taken = distinct.find((key) => this.#keys.has(key));
    if (taken !== undefined) throw busy(taken);
    for (const key of distinct) this.#keys.set(key, 'alone');
    try {
      return await work();
    } finally {
      for (const key of distinct) this.#release(key);
    }
  }

  /** Any number of such works go together on one thing, but none of `only`. */
  async sharing<T>(key: string, work: () => Promise<T>): Promise<T> {
    const sharers = this.#keys.get(key) ?? 0;
    if (sharers === 'alone') throw busy(key);
    this.#keys.set(key, sharers + 1);
    try {
      return await work();
    } finally {
      const left = Number(this.#keys.get(key)) - 1;
      if (left === 0) this.#release(key);
      else this.#keys.set(key, left);
    }
  }

  /** Resolves once nothing is under way. */
  async idle(): Promise<void> {
    while (this.#keys.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #release(key: string): void {
    this.#keys.delete(key);
    if (this.#keys.size > 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

const busy = (key: string): CsiStatus =>
  new CsiStatus('ABORTED', `another operation on ${key} is under way: ask again`);
