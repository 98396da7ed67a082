/** Topology that a new volume is asked for where its user names none. Pure. */
import type { Segments, TopologyRequirement } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';

/**
 * Anywhere that a node with the plugin is, and first where it was asked for. A volume with a home is made there only.
 * @param topologies of the nodes that have the plugin, by node
 */
export function usualTopology(
  topologies: ReadonlyMap<string, Segments>,
  { home, first }: { home: string | undefined; first: string | undefined },
): TopologyRequirement {
  const own = topologies.get(home ?? first ?? '');
  const all = [...(own ? [own] : []), ...(home === undefined ? topologies.values() : [])];
  const places = all.filter((one, index) => all.findIndex((other) => isSameData(one, other)) === index);
  return { requisite: places, preferred: places };
}
