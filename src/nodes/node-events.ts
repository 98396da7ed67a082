/** What is broadcast of nodes, as followers get it. */
import type { NodeChanged } from '../../machines/node/node.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { eventOf } from '../engine/topics/topics.js';

type EventOf<One> = One extends { type: infer Kind; id: infer Id }
  ? Omit<One, 'type' | 'id'> & { kind: Kind; nodeId: Id }
  : never;

/** One change of a node. `id` is its place in the topic: hand it back to go on from there. `at`: ms since the epoch. */
export type NodeUpdate = { id: string; at: number } & EventOf<NodeChanged>;

export function nodeUpdateOf(row: FollowedRow): NodeUpdate {
  const { type: kind, id: nodeId, ...told } = eventOf<NodeChanged & { at: number }>(row);
  return { ...told, id: row.id, kind, nodeId } as NodeUpdate;
}
