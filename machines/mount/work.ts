/** Order of the work on a mount: the one place that decides what comes next. Pure. */
import { dueAtMs } from '../kit/backoff.js';
import { callUnderWay, firstDue } from '../kit/call.js';
import type { AccessMode, Tries } from '../kit/csi-types.js';
import { isDead, isStaged, isStagingInDoubt } from './staging.js';
import type { StagingEvent } from './staging-setup.js';
import { hasNoTarget, isWanted, needsUnpublish, targetChart } from './target.js';
import type { MountContext, MountWork, MountWorkKind, Target } from './types.js';

const oneTarget: ReadonlySet<AccessMode> = new Set([
  'single-node-writer',
  'single-node-reader-only',
  'single-node-single-writer',
]);

/** Whether a volume has one target on a node with this access mode. */
export const hasOneTarget = (mode: AccessMode): boolean => oneTarget.has(mode);

/** Whether the target is to be mounted, and its claim is known to be its own. */
export const isToPublish = ({ unconfirmed }: Pick<MountContext, 'unconfirmed'>, user: Target): boolean =>
  isWanted(user) && !unconfirmed.includes(user.allocId);

/** Whether the target needs the volume staged. */
const needsStaging = (context: MountContext, user: Target): boolean =>
  !context.unconfirmed.includes(user.allocId) &&
  (isWanted(user) || (user.at === 'published' && context.staging.at !== 'missing'));

/** Call about the mount itself, or about the target of this alloc, that is under way and may take effect. */
export function underWay(
  context: Pick<MountContext, 'work' | 'awaiting'>,
  allocId?: string,
): MountWorkKind | undefined {
  const call = callUnderWay(context);
  return call?.allocId === allocId ? call?.kind : undefined;
}

/** Whether the volume is staged, or may be. */
export const isStagingOwed = (context: MountContext): boolean =>
  isStaged(context.staging) || isStagingInDoubt(context.staging) || underWay(context) === 'stage';

/** Returns the event for the staging that the targets need now. */
export function stagingWish(
  context: MountContext,
): Extract<StagingEvent['type'], 'stage.wanted' | 'unstage.wanted' | 'targets.may-remain'> {
  const { users, staging } = context;
  if (isDead(staging)) {
    // Nothing is mounted over it.
    const isFree = users.every((user) => user.at !== 'lost' && !needsUnpublish(user));
    return isFree ? 'unstage.wanted' : 'targets.may-remain';
  }
  if (users.some((user) => needsStaging(context, user))) return 'stage.wanted';
  return isStagingOwed(context) && users.every(hasNoTarget) ? 'unstage.wanted' : 'targets.may-remain';
}

/** All pieces of work, each with the moment from which it is due, in the order of their importance. */
function* pieces(context: MountContext, nowMs: number): Generator<MountWork> {
  const { users, staging, capability, expansion } = context;
  const piece = (kind: MountWorkKind, tries: Tries | undefined, allocId?: string): MountWork => {
    const from = dueAtMs(tries, nowMs);
    return { kind, dueAtMs: from, ...(allocId !== undefined && { allocId }), isCalling: from <= nowMs };
  };
  for (const user of users)
    if (targetChart.metaOf(user).call === 'unpublish') yield piece('unpublish', user.tries, user.allocId);
  const wish = stagingWish(context);
  if (wish === 'unstage.wanted') yield piece('unstage', staging.unstageTries);
  if (wish !== 'stage.wanted') return;
  if (!isStaged(staging) && staging.at !== 'not-needed') {
    yield piece('stage', staging.tries);
    return;
  }
  const isAlone = capability !== null && hasOneTarget(capability.accessMode);
  for (const user of users) {
    if (!isToPublish(context, user)) continue;
    if (isAlone && users.some((other) => other !== user && needsUnpublish(other))) continue;
    yield piece('publish', user.tries, user.allocId);
  }
  const isThere = isStaged(staging) || users.some((user) => user.at === 'published');
  if (expansion && !expansion.failure && isThere) yield piece('expand', expansion.tries);
}

export const nextMountWork = (context: MountContext, nowMs: number): MountWork | null =>
  firstDue(pieces(context, nowMs));

/** Whether nothing of the volume is here, and nothing is to be undone. */
export const isUnused = ({ users, staging }: MountContext): boolean =>
  users.length === 0 && !isStaged(staging) && !isStagingInDoubt(staging);

/** True if `isUnused`, and no hold is to be released. */
export const isNotHere = (context: MountContext): boolean => isUnused(context) && context.holds === undefined;
