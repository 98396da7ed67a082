/** Limits of a call to a plugin, with its secrets. */
import type { SecretRef } from '../../machines/kit/csi-types.js';
import type { AbortSource } from '../abort.js';

export interface CallBounds {
  secrets: Record<string, string>;
  signal: AbortSignal;
  /** Same as the signal; avoids making a signal. */
  onAbort?: AbortSource['onAbort'];
  /** For a call that another agent makes, which checks these again and resolves the secrets itself. */
  far?: FarBounds;
}

export interface FarBounds {
  secrets: Record<string, SecretRef>;
  /** CSI ids of the volumes concerned (`Work.volumes`). */
  volumes: readonly string[];
  /** Home of the volume, and the driver that made it; undefined: not known, or none. */
  home?: string | undefined;
  driver?: string | undefined;
}

const mostSlackMs = 5_000;

/**
 * Milliseconds after which an effect with such calls ends: later than the deadline of the call itself, whose error says
 * more.
 * @param startMs longest time from the request to its arrival at the plugin, where another agent may make the call
 */
export const givenUpAfterMs = (timeoutMs: number, { calls = 1, startMs = 0 } = {}): number =>
  calls * (startMs + timeoutMs) + Math.min(timeoutMs, mostSlackMs);
