/** Options of calls: the client from a dispenser, and the limit of an answer. */
import { type AbortSource, isAbortSource, SignalOnDemand } from '../abort.js';
import type { CallBounds } from '../calls/call-bounds.js';
import type { CsiClient } from '../csi/client.js';
import type { CallOptions } from '../csi/csi-calls.js';

type Bounds = Pick<CallBounds, 'signal' | 'onAbort'>;

/** The dispenser's client as a CsiClient: the built-in dispenser, and any that replaces it, has these methods. */
export const csi = (client: unknown): CsiClient => client as CsiClient;

/** Makes the options of a call with this limit. */
export const boundedBy =
  (timeoutMs: number) =>
  (bounds: Bounds): CallOptions =>
    isAbortSource(bounds) ? new Bounded(timeoutMs, bounds) : { timeoutMs, signal: bounds.signal };

class Bounded extends SignalOnDemand implements CallOptions {
  readonly timeoutMs: number;

  constructor(timeoutMs: number, bounds: Bounds & AbortSource) {
    super(bounds);
    this.timeoutMs = timeoutMs;
  }
}
