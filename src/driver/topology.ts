/** Topology of volumes: this node. */
import type { Topology, TopologyRequirement } from '../csi/generated/plain.js';
import { topologyOf } from './identity.js';

/** Whether a volume of this node is where it has to be. Preferences need not be met. */
export function canBeHere(nodeId: string, requirement: TopologyRequirement | undefined): boolean {
  if (!requirement || requirement.requisite.length === 0) return true;
  return requirement.requisite.some((topology) => isHere(nodeId, topology));
}

/** Compares topologies; the case of keys does not matter. */
export function isHere(nodeId: string, { segments }: Topology): boolean {
  const here = Object.entries(topologyOf(nodeId).segments).map(([key, value]) => [key.toLowerCase(), value]);
  return Object.entries(segments).every(([key, value]) =>
    here.some(([name, place]) => name === key.toLowerCase() && place === value),
  );
}
