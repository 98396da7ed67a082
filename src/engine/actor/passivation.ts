/**
 * Actors that leave memory: which ones do (IdleActors), the facts that are kept of them (PassivatedActors), and when their timers
 * wake them (Reminders). Reads no record.
 */
import { messageOf } from '../../errors.js';
import { type Clock, pause } from '../clock.js';
import { OldestFirst } from '../oldest-first.js';
import { pages } from '../storage/pages.js';
import { storeSubject, type TroubleLog } from '../storage/trouble-log.js';
import type { Store } from '../store.js';
import type { Timer, TimerHeap } from '../timer-heap.js';
import type { ActorState } from './step-result.js';

export interface Departed {
  address: string;
  commitId: string;
  seq: number;
  /** State of a deleted actor; absent for an actor that lives in the store. */
  tombstone?: ActorState;
}

const mostDeleted = 10_000;

/**
 * Facts about actors that have left memory: enough to notice that the store has lost their commits, and to write a lost
 * deletion again. Keeps all living actors, but only the latest deleted ones.
 */
export class PassivatedActors {
  readonly #living = new Map<string, Departed>();
  readonly #deleted = new OldestFirst<string, Departed>();

  add(departed: Departed): void {
    const { address, tombstone, seq } = departed;
    if (seq === 0) return; // the actor never existed
    if (!tombstone) {
      this.#living.set(address, departed);
      return;
    }
    this.#deleted.add(address, departed);
    const { oldest } = this.#deleted;
    if (this.#deleted.size > mostDeleted && oldest !== undefined) this.#deleted.delete(oldest);
  }

  /** Removes and returns the facts about an actor that is back in memory. */
  take(address: string): Departed | undefined {
    const departed = this.#living.get(address) ?? this.#deleted.get(address);
    this.#living.delete(address);
    this.#deleted.delete(address);
    return departed;
  }

  addresses(): string[] {
    return [...this.#living.keys(), ...this.#deleted.keys()];
  }
}

/**
 * Idle actors in memory, in the order in which they came to rest. Removes the oldest ones when their records need too
 * much room.
 */
export class IdleActors<Actor extends { readonly bytes: number }> {
  readonly #limitBytes: number;
  readonly #leave: (actor: Actor) => void;
  /** Size of each actor's record in bytes, oldest first. */
  readonly #bytes = new OldestFirst<Actor, number>();
  #total = 0;

  /**
   * @param limitBytes limit for the total size of the records, as text
   * @param leave called for each actor that must leave
   */
  constructor(limitBytes: number, leave: (actor: Actor) => void) {
    this.#limitBytes = limitBytes;
    this.#leave = leave;
  }

  add(actor: Actor): void {
    this.delete(actor);
    this.#bytes.add(actor, actor.bytes);
    this.#total += actor.bytes;
    if (this.#total > this.#limitBytes) this.#makeRoom();
  }

  delete(actor: Actor): void {
    this.#total -= this.#bytes.get(actor) ?? 0;
    this.#bytes.delete(actor);
  }

  #makeRoom(): void {
    for (let actor = this.#bytes.oldest; actor && this.#total > this.#limitBytes; actor = this.#bytes.oldest) {
      this.delete(actor);
      this.#leave(actor);
    }
  }
}

/** Interval of the questions to the store; each asks for twice as far ahead. */
const windowMs = 300_000;
/** Pause after a question that the store could not answer. */
const retryMs = 5_000;
const pageSize = 512;
/** Longest wait for actors that are being woken. */
const patienceMs = 5_000;

interface WakerOptions {
  store: Store;
  clock: Clock;
  timers: TimerHeap;
  troubles: TroubleLog;
  /** Loads an actor into memory; resolves once it is loaded. */
  wake(address: string): Promise<void>;
  /** Tells whether the actor is in memory, where its own timers run. */
  isAwake(address: string): boolean;
}

/**
 * Wakes passivated actors when their timers are due. Timers due soon are armed in memory; later ones are found by
 * asking the store again from time to time. Reads no record.
 */
export class Reminders {
  readonly #options: WakerOptions;
  readonly #armed = new Map<string, Timer>();
  /** Moment up to which all due timers are known. */
  #knownUntilMs = 0;
  #isStopped = false;

  constructor(options: WakerOptions) {
    this.#options = options;
  }

  /** Called as an actor with a timer due at `atMs` leaves memory. */
  arm(address: string, atMs: number): void {
    if (atMs > this.#knownUntilMs) return; // the next question finds it
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

  stop(): void {
    this.#isStopped = true;
    this.#options.troubles.abandon(this);
  }

  /**
   * Wakes actors under these prefixes as they become due, until `stop`. Resolves once actors due now are awake, or took
   * too long.
   */
  async watch(prefixes: string[]): Promise<void> {
    const { clock, timers, troubles } = this.#options;
    let nextMs = windowMs;
    try {
      for (const prefix of prefixes) await this.#look(prefix, clock.now() + 2 * windowMs);
      troubles.over(this);
    } catch (error) {
      nextMs = retryMs;
      const message = `the store cannot list due timers now: ${messageOf(error)}`;
      if (!this.#isStopped) troubles.failed(this, { subject: storeSubject, message, cause: error });
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
      // A timer armed as the actor left memory is newer than this page.
      if (isAwake(address) || this.#armed.has(address)) continue;
      if (wakeAtMs > clock.now()) this.arm(address, wakeAtMs);
      else waking.push(wake(address));
      if (waking.length < pageSize) continue;
      await this.#awaited(waking);
      waking = [];
    }
    await this.#awaited(waking);
  }

  /** Limits the wait: an actor that the store does not load must not hold up the others for ever. */
  async #awaited(waking: Promise<void>[]): Promise<void> {
    const awake = new AbortController();
    void Promise.all(waking).then(() => awake.abort());
    await pause(this.#options.clock, patienceMs, awake.signal);
  }
}
