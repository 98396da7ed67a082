/** The topics of a runtime: what each is called in the store, and how its rows become events. */
import type { AllocChanged } from '../../machines/alloc/types.js';
import {
  allocAddress,
  groupSnapshotAddress,
  mountAddress,
  nodeAddress,
  pluginAddress,
  registryAddress,
  singleMountAddress,
  snapshotAddress,
  taskAddress,
  volumeAddress,
} from '../../machines/kit/addresses.js';
import type { MountChanged } from '../../machines/mount/types.js';
import type { SnapshotChanged } from '../../machines/snapshot/types.js';
import type { VolumeChanged } from '../../machines/volume/types.js';
import type { AllocEvent } from '../allocs/alloc-view.js';
import { allocsTopic } from '../allocs/alloc-work.js';
import type { FollowedRow } from '../engine/topics/event-ids.js';
import { changeOf, eventOf } from '../engine/topics/topics.js';
import { mountsTopic } from '../mounts/mount-kind.js';
import type { MountEvent } from '../mounts/mount-view.js';
import { type NodeUpdate, nodesTopic, nodeUpdateOf } from '../nodes/node-kind.js';
import { type PluginEvent, pluginEventOf, pluginsTopic } from '../registry/plugin-events.js';
import { groupSnapshotsTopic, snapshotsTopic } from '../snapshots/snapshot-kinds.js';
import type { SnapshotEvent } from '../snapshots/snapshot-view.js';
import { tasksTopic } from '../tasks/kinds.js';
import { type TaskUpdate, taskUpdateOf } from '../tasks/task-supervisor.js';
import { volumesTopic } from '../volumes/volume-kind.js';
import type { VolumeEvent } from '../volumes/volume-view.js';
import { type LeadershipEvent, leadershipEventOf, leadershipTopic } from './leadership.js';

/** An actor is out of service, or was taken back into service; or a plugin lists volumes that no record has. */
export interface ActorEvent {
  id: string;
  at: number;
  kind: 'quarantined' | 'released' | 'orphaned-volumes';
  address: string;
  reason?: string;
}

/** Events of each topic, as their own `updates()` give them. */
export interface EventsByTopic {
  plugins: PluginEvent;
  tasks: TaskUpdate;
  volumes: VolumeEvent;
  snapshots: SnapshotEvent;
  groupSnapshots: SnapshotEvent;
  nodes: NodeUpdate;
  mounts: MountEvent;
  allocations: AllocEvent;
  leadership: LeadershipEvent;
  actors: ActorEvent;
}

export type EventTopic = keyof EventsByTopic;

/** An event of a topic. */
interface Told<T extends EventTopic> {
  topic: T;
  /** Milliseconds since the epoch. */
  at: number;
  kind: string;
  /** Actor that the event is about. */
  address: string;
  /** Registered name of the plugin that it is about, if there is one and it is known. */
  plugin?: string;
  /** The event as its topic has it. */
  event: EventsByTopic[T];
}

/** `id` holds the place in every topic. */
export type RuntimeEvent = { [T in EventTopic]: Told<T> & { id: string } }[EventTopic];

export const actorsTopic = (node: string): string => `actors/${encodeURIComponent(node)}`;

/** Names in the store, of the topics of a node or of all nodes. */
export const topicNames: Record<EventTopic, (node: string) => string> = {
  plugins: pluginsTopic,
  tasks: tasksTopic,
  volumes: () => volumesTopic,
  snapshots: () => snapshotsTopic,
  groupSnapshots: () => groupSnapshotsTopic,
  nodes: () => nodesTopic,
  mounts: mountsTopic,
  allocations: allocsTopic,
  leadership: () => leadershipTopic,
  actors: actorsTopic,
};

export const eventTopics = [
  ...(['plugins', 'tasks', 'volumes', 'snapshots', 'groupSnapshots'] as const),
  ...(['nodes', 'mounts', 'allocations', 'leadership', 'actors'] as const),
];

const keys = new Map(eventTopics.map((topic) => [topicNames[topic]('').split('/')[0], topic]));

/** Topic of a name in the store. */
export function keyOfTopic(name: string): EventTopic {
  const key = keys.get(name.split('/')[0]);
  if (!key) throw new Error(`no topic is called ${name}`);
  return key;
}

const kindOfActorEvent: Record<string, ActorEvent['kind']> = {
  'actor.released': 'released',
  'actor.orphaned-volumes': 'orphaned-volumes',
};

const told = <T extends EventTopic>(
  topic: T,
  event: EventsByTopic[T],
  { address, kind, plugin }: { address: string; kind: string; plugin?: string },
): Told<T> => ({ topic, at: event.at, kind, address, ...(plugin !== undefined && { plugin }), event });

/** Reads a row of a topic of this node. @throws {StagecraftError} EVENT_DAMAGED */
export function toldOf(topic: EventTopic, row: FollowedRow, node: string): Told<EventTopic> {
  switch (topic) {
    case 'plugins': {
      const event = pluginEventOf(row);
      const { type, name, allocId } = event.info;
      return told(topic, event, { address: pluginAddress(node, type, name, allocId), kind: event.kind, plugin: name });
    }
    case 'tasks': {
      const event = taskUpdateOf(row);
      const { id, type: kind, plugin = id } = event.change;
      return told(topic, event, { address: taskAddress(node, id), kind, plugin });
    }
    case 'volumes': {
      const event = changeOf<VolumeChanged>(row);
      return told(topic, event, { address: volumeAddress(event.key.namespace, event.key.id), kind: event.kind });
    }
    case 'snapshots':
    case 'groupSnapshots': {
      const event = changeOf<SnapshotChanged>(row);
      const addressOf = topic === 'snapshots' ? snapshotAddress : groupSnapshotAddress;
      return told(topic, event, { address: addressOf(event.key.namespace, event.key.id), kind: event.kind });
    }
    case 'nodes': {
      const event = nodeUpdateOf(row);
      return told(topic, event, { address: nodeAddress(event.nodeId), kind: event.kind });
    }
    case 'mounts': {
      const event = changeOf<MountChanged>(row);
      return told(topic, event, {
        address: mountAddress(event.node, event.key.namespace, event.key.id),
        kind: event.kind,
      });
    }
    case 'allocations': {
      const event = changeOf<AllocChanged>(row);
      const { node, allocId, single, kind } = event;
      const address = single
        ? singleMountAddress(node, allocId, single.namespace, single.id)
        : allocAddress(node, allocId);
      return told(topic, event, { address, kind });
    }
    case 'leadership': {
      const event = leadershipEventOf(row);
      return told(topic, event, { address: registryAddress(event.nodeId), kind: event.kind });
    }
    case 'actors': {
      const { type, ...event } = eventOf<Omit<ActorEvent, 'id' | 'kind'> & { type: string }>(row);
      const kind = kindOfActorEvent[type] ?? 'quarantined';
      return told(topic, { id: row.id, kind, ...event }, { address: event.address, kind });
    }
  }
}
