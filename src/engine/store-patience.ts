/**
 * How long callers wait for a store that gives no answer: five seconds, or until their own limit. A store that answers
 * others meanwhile is slow, not away: who waits for that goes on waiting.
 */
import { onAbort, TimeOver } from '../abort.js';
import { messageOf, StagecraftError } from '../errors.js';
import { storeUnavailable } from './store-trouble.js';
import type { TimedStore } from './timed-store.js';
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
    unsubscribe = signal && onAbort(signal, (reason) => end((outcome) => givenUp(address, outcome, reason)));
    return stop;
  }

  /** What the work comes to. @throws StagecraftError STORE_UNAVAILABLE, ABORTED; what the work throws */
  answered<T>(wait: StoreWait & { outcome?: Outcome }, work: () => Promise<T>): Promise<T> {
    const { address, outcome = 'refused', signal } = wait;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw givenUp(address, 'refused', signal.reason);
      const stop = this.wait(wait, (failed) => reject(failed(outcome)));
      work().then(resolve, reject).finally(stop);
    });
  }
}

/** Where the limit of a caller came before the store's answer. */
export function givenUp(address: string, outcome: Outcome, reason: unknown): StagecraftError {
  if (reason instanceof TimeOver) return storeUnavailable(address, outcome, reason);
  const now = outcome === 'refused' ? 'nothing has changed' : 'the change may have happened: look at it again';
  const message = `given up before the store answered (${messageOf(reason)}); ${now}`;
  return new StagecraftError('ABORTED', message, { address, outcome, cause: reason });
}
