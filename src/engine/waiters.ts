/** Waits for conditions, indexed by address: a commit wakes only the waits at its address. */
import { onAbort, TimeOver } from '../abort.js';
import type { Clock } from './clock.js';

export interface WaitLimits {
  clock: Clock;
  /** Default: no limit. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Makes the error of a wait that ended without its condition. */
  failed(code: 'TIMEOUT' | 'ABORTED', why: string): Error;
}

const givenUp = 'the wait was given up';

export class Waiters {
  readonly #looks = new Map<string, Set<() => void>>();

  /** Number of addresses with at least one wait. */
  get size(): number {
    return this.#looks.size;
  }

  /** Calls `look` whenever the address may have changed. @returns a function that unsubscribes */
  add(address: string, look: () => void): () => void {
    const looks = this.#looks.get(address) ?? new Set();
    this.#looks.set(address, looks.add(look));
    return () => {
      if (looks.delete(look) && looks.size === 0) this.#looks.delete(address);
    };
  }

  /**
   * Resolves with the first result of `reached`. Removes its timers and listeners however it ends.
   * @param reached returns undefined until the condition holds; an exception ends the wait
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
      // A timer or a signal calls this too: an exception must end the wait, not the process.
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
