/**
 * How long callers wait for a store that gives no answer: five seconds, or until their own limit. A store that answers
 * others meanwhile is slow, not away: who waits for that goes on waiting.
 */
import { onAbort, TimeOver, unlessAborted } from '../../abort.js';
import { messageOf, StagecraftError } from '../../errors.js';
import type { ActorSystem } from '../actor-system.js';
import type { TimerHeap } from '../timer-heap.js';
import { storeUnavailable } from './store-trouble.js';
import { longMs, type TimedStore } from './timed-store.js';

export const patienceMs = 5_000;
/** How soon a caller of a slow store looks again whether it is away. */
const lookAgainMs = 500;

/** Outcome of a change that was asked for; of a read: `refused`. */
export type Outcome = 'refused' | 'unknown';
/** Makes the error for a wait in vain. */
export type Failed = (outcome: Outcome) => StagecraftError;

export interface StoreWait {
  /** Of the actor that is asked or read. */
  address: string;
  /** The caller's own limit. */
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
   * Calls back once the wait is in vain; the answer ends that. A caller that gives up while the store works takes nothing
   * back: what it asked for goes on.
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

  /** Before anything is asked. @throws StagecraftError STORE_UNAVAILABLE, ABORTED: given up while the store is away */
  refuseInVain({ address, signal }: StoreWait): void {
    const trouble = signal?.aborted ? this.#troubleFor(signal) : undefined;
    if (trouble) throw this.#failure({ address, signal }, 'refused', trouble);
  }

  /** Resolves with the result of the work. @throws StagecraftError STORE_UNAVAILABLE, ABORTED; what the work throws */
  answered<T>(wait: StoreWait & { outcome?: Outcome }, work: () => Promise<T>): Promise<T> {
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

  #failure({ address, signal }: StoreWait, outcome: Outcome, trouble: Error): StagecraftError {
    if (!signal?.aborted) return storeUnavailable(address, outcome, trouble);
    return givenUp({ address, outcome, reason: signal.reason }, this.#store);
  }
}

const limitIn = (reason: unknown): number | undefined => (reason instanceof TimeOver ? reason.timeoutMs : undefined);

/** A store that works may take so long for an answer, as for one write to a busy disk. */
const usualMs = 250;

/**
 * For how long the store has left a call unanswered where the store is why a caller's time is over. A caller with a shorter
 * limit than that can't know: its error is TIMEOUT.
 */
export const troubleMs = (timeoutMs = Number.POSITIVE_INFINITY): number =>
  Math.max(usualMs, Math.min(longMs, timeoutMs / 2));

/** Where the limit of a caller came before the store's answer. */
export function givenUp(
  { address, outcome, reason }: { address: string; outcome: Outcome; reason: unknown },
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
 * Reads within the limit of this caller, where other callers wait for the same read. Waits on for a store that works.
 * @throws StagecraftError as `givenUp`
 */
export async function readBefore<T>(
  {
    limit,
    address,
    engine,
  }: { limit: AbortSignal | undefined; address: string; engine: Pick<ActorSystem, 'storeTrouble'> },
  read: () => Promise<T>,
): Promise<T> {
  if (!limit) return read();
  const reading = read();
  try {
    return await unlessAborted(limit, () => reading);
  } catch (error) {
    if (!limit.aborted || error !== limit.reason) throw error;
    const trouble = engine.storeTrouble(troubleMs(limitIn(error)));
    if (!trouble) return await reading;
    reading.catch(() => {}); // those who wait for it hear of it
    throw givenUp({ address, outcome: 'refused', reason: error }, { trouble: () => trouble });
  }
}
