/** Which requests a person may send an actor by hand, by its machine and by the state that it is in. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { catalogEntryOf } from './catalog.js';

const snapshotRequests = ['snapshot.delete', 'snapshot.retry', 'snapshot.acknowledge'] as const;

/**
 * Requests by machine: each is sent through the method of the runtime that programs use, with all of its checks. Every
 * other event is between actors, effects and timers, and no person sends it.
 */
const requests = {
  volume: [
    'volume.publish',
    'volume.unpublish',
    'volume.release',
    'volume.set-availability',
    'volume.expand',
    'volume.modify',
    'volume.delete',
    'volume.retry',
    'volume.acknowledge',
  ],
  'volume-snapshot': snapshotRequests,
  'group-snapshot': snapshotRequests,
  mount: ['mount.retry'],
  alloc: ['alloc.release'],
  node: ['node.down', 'node.fence', 'node.remove'],
  task: ['task.restart', 'task.stop', 'task.remove'],
  plugins: ['plugins.deregister'],
} as const;

/** Type of a request that a person may send by hand. */
export type RequestByHand = (typeof requests)[keyof typeof requests][number];

const requestsOf: ReadonlyMap<string, readonly RequestByHand[]> = new Map(Object.entries(requests));

/** Requests that a person may send the actor in this state, by name. A guard may still refuse one. */
export function acceptedBy(address: string, state: StateValue): RequestByHand[] {
  const machine: AnyStateMachine | undefined = catalogEntryOf(address)?.machine;
  if (!machine) return [];
  const { _nodes: nodes } = machine.resolveState({ value: state, context: {} });
  const taken = new Set(nodes.flatMap(({ transitions }) => [...transitions.keys()]));
  return (requestsOf.get(machine.id) ?? []).filter((type) => taken.has(type)).sort();
}
