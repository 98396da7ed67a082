/**
 * Who may call a plugin about which of its volumes: one at a time, in this process. Actors of several kinds call for one
 * volume; each of them makes one call at a time by itself. Who waits holds nothing, so that a call that hangs delays its
 * own volumes only, and several at once can't wait for each other in a circle.
 */
import { onAbort } from '../abort.js';

interface Waiting {
  keys: readonly string[];
  admit(): void;
}

/** What a volume is known by here: a plugin's registered name has no control characters. */
export const lockKey = (plugin: string, csiId: string): string => `${plugin}\n${csiId}`;

/** The calls about a volume to the node side of its plugin here: beside those to the controller side, as one may take long. */
export const nodeCallsOf = (csiId: string): string => `${csiId}\nnode`;

export class VolumeLocks {
  readonly #held = new Set<string>();
  /** In the order in which they came. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** Takes all of them, or none: at once, and false where one is held. */
  take(keys: readonly string[]): boolean {
    for (const key of keys) if (this.#held.has(key)) return false;
    for (const key of keys) this.#held.add(key);
    return true;
  }

  /**
   * Resolves when all of them are taken: of those who wait for the same, in order.
   * @throws the reason of the signal
   */
  wait(keys: readonly string[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const end = (): void => {
        unsubscribe();
        for (const key of keys) {
          const others = this.#waiting.get(key);
          if (others?.delete(waiting) && others.size === 0) this.#waiting.delete(key);
        }
      };
      const waiting: Waiting = {
        keys,
        admit: () => {
          end();
          resolve();
        },
      };
      const giveUp = (): void => {
        end();
        reject(signal.reason);
      };
      const unsubscribe = onAbort(signal, giveUp);
      for (const key of keys) this.#waiting.set(key, (this.#waiting.get(key) ?? new Set()).add(waiting));
      if (this.take(keys)) waiting.admit();
    });
  }

  leave(keys: readonly string[]): void {
    for (const key of keys) this.#held.delete(key);
    if (this.#waiting.size === 0) return;
    for (const key of keys) this.#admit(key);
  }

  /** Lets in the first of those who wait for it that can have all that it wants. */
  #admit(key: string): void {
    for (const waiting of [...(this.#waiting.get(key) ?? [])]) {
      if (this.#held.has(key)) return;
      if (this.take(waiting.keys)) waiting.admit();
    }
  }
}
