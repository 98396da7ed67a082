/** Events of mounts and allocs, as subscribers get them. */
import type { AllocChanged } from '../../machines/alloc/types.js';
import type { MountChanged } from '../../machines/mount/types.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';

type EventOf<One> = One extends { type: infer Kind } ? Omit<One, 'type'> & { kind: Kind } : never;

/**
 * Change of a mount. `id` is its place in the topic: follow from there to go on. `at`: milliseconds since the epoch.
 */
export type MountEvent = { id: string; at: number } & EventOf<MountChanged>;
/** Change of an alloc. `id` and `at` as in MountEvent. */
export type AllocEvent = { id: string; at: number } & EventOf<AllocChanged>;

export function mountEventOf(row: FollowedRow): MountEvent {
  const { type: kind, ...told } = eventOf<MountChanged & { at: number }>(row);
  return { id: row.id, kind, ...told } as MountEvent;
}

export function allocEventOf(row: FollowedRow): AllocEvent {
  const { type: kind, ...told } = eventOf<AllocChanged & { at: number }>(row);
  return { id: row.id, kind, ...told } as AllocEvent;
}
