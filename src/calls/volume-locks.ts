/**
 * Locks of volumes: in this process, only one call at a time to a plugin about the same volume. Actors of several kinds
 * call for one volume. A waiting caller holds no lock, so a hanging call delays only its own volumes, and callers
 * cannot deadlock.
 */
import { onAbort } from '../abort.js';

interface Waiting {
  keys: readonly string[];
  admit(): void;
}

/** Key of a volume: a plugin's registered name has no control characters, so that the key is unique. */
export const lockKey = (plugin: string, csiId: string): string => `${plugin}\n${csiId}`;

/**
 * Key for calls to the node side of the plugin. They run beside controller calls about the volume, which may take long.
 */
export const nodeCallsOf = (csiId: string): string => `${csiId}\nnode`;

export class VolumeLocks {
  readonly #held = new Set<string>();
  /** Waiting callers in the order of arrival. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** Takes all locks or none. @returns false if one of them is held */
  take(keys: readonly string[]): boolean {
    for (const key of keys) if (this.#held.has(key)) return false;
    for (const key of keys) this.#held.add(key);
    return true;
  }

  /**
   * Resolves once all locks are taken; callers that wait for the same lock get it in order.
   * @throws the abort reason of the signal
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

  /** Admits the first waiting callers that can take all their locks. */
  #admit(key: string): void {
    for (const waiting of [...(this.#waiting.get(key) ?? [])]) {
      if (this.#held.has(key)) return;
      if (this.take(waiting.keys)) waiting.admit();
    }
  }
}
