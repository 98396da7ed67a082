/** Brings waits for plugins, as version 1 of the machines kept them, to states of their own. Pure. */
import type { StateValue } from 'xstate';
import type { Awaiting } from '../../machines/kit/csi-types.js';

/** In version 1 the effect of the call waited, and this said so. */
export type OldAwaiting = Omit<Awaiting, 'for'>;

/** The admission finds out what the call has to wait for by now. */
export const waitOf = (awaiting: OldAwaiting | null): Awaiting | null => awaiting && { ...awaiting, for: 'plugin' };

/** The same piece of work, its call not made: `{ 'pending-publish': 'waiting-for-plugin' }` of `{ 'pending-publish': 'calling' }`. */
export function asWaiting(value: StateValue): StateValue {
  if (typeof value === 'string') return value;
  return Object.fromEntries(
    Object.entries(value).map(([work, inner]) => [work, inner === 'calling' ? 'waiting-for-plugin' : inner]),
  );
}
