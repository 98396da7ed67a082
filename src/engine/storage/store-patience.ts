/**
 * Limits how long callers wait for a silent store: five seconds, or the caller's own limit. A store that answers other
 * calls is slow, not away; callers go on waiting for a slow store. Has the errors that these callers get.
 */
import { onAbort, unlessAborted } from '../../abort.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { ActorSystem } from '../actor-system.js';
import type { Clock } from '../clock.js';
import { TimeOver } from '../deadline.js';
import type { TimerHeap } from '../timer-heap.js';
import { longMs, type TimedStore } from './timed-store.js';

export const patienceMs = 5_000;
/** Pause before a caller of a slow store checks again whether the store is away. */
const lookAgainMs = 500;

/** Outcome of a requested change; a read is always `refused`. */
export type StoreOutcome = 'refused' | 'unknown';
/** Makes the error for a wait that failed. */
export type Failed = (outcome: StoreOutcome) => StagecraftError;

export interface StoreWait {
  /** Address of the actor that is asked or read. */
  address: string;
  signal?: AbortSignal | undefined;
}

export class StorePatience {
  readonly #store: Pick<TimedStore, 'trouble'>;
  readonly #timers: TimerHeap;

  constructor(store: Pick<TimedStore, 'trouble'>, timers: TimerHeap) {
    this.#store = store;
    this.#timers = timers;
  }

  /**
   * Calls back once the wait has failed. A caller that stops waiting withdraws nothing: its request goes on.
   * @returns a function that ends the wait
   */
  wait({ address, signal }: StoreWait, inVain: (failed: Failed) => void): () => void {
    const look = (): void => {
      const trouble = this.#troubleFor(signal);
      if (trouble === undefined) timer = this.#timers.after(signal?.aborted ? usualMs : lookAgainMs, look);
      else end((outcome) => this.#failure({ address, signal }, outcome, trouble));
    };
    let timer = this.#timers.after(signal?.aborted ? usualMs : patienceMs, look);
    let unsubscribe: (() => void) | undefined;
    const stop = (): void => {
      this.#timers.cancel(timer);
      unsubscribe?.();
    };
    const end = (failed: Failed): void => {
      stop();
      inVain(failed);
    };
    if (signal && !signal.aborted)
      unsubscribe = onAbort(signal, () => {
        this.#timers.cancel(timer);
        look();
      });
    return stop;
  }

  /**
   * Refuses a request before it is sent, if its caller has given up and the store is away.
   * @throws {StagecraftError} STORE_UNAVAILABLE, ABORTED
   */
  refuseInVain({ address, signal }: StoreWait): void {
    const trouble = signal?.aborted ? this.#troubleFor(signal) : undefined;
    if (trouble) throw this.#failure({ address, signal }, 'refused', trouble);
  }

  /**
   * Resolves with the result of the work. @throws {StagecraftError} STORE_UNAVAILABLE, ABORTED; and the errors of the
   * work
   */
  answered<T>(wait: StoreWait & { outcome?: StoreOutcome }, work: () => Promise<T>): Promise<T> {
    const { outcome = 'refused' } = wait;
    return new Promise((resolve, reject) => {
      this.refuseInVain(wait);
      const stop = this.wait(wait, (failed) => reject(failed(outcome)));
      work().then(resolve, reject).finally(stop);
    });
  }

  #troubleFor(signal: AbortSignal | undefined): Error | undefined {
    return signal?.aborted ? this.#store.trouble(troubleMs(limitIn(signal.reason))) : this.#store.trouble();
  }

  #failure({ address, signal }: StoreWait, outcome: StoreOutcome, trouble: Error): StagecraftError {
    if (!signal?.aborted) return storeUnavailable(address, outcome, trouble);
    return waitGivenUp({ address, outcome, reason: signal.reason }, this.#store);
  }
}

const limitIn = (reason: unknown): number | undefined => (reason instanceof TimeOver ? reason.timeoutMs : undefined);

/** Time that a working store may need for one answer, as for a write to a busy disk. */
const usualMs = 250;

/**
 * Milliseconds of silence after which the store is the reason for a caller's timeout. A caller with a shorter limit
 * cannot know the reason: its error is TIMEOUT.
 */
export const troubleMs = (timeoutMs = Number.POSITIVE_INFINITY): number =>
  Math.max(usualMs, Math.min(longMs, timeoutMs / 2));

/** Makes the error for a caller whose limit came before the store's answer. */
export function waitGivenUp(
  { address, outcome, reason }: { address: string; outcome: StoreOutcome; reason: unknown },
  store: Pick<TimedStore, 'trouble'>,
): StagecraftError {
  const isLate = reason instanceof TimeOver;
  const trouble = isLate ? store.trouble(troubleMs(reason.timeoutMs)) : undefined;
  if (trouble) return storeUnavailable(address, outcome, trouble);
  const now = outcome === 'refused' ? 'nothing has changed' : 'the change may have happened: look at it again';
  const why = isLate ? reason.message : `given up (${messageOf(reason)})`;
  const message = `${why} before the store answered; ${now}`;
  return new StagecraftError(isLate ? 'TIMEOUT' : 'ABORTED', message, { address, outcome, cause: reason });
}

/**
 * Reads within the limit of one caller, while others share the same read. Goes on waiting for a store that works.
 * @throws {StagecraftError} as `waitGivenUp`
 */
export async function readBefore<T>({ limit, address, engine, clock }: SharedRead, read: () => Promise<T>): Promise<T> {
  if (!limit) return read();
  const reading = read();
  try {
    return await unlessAborted(limit, reading);
  } catch (error) {
    if (!limit.aborted || error !== limit.reason) throw error;
    return await new Promise((resolve, reject) => {
      let cancel = (): void => {};
      const look = (): void => {
        const trouble = engine.storeTrouble(troubleMs(limitIn(error)));
        if (trouble) reject(waitGivenUp({ address, outcome: 'refused', reason: error }, { trouble: () => trouble }));
        else cancel = clock.after(usualMs, look);
      };
      look();
      reading.then(resolve, reject).finally(() => cancel());
    });
  }
}

interface SharedRead {
  limit: AbortSignal | undefined;
  address: string;
  engine: Pick<ActorSystem, 'storeTrouble'>;
  clock: Clock;
}

/** @param outcome `refused`: nothing has changed; `unknown`: the write may have happened, and is retried while no other runtime takes over */
export const storeUnavailable = (address: string, outcome: 'refused' | 'unknown', cause: unknown): StagecraftError =>
  new StagecraftError(
    'STORE_UNAVAILABLE',
    outcome === 'refused'
      ? `the store takes nothing now (${messageOf(cause)}); nothing has changed: ask again later`
      : `the store gave no answer (${messageOf(cause)}); the change may have happened: look at the state once the store answers, or ask again`,
    { address, outcome, cause },
  );

/** @throws {StagecraftError} the error of the call, or else STORE_UNAVAILABLE: nothing has changed */
export async function answered<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (cause instanceof StagecraftError) throw cause;
    throw new StagecraftError('STORE_UNAVAILABLE', `${what}: ${messageOf(cause)}`, { outcome: 'refused', cause });
  }
}
