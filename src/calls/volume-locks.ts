/**
 * Locks of volumes: in this process, only one call at a time to a plugin about the same volume, and none that removes or
 * resizes what another one copies. Actors of several kinds call for one volume. A waiting caller holds no lock, so a
 * hanging call delays only its own volumes, and callers cannot deadlock.
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

const shared = '\nshared';

/** Key for calls that remove or resize the content of a volume or a snapshot. They exclude calls that copy from it. */
export const contentOf = (of: 'volume' | 'snapshot', csiId: string): string => `${csiId}\ncontent of ${of}`;

/** Key for calls that copy from a volume or a snapshot. Any number of them run at the same time. */
export const copyOf = (of: 'volume' | 'snapshot', csiId: string): string => `${contentOf(of, csiId)}${shared}`;

const lockOf = (key: string): string => (key.endsWith(shared) ? key.slice(0, -shared.length) : key);

export class VolumeLocks {
  /** Key under which each lock is held, with the number of its holders: several share it. */
  readonly #held = new Map<string, { key: string; holders: number }>();
  /** Waiting callers in the order of arrival. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** Takes all locks or none. @returns false if one of them is held */
  take(keys: readonly string[]): boolean {
    for (const key of keys) if (!this.#isFree(key)) return false;
    for (const key of keys) {
      const lock = lockOf(key);
      this.#held.set(lock, { key, holders: (this.#held.get(lock)?.holders ?? 0) + 1 });
    }
    return true;
  }

  #isFree(key: string): boolean {
    const held = this.#held.get(lockOf(key));
    return !held || (held.key === key && key.endsWith(shared));
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
          const others = this.#waiting.get(lockOf(key));
          if (others?.delete(waiting) && others.size === 0) this.#waiting.delete(lockOf(key));
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
      for (const lock of keys.map(lockOf)) this.#waiting.set(lock, (this.#waiting.get(lock) ?? new Set()).add(waiting));
      if (this.take(keys)) waiting.admit();
    });
  }

  leave(keys: readonly string[]): void {
    for (const key of keys) this.#release(key);
    if (this.#waiting.size === 0) return;
    for (const key of keys) this.#admit(lockOf(key));
  }

  #release(key: string): void {
    const lock = lockOf(key);
    const { holders = 1 } = this.#held.get(lock) ?? {};
    if (holders > 1) this.#held.set(lock, { key, holders: holders - 1 });
    else this.#held.delete(lock);
  }

  /** Admits the first waiting callers that can take all their locks. */
  #admit(lock: string): void {
    for (const waiting of [...(this.#waiting.get(lock) ?? [])]) {
      if (this.#held.get(lock)?.key === lock) return;
      if (this.take(waiting.keys)) waiting.admit();
    }
  }
}
