/**
 * How long callers wait for a store that gives no answer: five seconds, or until their own limit. A store that answers
 * others meanwhile is slow, not away: who waits for that goes on waiting.
 */
import { onAbort, TimeOver, unlessAborted } from '../abort.js';
import { messageOf, StagecraftError } from '../errors.js';
import { storeUnavailable } from './store-trouble.js';
import { longMs, type TimedStore } from './timed-store.js';
import type { TimerHeap } from './timer-heap.js';

export const patienceMs = 5_000;
/** How soon a caller of a slow store looks again whether it is away. */
const lookAgainMs = 500;

/** What has become of a change that was asked for; of a read: `refused`. */
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

  /** Calls back once the wait is in vain; the answer ends that. */
  wait({ address, signal }: StoreWait, inVain: (failed: Failed) => void): () => void {
    const look = (): void => {
      const trouble = this.#store.trouble();
      if (trouble === undefined) timer = this.#timers.after(lookAgainMs, look);
      else end((outcome) => storeUnavailable(address, outcome, trouble));
    };
    let timer = this.#timers.after(patienceMs, look);
    let unsubscribe: (() => void) | undefined;
    const stop = (): void => {
      this.#timers.cancel(timer);
      unsubscribe?.();
    };
    const end = (failed: Failed): void => {
      stop();
      inVain(failed);
    };
    unsubscribe =
      signal && onAbort(signal, (reason) => end((outcome) => givenUp({ address, outcome, reason }, this.#store)));
    return stop;
  }

  /** What the work comes to. @throws StagecraftError STORE_UNAVAILABLE, ABORTED; what the work throws */
  answered<T>(wait: StoreWait & { outcome?: Outcome }, work: () => Promise<T>): Promise<T> {
    const { address, outcome = 'refused', signal } = wait;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw givenUp({ address, outcome: 'refused', reason: signal.reason }, this.#store);
      const stop = this.wait(wait, (failed) => reject(failed(outcome)));
      work().then(resolve, reject).finally(stop);
    });
  }
}

/** For how long the store has left a call unanswered that is why a caller's time is over. */
export const troubleMs = (timeoutMs = Number.POSITIVE_INFINITY): number => Math.min(longMs, timeoutMs / 2);

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

/** What a read that others wait for, too, comes to within the limit of this caller. @throws StagecraftError as `givenUp` */
export async function readBefore<T>(
  limit: AbortSignal | undefined,
  address: string,
  read: () => Promise<T>,
): Promise<T> {
  if (!limit) return read();
  return unlessAborted(limit, read).catch((error: unknown) => {
    if (!limit.aborted || error !== limit.reason) throw error;
    throw givenUp({ address, outcome: 'refused', reason: error }, { trouble: () => new Error(messageOf(error)) });
  });
}
