/** Delay before a repeat: doubles from `initialMs` up to `maxMs`, with full jitter. */
export interface BackoffPolicy {
  initialMs: number;
  maxMs: number;
}

export const defaultBackoff: BackoffPolicy = { initialMs: 100, maxMs: 300_000 };

/**
 * @param attempt failed attempts so far, at least 1
 * @param random uniform in [0, 1); the same numbers give the same delay
 * @returns milliseconds in [0, min(maxMs, initialMs·2^(attempt−1)))
 */
export function jittered({ initialMs, maxMs }: BackoffPolicy, attempt: number, random: number): number {
  // 2^1023 is the last finite power: the clamp comes before the multiplication can overflow.
  const doublings = Math.min(Math.max(attempt, 1) - 1, 60);
  return Math.floor(Math.min(initialMs * 2 ** doublings, maxMs) * random);
}

/**
 * Moment when work is due, in milliseconds since the epoch. A wait whose beginning lies in the future is over: the
 * clock was set back and would lengthen the wait by as much.
 */
export function dueAtMs(tries: { notBeforeMs: number; sinceMs?: number } | undefined, nowMs: number): number {
  if (!tries || (tries.sinceMs !== undefined && nowMs < tries.sinceMs)) return 0;
  return tries.notBeforeMs;
}
