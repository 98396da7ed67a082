/**
 * Waits on abort signals with one listener per signal, however many callers wait: Node warns of more than ten
 * listeners. No other file may add a listener to a signal.
 */

type Callback = (reason: unknown) => void;

const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/** Source of an abort: a signal, or a run of an effect, which makes a signal only on demand. */
export type Abortable = AbortSignal | AbortSource;

export interface AbortSource {
  /** Calls back once with the reason when aborted; at once if aborted before. @returns a function that unsubscribes */
  onAbort(callback: Callback): () => void;
}

/** Passes on the end of its source, whose signal is made only for those who read it. */
export class SignalOnDemand implements AbortSource {
  readonly #source: AbortSource & { readonly signal: AbortSignal };

  constructor(source: AbortSource & { readonly signal: AbortSignal }) {
    this.#source = source;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
  }

  onAbort(callback: Callback): () => void {
    return this.#source.onAbort(callback);
  }
}

export const isAbortSource = <T extends Partial<AbortSource>>(one: T): one is T & AbortSource =>
  one.onAbort !== undefined;

/** Calls back once with the reason when aborted; at once if aborted before. @returns a function that unsubscribes */
export function onAbort(abortable: Abortable, callback: Callback): () => void {
  if (!(abortable instanceof AbortSignal)) return abortable.onAbort(callback);
  if (!abortable.aborted) return whenAborted(abortable, callback);
  callback(abortable.reason);
  return () => {};
}

/** Throws the error that `failed` makes of the reason if the source is already aborted. */
export function refuseAborted(abortable: Abortable, failed: (reason: unknown) => Error): void {
  let error: Error | undefined;
  const unsubscribe = onAbort(abortable, (reason) => {
    error = failed(reason);
  });
  unsubscribe();
  if (error) throw error;
}

/** The same source, with another reason. */
export const abortedAs = (abortable: Abortable, reasonOf: (reason: unknown) => Error): AbortSource => ({
  onAbort: (callback) => onAbort(abortable, (reason) => callback(reasonOf(reason))),
});

/** Resolves with the result of the work; rejects with the reason once aborted: nobody waits for the work then. */
export const unlessAborted = <T>(abortable: Abortable, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const unsubscribe = onAbort(abortable, reject);
    work.then(
      (result) => {
        unsubscribe();
        resolve(result);
      },
      (error: unknown) => {
        unsubscribe();
        reject(error);
      },
    );
  });

function whenAborted(signal: AbortSignal, callback: Callback): () => void {
  const callbacks = waiting.get(signal) ?? new Set();
  if (callbacks.size === 0) {
    waiting.set(signal, callbacks);
    signal.addEventListener('abort', callAll);
  }
  // Wraps the callback: a caller may give the same callback twice.
  const call: Callback = (reason) => callback(reason);
  callbacks.add(call);
  return () => {
    callbacks.delete(call);
    if (callbacks.size === 0 && waiting.get(signal) === callbacks) forget(signal);
  };
}

function callAll(this: AbortSignal): void {
  const callbacks = waiting.get(this) ?? [];
  forget(this);
  // Skips a callback that an earlier callback has unsubscribed.
  for (const callback of callbacks) callback(this.reason);
}

function forget(signal: AbortSignal): void {
  waiting.delete(signal);
  signal.removeEventListener('abort', callAll);
}

/** Resolves once the signal is aborted. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
