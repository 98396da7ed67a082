/** Describes events of volumes, nodes and the leader for a person, one line each. */
import type { Claim, KeptObservation, Leftover } from '../../machines/volume/types.js';
import { describeLeaving, describeLeftover } from '../../machines/volume/words.js';
import type { NodeUpdate } from '../nodes/node-kind.js';
import type { LeadershipEvent } from '../runtime/runtime.js';
import type { Volume, VolumeEvent } from '../volumes/volume-view.js';
import { timeOfDay } from './describe.js';

export { sizeText } from '../../machines/kit/size-text.js';

/** The states by which volumes and snapshots are listed. */
export { snapshotStates } from '../../machines/snapshot/types.js';
export { volumeStates } from '../../machines/volume/types.js';

/** Describes what may be left of a deleted volume, each part with its id at the plugin. */
export const describeLeftovers = (leftovers: Leftover[]): string[] => leftovers.map(describeLeftover);

/** Describes claims of allocs in release whose node has not unstaged the volume yet; undefined if there are none. */
export const describeAllLeaving = (claims: Claim[]): string | undefined =>
  claims
    .filter(({ state }) => state === 'unpublishing')
    .map(describeLeaving)
    .join('; ') || undefined;

/** Describes an event of a volume; undefined for steps that are not worth a line. */
export function describeVolumeEvent(event: VolumeEvent): string | undefined {
  const what = changeIn(event);
  const { namespace, id } = event.key;
  return what && `${timeOfDay(event.at)} volume ${namespace}/${id}: ${what}`;
}

const failedIn = { create: 'failed', delete: 'not deleted', expand: 'not expanded', modify: 'not modified' };

function changeIn(event: VolumeEvent): string | undefined {
  switch (event.kind) {
    case 'created':
      return `created, its plugin knows it as ${event.csiId}`;
    case 'failed':
      return `${failedIn[event.in]}: ${event.failure.message}`;
    case 'deleted':
      return event.leftovers ? `deleted, but may be left: ${describeLeftovers(event.leftovers).join('; ')}` : 'deleted';
    case 'publication': {
      const { nodeId, state, failure } = event;
      if (state === 'published') return `published to node ${nodeId}`;
      if (state === 'removed' && failure) return `given up on node ${nodeId}, may still be published there`;
      if (state === 'removed') return `not published to node ${nodeId} any more`;
      return state === 'failed' ? `failed on node ${nodeId}: ${failure?.message ?? 'for no reason given'}` : undefined;
    }
    case 'availability': {
      const { availability, allocIds } = event;
      const users = availability === 'drain' && allocIds.length > 0 ? `; to be released by ${allocIds.join(', ')}` : '';
      return `its availability is ${availability}${users}`;
    }
    case 'seen':
      return seenIn(event);
    case 'drifted': {
      const lost = event.lost.map((nodeId) => `it was not on node ${nodeId} any more, and is published there again`);
      const strays = event.strays.map(
        (nodeId) => `it was on node ${nodeId} without a request, and is unpublished there`,
      );
      return [...lost, ...strays].join('; ');
    }
    default:
      return undefined;
  }
}

function seenIn({ isMissing, condition, heldOn = [], attachedElsewhere = [] }: KeptObservation): string {
  if (isMissing) return 'its plugin does not list it';
  const health = condition && `its condition is ${condition.abnormal ? 'abnormal' : 'normal'}: ${condition.message}`;
  const places =
    heldOn.length > 0 ? `it is on node ${heldOn.join(', ')} without a request, and stays there` : undefined;
  const others =
    attachedElsewhere.length > 0
      ? `it is on machine ${attachedElsewhere.join(', ')}, which is not among the nodes, and stays there until somebody unpublishes it`
      : undefined;
  return (
    [health, places, others].filter((part) => part !== undefined).join('; ') || 'its plugin lists it as it should be'
  );
}

/** Summarizes a volume in one line. */
export function describeVolume({ key, state, error, leftovers = [] }: Volume): string {
  const [why = error?.message] = leftovers.length > 0 ? [describeLeftovers(leftovers).join('; ')] : [];
  return `volume ${key.namespace}/${key.id}: ${state}${why === undefined ? '' : `: ${why}`}`;
}

/** Describes an event of a node; undefined for the node's own reports. */
export function describeNodeEvent(event: NodeUpdate): string | undefined {
  const node = `${timeOfDay(event.at)} node ${event.nodeId}`;
  switch (event.kind) {
    case 'down':
      return `${node}: down, it takes no volumes until its agent reports`;
    case 'fenced':
      return `${node}: fenced, its claims are released: ${event.reason}`;
    case 'gone':
      return `${node}: removed`;
    default:
      return undefined;
  }
}

/** @param isOurs whether this agent was elected */
export const describeLeader = ({ at, leader }: LeadershipEvent, isOurs: boolean): string =>
  `${timeOfDay(at)} ${isOurs ? 'this agent' : leader} leads volumes and nodes now`;
