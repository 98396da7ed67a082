/** Migrates waits for plugins, as version 1 of the machines recorded them, to states of their own. Pure. */
import type { StateValue } from 'xstate';
import type { Awaiting } from '../../machines/kit/csi-types.js';

/** Wait of version 1: the effect of the call waited, and this field described the wait. */
export type OldAwaiting = Omit<Awaiting, 'for'>;

/** Converts a wait of version 1. The admission finds the present reason later. */
export const waitOf = (awaiting: OldAwaiting | null): Awaiting | null => awaiting && { ...awaiting, for: 'plugin' };

/**
 * Converts `{ 'pending-publish': 'calling' }` to `{ 'pending-publish': 'waiting-for-plugin' }`: the same work, its call
 * not made.
 */
export function asWaiting(value: StateValue): StateValue {
  if (typeof value === 'string') return value;
  return Object.fromEntries(
    Object.entries(value).map(([work, inner]) => [work, inner === 'calling' ? 'waiting-for-plugin' : inner]),
  );
}
