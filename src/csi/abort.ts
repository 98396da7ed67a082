/**
 * Hears signals for many calls at once: one listener on each signal, however many wait for it, as Node warns of more
 * than ten.
 */

const waiting = new Map<AbortSignal, Set<() => void>>();

/** Calls back when the signal is aborted; the answer ends that. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = waiting.get(signal) ?? new Set();
  if (callbacks.size === 0) {
    waiting.set(signal, callbacks);
    signal.addEventListener('abort', hear);
  }
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', hear);
  };
}

function hear(this: AbortSignal): void {
  for (const callback of [...(waiting.get(this) ?? [])]) callback();
}
