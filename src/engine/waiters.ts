/** Those who wait until something is so, by the address that it concerns: of them, a commit concerns few. */
import { onAbort, TimeOver } from '../abort.js';
import type { Clock } from './clock.js';

export interface WaitLimits {
  clock: Clock;
  /** Default: as long as it takes. */
  timeoutMs?: number;
  signal?: AbortSignal | undefined;
  /** The error for a wait in vain. */
  failed(code: 'TIMEOUT' | 'ABORTED', why: string): Error;
}

const givenUp = 'the wait was given up';

export class Waiters {
  readonly #looks = new Map<string, Set<() => void>>();

  /** At how many addresses somebody waits. */
  get size(): number {
    return this.#looks.size;
  }

  /** Calls `look` whenever something may be new at the address; the answer ends it. */
  add(address: string, look: () => void): () => void {
    const looks = this.#looks.get(address) ?? new Set();
    this.#looks.set(address, looks.add(look));
    return () => {
      if (looks.delete(look) && looks.size === 0) this.#looks.delete(address);
    };
  }

  /**
   * Resolves once it is reached; leaves nothing behind, however it ends.
   * @param reached what is waited for; absent while it is not there. What it throws ends the wait
   */
  until<T>(address: string, reached: () => T | undefined, limits?: WaitLimits): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      let unsubscribe: (() => void) | undefined;
      const end = (settle: () => void): void => {
        isOver = true;
        stop();
        cancel?.();
        unsubscribe?.();
        settle();
      };
      // Whatever is thrown ends the wait, also where it is called by a timer or a signal.
      const attempt = (find: () => T | undefined): void => {
        try {
          const found = find();
          if (found !== undefined) end(() => resolve(found));
        } catch (error) {
          end(() => reject(error));
        }
      };
      const look = (): void => attempt(reached);
      const inVain = (code: 'TIMEOUT' | 'ABORTED', why: string): void =>
        attempt(() => {
          throw limits?.failed(code, why);
        });
      const aborted = (reason: unknown): void =>
        reason instanceof TimeOver ? inVain('TIMEOUT', reason.message) : inVain('ABORTED', givenUp);
      const late = (): void => inVain('TIMEOUT', `${limits?.timeoutMs} ms have passed`);
      const stop = this.add(address, look);
      const cancel = limits?.timeoutMs === undefined ? undefined : limits.clock.after(limits.timeoutMs, late);
      unsubscribe = limits?.signal && onAbort(limits.signal, aborted);
      if (!isOver) look();
    });
  }

  wake(address: string): void {
    const looks = this.#looks.get(address);
    if (looks) for (const look of [...looks]) look();
  }

  wakeAll(): void {
    for (const address of [...this.#looks.keys()]) this.wake(address);
  }
}
