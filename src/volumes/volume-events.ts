/** Turns broadcasts of volumes into the events that followers get. */
import type { VolumeChanged } from '../../machines/volume/types.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';

type EventOf<One> = One extends { type: infer Kind } ? Omit<One, 'type'> & { kind: Kind } : never;

/**
 * Change of a volume. `id` is its place in the topic: follow from there to continue after it. `at` is in ms since the
 * epoch.
 */
export type VolumeEvent = { id: string; at: number } & EventOf<VolumeChanged>;

export function volumeEventOf(row: FollowedRow): VolumeEvent {
  const { type: kind, ...change } = eventOf<VolumeChanged & { at: number }>(row);
  return { id: row.id, kind, ...change } as VolumeEvent;
}
