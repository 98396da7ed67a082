/** What the calls of the house are made with: the client that a dispenser gave, and how long an answer is waited for. */
import { type AbortSource, isAbortSource } from '../abort.js';
import type { CallBounds } from '../calls/call-bounds.js';
import type { CsiClient } from '../csi/client.js';
import type { CallOptions } from '../csi/csi-calls.js';

type Bounds = Pick<CallBounds, 'signal' | 'onAbort'>;

/** What a type's dispenser connects is for whoever gives it: the built-in one, and what takes its place, has these methods. */
export const csi = (client: unknown): CsiClient => client as CsiClient;

/** How the calls are made that have so long to answer. */
export const boundedBy =
  (timeoutMs: number) =>
  (bounds: Bounds): CallOptions =>
    isAbortSource(bounds) ? new Bounded(timeoutMs, bounds) : { timeoutMs, signal: bounds.signal };

/** Its signal is made only as it is looked at. */
class Bounded implements CallOptions {
  readonly timeoutMs: number;
  readonly #bounds: Pick<CallBounds, 'signal'> & AbortSource;

  constructor(timeoutMs: number, bounds: Pick<CallBounds, 'signal'> & AbortSource) {
    this.timeoutMs = timeoutMs;
    this.#bounds = bounds;
  }

  get signal(): AbortSignal {
    return this.#bounds.signal;
  }

  onAbort(callback: (reason: unknown) => void): () => void {
    return this.#bounds.onAbort(callback);
  }
}
