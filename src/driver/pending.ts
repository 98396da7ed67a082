/** One operation at a time on each thing: a second one is answered ABORTED, as CSI wants it. */
import { CsiStatus } from '../csi/server.js';

export class Pending {
  readonly #keys = new Set<string>();

  /** @param keys what the work is about, e.g. `volume/<id>`, `name/<name>` */
  async only<T>(keys: string[], work: () => Promise<T>): Promise<T> {
    const taken = keys.find((key) => this.#keys.has(key));
    if (taken !== undefined) throw new CsiStatus('ABORTED', `another operation on ${taken} is under way: ask again`);
    for (const key of keys) this.#keys.add(key);
    try {
      return await work();
    } finally {
      for (const key of keys) this.#keys.delete(key);
    }
  }
}
