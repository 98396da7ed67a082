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

export const isAbortSource = <T extends Partial<AbortSource>>(one: T): one is T & AbortSource =>
  one.onAbort !== undefined;

/** Calls back once with the reason when aborted; at once if aborted before. @returns a function that unsubscribes */
export function onAbort(abortable: Abortable, callback: Callback): () => void {
  if (!(abortable instanceof AbortSignal)) return abortable.onAbort(callback);
  if (!abortable.aborted) return whenAborted(abortable, callback);
  callback(abortable.reason);
  return () => {};
}

/** Abort reason of a request whose time limit has passed. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';

  constructor(readonly timeoutMs: number) {
    super(`${timeoutMs} ms have passed`);
  }
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

/** Resolves with the result of `ask`; rejects with the reason once the signal is aborted. */
export async function unlessAborted<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let unsubscribe = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      unsubscribe = onAbort(signal, reject);
      ask().then(resolve, reject);
    });
  } finally {
    unsubscribe();
  }
}

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
