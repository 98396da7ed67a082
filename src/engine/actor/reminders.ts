/**
 * Brings actors back that live in the store only, when one of their timers is due: what is due soon is known here,
 * what is due later stands in the store and is looked for now and then. No record is read for it.
 */

import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { pages } from '../storage/pages.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Store } from '../store.js';
import type { Timer, TimerHeap } from '../timer-heap.js';

/** How far ahead is looked, and how often. */
const windowMs = 300_000;
/** How soon it is looked again where the store could not say. */
const retryMs = 5_000;
const pageSize = 512;
/** How long it waits for what it wakes before it goes on. */
const patienceMs = 5_000;

export interface WakerOptions {
  store: Store;
  clock: Clock;
  timers: TimerHeap;
  troubles: TroubleLog;
  /** Brings an actor into memory; resolves when it is there. */
  wake(address: string): Promise<void>;
  /** Whether it is there, and wakes by itself. */
  isAwake(address: string): boolean;
}

export class Reminders {
  readonly #options: WakerOptions;
  readonly #armed = new Map<string, Timer>();
  /** Up to which moment all that is due is known. */
  #knownUntilMs = 0;
  #isStopped = false;

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

  /** Nothing is woken any more. */
  stop(): void {
    this.#isStopped = true;
    this.#options.troubles.abandon(this);
  }

  /** Wakes what is due under these prefixes, and goes on doing so. Resolves when what is due now is awake, or has had its time. */
  async watch(prefixes: string[]): Promise<void> {
    const { clock, timers, troubles } = this.#options;
    let nextMs = windowMs;
    try {
      for (const prefix of prefixes) await this.#look(prefix, clock.now() + 2 * windowMs);
      troubles.over(this);
    } catch (error) {
      nextMs = retryMs;
      const message = `the store can't say now what is due: ${messageOf(error)}`;
      if (!this.#isStopped) troubles.failed(this, { subject: storeSubject, message });
    }
    if (this.#isStopped) return;
    timers.after(nextMs, () => void this.watch(prefixes));
  }

  async #look(prefix: string, untilMs: number): Promise<void> {
    const { store, clock, wake, isAwake } = this.#options;
    this.#knownUntilMs = untilMs;
    let waking: Promise<void>[] = [];
    for await (const { address, wakeAtMs } of pages((after) =>
      store.due({ prefix, untilMs, limit: pageSize, ...after }),
    )) {
      if (this.#isStopped) return;
      // What it armed as it left memory is newer than this page.
      if (isAwake(address) || this.#armed.has(address)) continue;
      if (wakeAtMs > clock.now()) this.arm(address, wakeAtMs);
      else waking.push(wake(address));
      if (waking.length < pageSize) continue;
      await this.#awaited(waking);
      waking = [];
    }
    await this.#awaited(waking);
  }

  /** Those that can't come, since the store doesn't let them, hold the others up for a while only. */
  async #awaited(waking: Promise<void>[]): Promise<void> {
    const awake = new AbortController();
    void Promise.all(waking).then(() => awake.abort());
    await pause(this.#options.clock, patienceMs, awake.signal);
  }
}
