/** Topology of volumes: this node, or none if every node has them. */
import type { Topology, TopologyRequirement } from '../../csi/generated/plain.js';
import { topologyOf } from './identity.js';
import type { DriverState } from './state.js';

type Place = Pick<DriverState, 'nodeId' | 'isShared'>;

/** Whether a volume of this node is where it has to be. Preferences need not be met. */
export function canBeHere(place: Place, requirement: TopologyRequirement | undefined): boolean {
  if (!requirement || requirement.requisite.length === 0) return true;
  return requirement.requisite.some((topology) => isHere(place, topology));
}

/** Compares topologies; the case of keys does not matter. */
export function isHere({ nodeId, isShared }: Place, { segments }: Topology): boolean {
  if (isShared) return true;
  const here = Object.entries(topologyOf(nodeId).segments).map(([key, value]) => [key.toLowerCase(), value]);
  return Object.entries(segments).every(([key, value]) =>
    here.some(([name, place]) => name === key.toLowerCase() && place === value),
  );
}
