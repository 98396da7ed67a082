/** Where volumes can be: here. */
import type { Topology, TopologyRequirement } from '../csi/generated/plain.js';
import { topologyOf } from './identity.js';

/** Whether a volume of this node is where it was asked to be. What is only preferred need not be. */
export function canBeHere(nodeId: string, requirement: TopologyRequirement | undefined): boolean {
  if (!requirement || requirement.requisite.length === 0) return true;
  return requirement.requisite.some((topology) => isHere(nodeId, topology));
}

/** Keys of topologies are the same in whatever case. */
export function isHere(nodeId: string, { segments }: Topology): boolean {
  const here = Object.entries(topologyOf(nodeId).segments).map(([key, value]) => [key.toLowerCase(), value]);
  return Object.entries(segments).every(([key, value]) =>
    here.some(([name, place]) => name === key.toLowerCase() && place === value),
  );
}
