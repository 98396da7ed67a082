/**
 * Brings actors back that live in the store only, when one of their timers is due: what is due soon is known here,
 * what is due later stands in the store and is looked for now and then. No record is read for it.
 */

import { messageOf } from '../errors.js';
import type { Clock } from './clock.js';
import type { Logger } from './logger.js';
import { pages } from './pages.js';
import type { Store } from './store.js';
import type { Timer, TimerHeap } from './timer-heap.js';

/** How far ahead is looked, and how often. */
const windowMs = 300_000;
/** How soon it is looked again where the store could not say. */
const retryMs = 5_000;
const pageSize = 512;

export interface WakerOptions {
  store: Store;
  clock: Clock;
  timers: TimerHeap;
  logger: Logger;
  /** Brings an actor into memory; resolves when it is there. */
  wake(address: string): Promise<void>;
  /** Whether it is there, and wakes by itself. */
  isAwake(address: string): boolean;
}

export class Waker {
  readonly #options: WakerOptions;
  readonly #armed = new Map<string, Timer>();
  /** Up to which moment all that is due is known. */
  #knownUntilMs = 0;

  constructor(options: WakerOptions) {
    this.#options = options;
  }

  /** An actor leaves memory, and has something to do at that moment. */
  arm(address: string, atMs: number): void {
    if (atMs > this.#knownUntilMs) return; // the next look finds it
    const { clock, timers, wake } = this.#options;
    this.disarm(address);
    const fire = (): void => {
      this.#armed.delete(address);
      void wake(address);
    };
    this.#armed.set(address, timers.after(atMs - clock.now(), fire));
  }

  disarm(address: string): void {
    const timer = this.#armed.get(address);
    if (!timer) return;
    this.#options.timers.cancel(timer);
    this.#armed.delete(address);
  }

  /** Wakes what is due under these prefixes, and goes on doing so. Resolves when all is awake that is due now. */
  async watch(prefixes: string[]): Promise<void> {
    const { clock, timers, logger } = this.#options;
    let nextMs = windowMs;
    try {
      for (const prefix of prefixes) await this.#look(prefix, clock.now() + 2 * windowMs);
    } catch (error) {
      nextMs = retryMs;
      logger.warn({}, `the store can't say now what is due: ${messageOf(error)}`);
    }
    timers.after(nextMs, () => void this.watch(prefixes));
  }

  async #look(prefix: string, untilMs: number): Promise<void> {
    const { store, clock, wake, isAwake } = this.#options;
    this.#knownUntilMs = untilMs;
    let waking: Promise<void>[] = [];
    for await (const { address, wakeAtMs } of pages((after) =>
      store.due({ prefix, untilMs, limit: pageSize, ...after }),
    )) {
      if (isAwake(address)) continue;
      if (wakeAtMs > clock.now()) this.arm(address, wakeAtMs);
      else waking.push(wake(address));
      if (waking.length < pageSize) continue;
      await Promise.all(waking);
      waking = [];
    }
    await Promise.all(waking);
  }
}
