/** Waits for conditions, indexed by address: a commit wakes only the waits at its address. */
import { onAbort } from '../abort.js';
import type { Clock } from './clock.js';
import { TimeOver } from './deadline.js';

interface WaitLimits {
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
    return new Promise((resolve, reject) => new PendingWait({ reached, resolve, reject, limits }).begin(this, address));
  }

  wake(address: string): void {
    const looks = this.#looks.get(address);
    if (looks) for (const look of [...looks]) look();
  }

  wakeAll(): void {
    for (const address of [...this.#looks.keys()]) this.wake(address);
  }
}

interface WaitParts<T> {
  reached(): T | undefined;
  resolve(value: T): void;
  reject(error: unknown): void;
  limits: WaitLimits | undefined;
}

/** Wait that is under way. */
class PendingWait<T> {
  readonly #parts: WaitParts<T>;
  readonly #look = (): void => this.#attempt(this.#parts.reached);
  #isOver = false;
  #stop: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(parts: WaitParts<T>) {
    this.#parts = parts;
  }

  begin(waiters: Waiters, address: string): void {
    const { clock, timeoutMs, signal } = this.#parts.limits ?? {};
    this.#stop = waiters.add(address, this.#look);
    if (clock && timeoutMs !== undefined)
      this.#cancel = clock.after(timeoutMs, () => this.#inVain('TIMEOUT', `${timeoutMs} ms have passed`));
    if (signal) this.#unsubscribe = onAbort(signal, (reason) => this.#aborted(reason));
    if (this.#isOver) this.#unsubscribe?.();
    else this.#look();
  }

  /** A timer or a signal calls this too: an exception must end the wait, not the process. */
  #attempt(find: () => T | undefined): void {
    try {
      const found = find();
      if (found === undefined) return;
      this.#end();
      this.#parts.resolve(found);
    } catch (error) {
      this.#end();
      this.#parts.reject(error);
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#stop?.();
    this.#cancel?.();
    this.#unsubscribe?.();
  }

  #aborted(reason: unknown): void {
    if (reason instanceof TimeOver) this.#inVain('TIMEOUT', reason.message);
    else this.#inVain('ABORTED', givenUp);
  }

  #inVain(code: 'TIMEOUT' | 'ABORTED', why: string): void {
    this.#attempt(() => {
      throw this.#parts.limits?.failed(code, why);
    });
  }
}
