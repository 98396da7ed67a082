/** Words on the parts of a volume for people. Imports only types: the command line loads this file, and no machine. */
import type { Claim, Leftover } from './types.js';

/** Id of the part that is the publication on this node. */
export const publicationId = (nodeId: string): string => `publication/${nodeId}`;

/** Names the command and the node that show why an alloc still holds the volume. */
export const whereToLook = ({ allocId, nodeId }: Claim): string =>
  `stagecraft alloc status ${allocId} on node ${nodeId}`;

/** Describes a claim that ends as soon as its node has reported that the volume is unstaged. */
export const describeLeaving = (claim: Claim): string =>
  `alloc ${claim.allocId} is being released: see ${whereToLook(claim)}`;

/** Says in words what may be left, the plugin's name of it, and why that is not known. */
export const describeLeftover = ({ what, nodeId, csiNodeId, csiId, name, message }: Leftover): string => {
  const where = nodeId === undefined ? '' : ` on node ${nodeId}${csiNodeId === undefined ? '' : ` (${csiNodeId})`}`;
  const known = csiId === undefined ? name && `, under the name ${name}` : `, csi id ${csiId}`;
  return `${what}${where}${known ?? ''}: ${message}`;
};
