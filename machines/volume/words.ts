/** Words on the parts of a volume for people. Imports only types: the command line loads this file, and no machine. */
import type { Lifecycle } from './lifecycle.js';
import type { Claim, Leftover, VolumeContext } from './types.js';

/** Each round of a creation has a name of its own, so that the plugin answers with nothing of the round before. */
export const nameWithPlugin = ({
  name,
  lifecycle: { round = 0 },
}: Pick<VolumeContext, 'name' | 'lifecycle'>): string => (round === 0 ? name : `${name}-${round}`);

const creationAdvice = new Map<string, string>(
  Object.entries({
    'failed.refused': 'delete it and create it with a corrected spec, or fix the cause and retry',
    'failed.in-doubt':
      'an earlier attempt may have made it: fix the cause and retry, or delete it, which finds that out and removes it',
    'failed.unproven': 'give its calls more time (calls.timeoutMs), then retry',
    'failed.not-as-asked': 'correct the plugin and retry, or delete it',
  } satisfies Partial<Record<Lifecycle['at'], string>>),
);

/**
 * Says what to do about a volume that could not be created; undefined if its failure says so.
 * @param at state of its lifecycle
 */
export const creationAdviceAt = (at: string): string | undefined => creationAdvice.get(at);

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
