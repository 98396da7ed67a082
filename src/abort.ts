/**
 * Hears signals for many who wait at once: one listener on each signal, however many wait for it, as Node warns of more
 * than ten.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back once, when the signal is aborted; the answer ends that. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = waiting.get(signal) ?? new Set();
  if (callbacks.size === 0) {
    waiting.set(signal, callbacks);
    signal.addEventListener('abort', hear);
  }
  // One of its own: the same may be given twice.
  const call = (): void => callback();
  callbacks.add(call);
  return () => {
    callbacks.delete(call);
    if (callbacks.size === 0 && waiting.get(signal) === callbacks) forget(signal);
  };
}

/** What can be given up: a signal, or a run of an effect, which makes a signal only for those who need one. */
export type Abortable = AbortSignal | Hearable;

export interface Hearable {
  /** Calls back once, with the reason, when it is given up, at once where it was before; the answer ends that. */
  onAbort(callback: (reason: unknown) => void): () => void;
}

export const isHearable = <T extends Partial<Hearable>>(one: T): one is T & Hearable => one.onAbort !== undefined;

/** Calls back once, with the reason, when it is given up, at once where it was before; the answer ends that. */
export function heed(abortable: Abortable, callback: (reason: unknown) => void): () => void {
  if (!(abortable instanceof AbortSignal)) return abortable.onAbort(callback);
  const call = (): void => callback(abortable.reason);
  if (!abortable.aborted) return onAbort(abortable, call);
  call();
  return () => {};
}

/** Throws what `failed` makes of the reason where it was given up already. */
export function refuseAborted(abortable: Abortable, failed: (reason: unknown) => Error): void {
  let error: Error | undefined;
  if (!(abortable instanceof AbortSignal)) {
    abortable.onAbort((reason) => {
      error = failed(reason);
    })();
  } else if (abortable.aborted) error = failed(abortable.reason);
  if (error) throw error;
}

function hear(this: AbortSignal): void {
  const callbacks = waiting.get(this) ?? [];
  forget(this);
  // One that is ended by another of them is not called.
  for (const callback of callbacks) callback();
}

function forget(signal: AbortSignal): void {
  waiting.delete(signal);
  signal.removeEventListener('abort', hear);
}

/** Asks, until the signal is aborted: rejects with its reason then. */
export async function unlessAborted<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let ended = (): void => {};
  try {
    return await new Promise((resolve, reject) => {
      ended = () => reject(signal.reason);
      signal.addEventListener('abort', ended);
      ask().then(resolve, reject);
    });
  } finally {
    signal.removeEventListener('abort', ended);
  }
}
