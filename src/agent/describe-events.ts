/** Describes events of all topics for a person, one line each, in the words that the agent prints. */
import type { RuntimeEvent } from '../runtime/runtime.js';
import { describePluginEvent, describeTaskUpdate, timeOfDay } from './describe.js';
import { describeAllocEvent, mountTeller } from './describe-mounts.js';
import { describeLeader, describeNodeEvent, describeVolumeEvent } from './describe-volumes.js';

/** Describes events in order. An event that its topic has no words for is told by its actor and kind. */
export function eventTeller(): (event: RuntimeEvent) => string {
  const describeMount = mountTeller();
  const told = (one: RuntimeEvent): string | undefined => {
    switch (one.topic) {
      case 'plugins':
        return describePluginEvent(one.event);
      case 'tasks':
        return describeTaskUpdate(one.event);
      case 'volumes':
        return describeVolumeEvent(one.event);
      case 'nodes':
        return describeNodeEvent(one.event);
      case 'mounts':
        return describeMount(one.event);
      case 'allocations':
        return describeAllocEvent(one.event);
      case 'leadership':
        return describeLeader(one.event, false);
      case 'actors': {
        const { at, address, kind, reason } = one.event;
        return `${timeOfDay(at)} ${address}: ${kind}${reason === undefined ? '' : `: ${reason}`}`;
      }
      default:
        return undefined;
    }
  };
  return (one) => told(one) ?? `${timeOfDay(one.at)} ${one.address}: ${one.kind}`;
}
