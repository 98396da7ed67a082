/** Requests that a mount refuses, and why: each refusal names who or what is in the way, and what to do. Pure. */
import type { Capability } from '../kit/csi-types.js';
import type { Failure } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { volumeName } from '../volume/requests.js';
import { hasNoTarget, isBeingReplaced, isToUnpublish, mountUserStateOf } from './target.js';
import type { MountContext, MountRequest, MountUse, Target } from './types.js';
import { hasOneTarget, isStagingOwed } from './work.js';

const conflict = ({ key, node }: MountContext, why: string): Failure => ({
  code: 'CLAIM_CONFLICT',
  message: `${volumeName(key)} on node ${node}: ${why}`,
  final: true,
});

const describeUser = (user: Target): string =>
  `alloc ${user.allocId} (${mountUserStateOf(user)}${user.readOnly ? ', read-only' : ''})`;

const describeUse = ({ attachmentMode, accessMode, fsType, mountFlags = [] }: Capability): string =>
  [
    attachmentMode,
    accessMode,
    ...(fsType ? [fsType] : []),
    ...(mountFlags.length > 0 ? [mountFlags.join(',')] : []),
  ].join(', ');

/** Use of a volume on this node; without `csiId`, of the one that its plugin knows here. */
type MountWish = Pick<MountUse, 'capability' | 'allocId' | 'readOnly'> & { volume: { uid: string; csiId?: string } };

/** Undefined: a request to mount it so is accepted. */
export function useRefusal(
  context: MountContext,
  { volume, capability, allocId, readOnly }: MountWish,
): Failure | undefined {
  const { volume: present, capability: used, users } = context;
  const using = users.filter((one) => !hasNoTarget(one));
  const others = using.filter((one) => one.allocId !== allocId);
  const holders = using.map(describeUser).join(', ') || 'what has to be unstaged still';
  const isHere = using.length > 0 || isStagingOwed(context);
  const { uid, csiId = present?.csiId } = volume;
  if (isHere && present && (present.uid !== uid || present.csiId !== csiId)) {
    const why = `another volume of that name, ${present.csiId}, is mounted still, for ${holders}: unmount that first`;
    return conflict(context, why);
  }
  if (isHere && used && !isSameData(used, capability)) {
    const why = `it is used as ${describeUse(used)} by ${holders}, and can't be used as ${describeUse(capability)} too: ask for that, or unmount it first`;
    return conflict(context, why);
  }
  const own = using.find((one) => one.allocId === allocId);
  if (own && !isToUnpublish(own) && own.readOnly !== readOnly) {
    const why = `${describeUser(own)} has it ${own.readOnly ? 'read-only' : 'for writing'} already: unmount it first`;
    return conflict(context, why);
  }
  const [holder] = hasOneTarget(capability.accessMode)
    ? others.filter((one) => !isToUnpublish(one) || isBeingReplaced(one))
    : [];
  if (holder)
    return conflict(
      context,
      `${capability.accessMode} allows one mount, and ${describeUser(holder)} has it: release that alloc, or unmount it, first`,
    );
  return undefined;
}

/** Undefined if the request is accepted. */
export const mountRefusalOf = (context: MountContext, request: MountRequest): Failure | undefined =>
  request.type === 'mount.use' ? useRefusal(context, request) : undefined;
