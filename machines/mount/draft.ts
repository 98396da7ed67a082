/**
 * A change of a mount in the making: steps its staging and its targets, and holds them to the one call of the mount. Pure. What the
 * changes are: changes.ts, outcomes.ts
 */
import type { Stamped } from '../kit/host.js';
import { stagingChart } from './staging.js';
import type { StagingChange, StagingOutcome } from './staging-setup.js';
import { hasNoTarget, isToUnpublish, targetChart } from './target.js';
import type { MountFacts, TargetChange, TargetOutcome, TargetUse } from './target-setup.js';
import type { MountChanged, MountContext, MountWorkKind, Target } from './types.js';
import { isStagingOwed, isUnused, stagingWish, underWay } from './work.js';

type MountBroadcast = MountChanged extends infer One
  ? One extends unknown
    ? Omit<One, 'node' | 'key'>
    : never
  : never;

/** Change of a record, with its broadcasts. */
export interface MountChange {
  context: Partial<MountContext>;
  broadcasts?: MountBroadcast[];
}

/** A change in the making. Lists and their items are replaced, never changed. */
export type MountDraft = MountContext & { broadcasts: MountBroadcast[]; at: number };

export function draftedMount(
  before: MountContext,
  { at }: Pick<Stamped, 'at'>,
  change: (draft: MountDraft) => void,
): MountChange {
  const draft: MountDraft = { broadcasts: [], at, ...before };
  change(draft);
  followUsers(draft);
  const { broadcasts, at: _, ...context } = draft;
  return { context, broadcasts };
}

/** Tells the staging what the users need now, unless a call about it is in progress: the outcome of that comes first. */
export function followUsers(draft: MountDraft): void {
  const { work } = draft;
  const isCalled = work?.isCalling && (work.kind === 'stage' || work.kind === 'unstage');
  if (!isCalled) stepStaging(draft, { type: stagingWish(draft) });
}

/** Steps the staging. One whose call is under way has to take the outcome still. */
export function stepStaging(draft: MountDraft, event: StagingChange): void {
  const called = underWay(draft);
  const next = stagingChart.step(draft.staging, event);
  if (called && called !== 'expand' && !stagingChart.takes(next, `${called}.done`)) throw notWhile(called, next);
  draft.staging = next;
}

/** Gives the staging the outcome of its call, which is over. */
export function endStaging(draft: MountDraft, event: StagingOutcome): void {
  mustBeOutcome(draft, event);
  draft.staging = stagingChart.step(draft.staging, event);
}

const notWhile = (called: MountWorkKind, { at }: { at: string }): Error =>
  new Error(`a part can't be '${at}' while its call is under way (${called})`);

function mustBeOutcome({ work }: MountDraft, { type }: StagingOutcome | TargetOutcome): void {
  if (!work || work.isCalling || !type.startsWith(`${work.kind}.`))
    throw new Error(`'${type}' is no outcome of the call that has ended (${work?.kind ?? 'none'})`);
}

/** Adds the facts of this moment to an event of this alloc's target. */
const withMoment = <TEvent extends TargetChange | TargetOutcome>(
  draft: MountDraft,
  allocId: string,
  event: TEvent,
): TEvent & MountFacts => ({
  ...event,
  atMs: draft.at,
  nextNumber: draft.number + 1,
  isLast: isStagingOwed(draft) && draft.users.every((one) => one.allocId === allocId || hasNoTarget(one)),
  isCallUnderWay: underWay(draft, allocId) === 'publish',
});

/** Steps a target. One whose call is under way has to stay, and to take the outcome still. */
export function stepTarget(draft: MountDraft, user: Target, event: TargetChange): void {
  const called = underWay(draft, user.allocId);
  const next = targetChart.step(user, withMoment(draft, user.allocId, event));
  if (called && (next.number !== user.number || !targetChart.takes(next, `${called}.done`)))
    throw notWhile(called, next);
  keepTarget(draft, user, next);
}

/** Gives a target the outcome of its call, which is over. */
export function endTarget(draft: MountDraft, user: Target, event: TargetOutcome): void {
  mustBeOutcome(draft, event);
  keepTarget(draft, user, targetChart.step(user, withMoment(draft, user.allocId, event)));
}

/** Keeps what has become of a target. One that is released is dropped. */
function keepTarget(draft: MountDraft, user: Target, next: Target): void {
  const { allocId } = user;
  if (next.number !== user.number) draft.number = next.number;
  if (next.at === 'released') draft.users = draft.users.filter((one) => one.allocId !== allocId);
  else draft.users = draft.users.map((one) => (one.allocId === allocId ? next : one));
  const hasLetGo = next.at === 'released' || next.at === 'waiting-for-unstage';
  if (hasLetGo) dropUnconfirmed(draft, allocId);
  const isUnpublished = isToUnpublish(user) && !isToUnpublish(next);
  if (isUnpublished || (hasLetGo && user.at !== 'waiting-for-unstage')) settleStaging(draft);
}

/** Steps all targets in their order. One may let go because of another. */
export function stepTargets(draft: MountDraft, event: TargetChange): void {
  for (const { allocId } of draft.users) {
    const user = draft.users.find((one) => one.allocId === allocId);
    if (user) stepTarget(draft, user, event);
  }
}

export function dropUnconfirmed(draft: MountDraft, allocId: string): void {
  draft.unconfirmed = draft.unconfirmed.filter((one) => one !== allocId);
}

export function beginTarget(draft: MountDraft, allocId: string, use: TargetUse): void {
  draft.number += 1;
  draft.users = [...draft.users, targetChart.begin({ allocId, ...use, number: draft.number, sinceMs: draft.at })];
}

/** A target that waits only for the unstage stops waiting if another alloc uses the volume. */
export function settleStaging(draft: MountDraft): void {
  const isUsed = draft.users.some((user) => !hasNoTarget(user));
  if (!isUsed && isStagingOwed(draft)) return;
  stepTargets(draft, { type: 'let-go' });
  if (isUsed) return;
  stepStaging(draft, { type: 'users.gone' });
  draft.expansion = null;
  draft.condition = null;
  if (!isUnused(draft)) return;
  draft.volume = null;
  draft.capability = null;
}
