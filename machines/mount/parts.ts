/** Parts of a mount as they are shown: the state of each, and why. Pure. */
import { isIn, type PartView } from '../kit/parts.js';
import { stagingMachine } from './staging.js';
import { isWanted, targetMachine } from './target.js';
import type { MountContext, Target } from './types.js';

/** Staging, and the target of each alloc that uses the volume here; with an id, of that alloc alone. */
export const mountParts = (context: MountContext, allocId?: string): PartView[] => [
  stagingView(context),
  ...context.users
    .filter((user) => (allocId ?? user.allocId) === user.allocId)
    .map((user) => targetView(context, user)),
];

function stagingView({ staging, awaiting }: MountContext): PartView {
  const { at, tries, unstageTries } = staging;
  const isUnstaged =
    isIn(staging, 'pending-unstage') || isIn(staging, 'unstage-in-doubt') || isIn(staging, 'clearing-dead');
  const attempts = isUnstaged ? unstageTries : tries;
  const why = at.endsWith('.waiting-for-plugin') ? awaiting?.reason : attempts?.failure.message;
  return {
    ...{ id: stagingMachine.id, chart: stagingMachine.id, at },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && attempts && { nextAttemptAtMs: attempts.notBeforeMs }),
  };
}

/** Id of the part that is the target of this alloc. */
export const targetId = (allocId: string): string => `target/${allocId}`;

function targetView(context: MountContext, user: Target): PartView {
  const { allocId, at, tries } = user;
  const why = reasonOf(context, user);
  return {
    ...{ id: targetId(allocId), chart: targetMachine.id, at },
    ...(why !== undefined && { why }),
    ...(at.endsWith('.backing-off') && tries && { nextAttemptAtMs: tries.notBeforeMs }),
  };
}

function reasonOf({ awaiting, unconfirmed }: MountContext, user: Target): string | undefined {
  const { allocId, at, failure, tries } = user;
  if (isWanted(user) && unconfirmed.includes(allocId)) return unconfirmedText(user);
  if (at.endsWith('.waiting-for-plugin') && awaiting) return awaiting.reason;
  return failure?.message ?? tries?.failure.message;
}

/** Reason why nothing is mounted for an alloc whose claim or hold may have been taken while the agent was away. */
export const unconfirmedText = ({ allocId, isClaimed }: Pick<Target, 'allocId' | 'isClaimed'>): string =>
  isClaimed
    ? `it is mounted once it is known that alloc ${allocId} still has its claim: the status of that alloc says what that waits for`
    : `it is mounted again once the agent that leads has answered that the volume is still held here for alloc ${allocId}`;
