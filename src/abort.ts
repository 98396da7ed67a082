/**
 * Listens to signals for many who wait at once: one listener on each signal, however many wait for it, as Node warns of
 * more than ten. The only file that adds a listener to a signal: a listener of a signal that has fired is never called.
 */

type Callback = (reason: unknown) => void;

const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/** What can be given up: a signal, or a run of an effect, which makes a signal only for those who need one. */
export type Abortable = AbortSignal | AbortSource;

export interface AbortSource {
  /** Calls back once, with the reason, when it is given up, at once where it was before; the answer ends that. */
  onAbort(callback: Callback): () => void;
}

export const isAbortSource = <T extends Partial<AbortSource>>(one: T): one is T & AbortSource =>
  one.onAbort !== undefined;

/** Calls back once, with the reason, when it is given up, at once where it was before; the answer ends that. */
export function onAbort(abortable: Abortable, callback: Callback): () => void {
  if (!(abortable instanceof AbortSignal)) return abortable.onAbort(callback);
  if (!abortable.aborted) return whenAborted(abortable, callback);
  callback(abortable.reason);
  return () => {};
}

/** The reason of a signal that ends a request because its time is over. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';

  constructor(readonly timeoutMs: number) {
    super(`${timeoutMs} ms have passed`);
  }
}

/** Throws what `failed` makes of the reason where it was given up already. */
export function refuseAborted(abortable: Abortable, failed: (reason: unknown) => Error): void {
  let error: Error | undefined;
  const unsubscribe = onAbort(abortable, (reason) => {
    error = failed(reason);
  });
  unsubscribe();
  if (error) throw error;
}

/** Asks, until the signal is aborted: rejects with its reason then. */
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
  // Skips a callback that an earlier callback has ended.
  for (const callback of callbacks) callback(this.reason);
}

function forget(signal: AbortSignal): void {
  waiting.delete(signal);
  signal.removeEventListener('abort', callAll);
}

/** Resolves once the signal is aborted: for work that lasts until then and does nothing meanwhile. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
