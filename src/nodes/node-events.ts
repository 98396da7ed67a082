/** Turns broadcasts of nodes into the events that followers get. */
import type { NodeChanged } from '../../machines/node/node.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';

type EventOf<One> = One extends { type: infer Kind; id: infer Id }
  ? Omit<One, 'type' | 'id'> & { kind: Kind; nodeId: Id }
  : never;

/**
 * Change of a node. `id` is its place in the topic: follow from there to continue after it. `at` is in ms since the
 * epoch.
 */
export type NodeUpdate = { id: string; at: number } & EventOf<NodeChanged>;

export function nodeUpdateOf(row: FollowedRow): NodeUpdate {
  const { type: kind, id: nodeId, ...change } = eventOf<NodeChanged & { at: number }>(row);
  return { ...change, id: row.id, kind, nodeId } as NodeUpdate;
}
