/**
 * Finds what the agents of nodes have to know of a volume's commit: it has grown, or a claim or a hold there is over without
 * their word. A notice may be lost: each agent also looks at its mounted volumes by itself, now and then.
 */
import type { AnyEventObject } from 'xstate';
import { nodesWithIt } from '../../machines/volume/size.js';
import type { VolumeChanged } from '../../machines/volume/types.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf, type CommitOf } from '../engine/actors-of.js';
import { volumesTopic } from './volume-kind.js';

export interface NodeNotice {
  volume: VolumeKey;
  kind: 'expanded' | 'claim-lost' | 'hold-lost';
}

type Lost = Extract<VolumeChanged, { type: 'claim' | 'hold' }>;
type Broadcast = CommitOf<typeof volumeMachine>['events'][number];

/** Calls back with the notices of each commit. @returns a function that unsubscribes */
export function onNodeNotice(engine: ActorSystem, notify: (nodeId: string, notice: NodeNotice) => void): () => void {
  return new ActorsOf(engine, volumeMachine).observe(({ view, event: cause, events }) => {
    for (const { event } of events.filter(isOfVolume)) {
      const { key: volume } = event;
      if (event.type === 'expanded' && event.nodeExpansionRequired && view)
        for (const nodeId of nodesWithIt(view.context)) notify(nodeId, { volume, kind: 'expanded' });
      else if (isLost(event, cause)) notify(event.nodeId, { volume, kind: `${event.type}-lost` });
    }
  });
}

const isOfVolume = (one: Broadcast): one is { topic: string; event: VolumeChanged } => one.topic === volumesTopic;

/** Whether a node has lost what it had without asking for that: by a fence, or by a release by hand. */
function isLost(event: VolumeChanged, cause: AnyEventObject | undefined): event is Lost {
  if (event.type === 'hold') return true;
  if (event.type !== 'claim') return false;
  // A release that the node asks for names it.
  const isByHand = cause?.type === 'volume.release' && cause.nodeId === undefined;
  return event.fenced !== undefined || (isByHand && event.state === 'unpublishing');
}
