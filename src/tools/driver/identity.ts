/** Identity of the driver, its services, and the topology of its volumes: this node, or none if every node has them. */
import { createHash } from 'node:crypto';
import type { Topology, TopologyRequirement } from '../../csi/generated/plain.js';
import type { CsiHandlers } from '../../csi/server.js';
import { StagecraftError } from '../../errors.js';
import { nodeIdFault } from '../../host/name-rules.js';

/** Name that the driver gives itself in GetPluginInfo. */
export const driverName = 'hostpath.csi.stagecraft';

/** Topology key: a volume can be reached on the node that holds it only. */
export const topologyKey = `topology.${driverName}/node`;

/** Values that CSI accepts: at most 63 characters, the first and the last of them a letter or a digit. */
const segmentValue = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Id of a node as the value of a segment: itself, or a substitute if it is no such value. */
export const segmentOf = (nodeId: string): string =>
  segmentValue.test(nodeId) ? nodeId : createHash('sha256').update(nodeId).digest('hex').slice(0, 32);

/** Topology of a node. */
export const topologyOf = (nodeId: string): Topology => ({ segments: { [topologyKey]: segmentOf(nodeId) } });

/** @throws {StagecraftError} INVALID_ARGUMENT: CSI does not accept the node id */
export function checkNodeId(nodeId: string): void {
  const fault = nodeIdFault(nodeId);
  if (fault !== undefined) throw new StagecraftError('INVALID_ARGUMENT', `a node id ${fault}`);
}

interface Reach {
  /** Whether volumes can be attached to other nodes. */
  isForPeers?: boolean;
  /** Whether every node has the same volumes. */
  isShared?: boolean;
}

export const identityHandlers = (
  vendorVersion: string,
  { isForPeers = false, isShared = false }: Reach = {},
): CsiHandlers => ({
  GetPluginInfo: () => ({
    ...{ name: driverName, vendorVersion },
    // Other hosts do not know these volumes: an agent there must not ask its own driver for them.
    ...(!isForPeers && !isShared && { manifest: { 'stagecraft.scope': 'host' } }),
  }),
  GetPluginCapabilities: () => ({
    capabilities: [
      { service: { type: 'CONTROLLER_SERVICE' } },
      { service: { type: 'GROUP_CONTROLLER_SERVICE' } },
      ...(isShared ? [] : ([{ service: { type: 'VOLUME_ACCESSIBILITY_CONSTRAINTS' } }] as const)),
      { volumeExpansion: { type: 'ONLINE' } },
    ],
  }),
  Probe: () => ({ ready: true }),
});

/** Node of a driver, and whether every node has its volumes. */
interface Place {
  readonly nodeId: string;
  readonly isShared: boolean;
}

/** Tells whether this node satisfies `requisite`; `preferred` is ignored. */
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
