/** Who the driver is, where its volumes can be reached, and what it offers. */
import { createHash } from 'node:crypto';
import type { Topology } from '../csi/generated/plain.js';
import type { CsiHandlers } from '../csi/server.js';
import { StagecraftError } from '../errors.js';
import { faultIn, nodeIdSchema } from '../host/names.js';

/** The driver's own name, as GetPluginInfo gives it. */
export const driverName = 'hostpath.csi.stagecraft';

/** A volume can be reached on the node that holds it, and nowhere else. */
export const topologyKey = `topology.${driverName}/node`;

/** CSI takes no other values: at most 63 characters, the first and the last of them a letter or a digit. */
const segmentValue = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

/** Where a node is: its id, or what stands for it where the id can't be such a value. */
export function topologyOf(nodeId: string): Topology {
  const value = segmentValue.test(nodeId) ? nodeId : createHash('sha256').update(nodeId).digest('hex').slice(0, 32);
  return { segments: { [topologyKey]: value } };
}

/** @throws {StagecraftError} INVALID_ARGUMENT: CSI takes no such node id */
export function checkNodeId(nodeId: string): void {
  const fault = faultIn(nodeIdSchema, nodeId);
  if (fault !== undefined) throw new StagecraftError('INVALID_ARGUMENT', `a node id ${fault}`);
}

/** @param isForPeers its volumes can be attached to other nodes */
export const identityHandlers = (vendorVersion: string, isForPeers = false): CsiHandlers => ({
  GetPluginInfo: () => ({
    ...{ name: driverName, vendorVersion },
    // Elsewhere nobody knows them: an agent on another host must not ask its own driver for them.
    ...(!isForPeers && { manifest: { 'stagecraft.scope': 'host' } }),
  }),
  GetPluginCapabilities: () => ({
    capabilities: [
      { service: { type: 'CONTROLLER_SERVICE' } },
      { service: { type: 'GROUP_CONTROLLER_SERVICE' } },
      { service: { type: 'VOLUME_ACCESSIBILITY_CONSTRAINTS' } },
      { volumeExpansion: { type: 'ONLINE' } },
    ],
  }),
  Probe: () => ({ ready: true }),
});
