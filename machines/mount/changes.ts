/**
 * Changes that requests and the kernel's mount table make to a mount: its next record and its broadcasts. Pure.
 * Refusals: requests.ts
 */
import type { CapacityRange } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { mountRefusalOf } from './requests.js';
import { isDead, isInDoubt, isStaged, stagingChart } from './staging.js';
import type { StagingChange, StagingOutcome } from './staging-setup.js';
import { hasNoTarget, isLeaving, isToUnpublish, targetChart } from './target.js';
import type { Moment, TargetChange, TargetOutcome, TargetUse } from './target-setup.js';
import type {
  MountChanged,
  MountContext,
  MountedVolume,
  MountInput,
  MountObservation,
  MountUse,
  MountWorkKind,
  StagingObservation,
  Target,
  VolumeCondition,
} from './types.js';
import { isStagingOwed, isToPublish, isUnused, nextMountWork, stagingWish, underWay } from './work.js';

export type MountBroadcast = MountChanged extends infer One
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
  noteReleased(before, draft);
  const { broadcasts, at: _, ...context } = draft;
  return { context, broadcasts };
}

/** Tells the staging what the users need now, unless a call about it is in progress: the outcome of that comes first. */
function followUsers(draft: MountDraft): void {
  const { work } = draft;
  const isCalled = work?.isCalling && (work.kind === 'stage' || work.kind === 'unstage');
  if (!isCalled) stepStaging(draft, { type: stagingWish(draft) });
}

/** Notes users that have let go: their holds are released once the controller side has been told. */
function noteReleased({ users }: MountContext, draft: MountDraft): void {
  const released = users.flatMap(({ allocId, hold }) => {
    const isHeld = draft.users.some((one) => one.allocId === allocId && one.hold !== undefined);
    return hold === undefined || isHeld ? [] : [{ allocId, generation: hold }];
  });
  if (released.length > 0) draft.unreported = [...(draft.unreported ?? []), ...released];
}

/** Drops the holds of an alloc up to a generation: the controller side knows of their release. */
export const holdReleased = (
  { unreported = [] }: MountContext,
  { allocId, generation }: { allocId: string; generation: number },
): MountChange => ({
  context: { unreported: unreported.filter((one) => one.allocId !== allocId || one.generation > generation) },
});

/** Context without any mount of the volume. */
export const noMount = ({ node, namespace, id }: MountInput): MountContext => ({
  node,
  key: { namespace, id },
  volume: null,
  capability: null,
  staging: stagingChart.begin({ number: 0 }),
  users: [],
  unconfirmed: [],
  number: 0,
  bootId: null,
  expansion: null,
  condition: null,
  work: null,
  awaiting: null,
});

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
): TEvent & Moment => ({
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
function stepTargets(draft: MountDraft, event: TargetChange): void {
  for (const { allocId } of draft.users) {
    const user = draft.users.find((one) => one.allocId === allocId);
    if (user) stepTarget(draft, user, event);
  }
}

function dropUnconfirmed(draft: MountDraft, allocId: string): void {
  draft.unconfirmed = draft.unconfirmed.filter((one) => one !== allocId);
}

export const use = (
  context: MountContext,
  { volume, capability, allocId, readOnly, isClaimed, hold: given }: MountUse,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    // A volume that is staged, or is being staged, is published with the data that it is staged with.
    if (!isStaged(draft.staging) && underWay(draft) !== 'stage') draft.volume = volume;
    else draft.volume = withDriver(draft.volume, volume.driver);
    draft.capability = capability;
    stepStaging(draft, { type: 'retry' });
    const present = draft.users.find((one) => one.allocId === allocId);
    // A claim covers both the old and the new use.
    const hold = given ?? present?.hold;
    const asked = { readOnly, capability, isClaimed: isClaimed || present?.isClaimed === true, hold };
    dropUnconfirmed(draft, allocId);
    if (!present) begin(draft, allocId, asked);
    // A target that leaves has given up its claim.
    else if (isToUnpublish(present)) stepTarget(draft, present, { type: 'use', use: { ...asked, isClaimed } });
    else stepTarget(draft, present, { type: 'use', use: asked });
  });

function begin(draft: MountDraft, allocId: string, use: TargetUse): void {
  draft.number += 1;
  draft.users = [...draft.users, targetChart.begin({ allocId, ...use, number: draft.number, sinceMs: draft.at })];
}

/** Returns the volume with the name of its driver: newly known, or accepted instead of the one that made it. */
const withDriver = (volume: MountedVolume | null, driver: string | undefined): MountedVolume | null =>
  volume && driver !== undefined ? { ...volume, driver } : volume;

/**
 * Keeps the name of the driver: the call was made without knowing it.
 * @param change what the answer has changed
 */
export function learnedMount({ volume: before }: MountContext, change: MountChange, driver: string): MountChange {
  const { volume = before } = change.context;
  return volume?.driver === undefined
    ? { ...change, context: { ...change.context, volume: withDriver(volume, driver) } }
    : change;
}

/** The claim or hold of the alloc is still its own: its targets are worked on. */
export const confirm = (context: MountContext, allocId: string, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => dropUnconfirmed(draft, allocId));

/** Undoes at once what waits to be undone. A target that is to be mounted again is mounted after that. */
export const hasten = (context: MountContext, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    stepStaging(draft, { type: 'hasten' });
    stepTargets(draft, { type: 'hasten' });
  });

export const leave = (
  context: MountContext,
  { allocId, hold = Number.POSITIVE_INFINITY }: { allocId: string; hold?: number },
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const user = draft.users.find((one) => one.allocId === allocId);
    if (user?.hold !== undefined && user.hold > hold) return;
    // Asked for again: tried now.
    stepStaging(draft, { type: 'hasten' });
    if (user) stepTarget(draft, user, { type: 'leave' });
  });

/**
 * Drops the holds of what is not here. A target that waits only for the unstage stops waiting if another alloc uses
 * the volume.
 */
export function settleStaging(draft: MountDraft): void {
  const isUsed = draft.users.some((user) => !hasNoTarget(user));
  if (!isUsed && isStagingOwed(draft)) return;
  stepTargets(draft, { type: 'let-go' });
  // A failed target has nothing here, except perhaps the staging.
  draft.users = draft.users.map(({ hold, ...user }) =>
    hold === undefined || user.at === 'failed' ? user : { ...user, hold },
  );
  if (isUsed) return;
  stepStaging(draft, { type: 'users.gone' });
  draft.expansion = null;
  draft.condition = null;
  if (!isUnused(draft)) return;
  draft.volume = null;
  draft.capability = null;
}

/** Picks the next piece of work: the present one is over, or was never begun. */
export const chooseWork = (context: MountContext, stamp: Stamped): Partial<MountContext> =>
  draftedMount(context, stamp, (draft) => {
    draft.work = null;
    draft.awaiting = null;
    settleStaging(draft);
    leaveDead(draft);
    followUsers(draft);
    draft.work = nextMountWork(draft, stamp.at);
  }).context;

/** Whether the present call is still the next to be made. */
export function isCallWanted(context: MountContext, nowMs: number): boolean {
  const { work } = context;
  const next = nextMountWork(context, nowMs);
  return next?.kind === work?.kind && next?.allocId === work?.allocId;
}

/**
 * Recovers a dead mount: unmounts all that may be bound from it, unstages, and stages again; the targets come back.
 * If a loss is only reported, that waits until somebody asks. A target that was not seen dead is left alone.
 */
function leaveDead(draft: MountDraft): void {
  const { staging, users } = draft;
  if (!isDead(staging) || (staging.at === 'found-dead' && !users.some((user) => isToPublish(draft, user)))) return;
  stepTargets(draft, { type: 'staging-dead' });
}

/** Applies what the kernel does not show any more. Says nothing of calls under way and of later mounts. */
export const observedMounts = (
  context: MountContext,
  { users, staging, isStart }: { users: MountObservation[]; staging: StagingObservation[]; isStart: boolean },
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const { number } = draft.staging;
    const observed = draft.volume ? staging.find((observation) => observation.number === number) : undefined;
    if (observed?.isGone) deadGone(draft);
    else if (observed) stagingLost(draft, observed);
    if (isStart) {
      draft.unconfirmed = draft.users
        .filter((user) => mayHaveLost(user) || draft.unconfirmed.includes(user.allocId))
        .map(({ allocId }) => allocId);
      // The runtime has started again, which may have removed the cause.
      stepTargets(draft, { type: 'runtime.started' });
      stepStaging(draft, { type: 'runtime.started' });
    }
    for (const { number: seen, is, isMended } of users) {
      const user = draft.users.find((one) => one.number === seen);
      if (user?.at !== 'published') continue;
      draft.broadcasts.push({ type: 'lost', allocId: user.allocId, is, isMended });
      stepTarget(draft, user, { type: is === 'missing' ? 'seen-missing' : 'seen-dead', isMended });
    }
  });

/** Handles a staging path that does not show the staged mount, or shows a dead one while its state is in doubt. */
function stagingLost(draft: MountDraft, { isMended, isDead: isSeenDead }: StagingObservation): void {
  const before = draft.staging;
  stepStaging(draft, { type: isSeenDead ? 'seen-dead' : 'seen-missing', isMended });
  const wasThere = isStaged(before) || isInDoubt(before);
  if (wasThere && draft.staging !== before) draft.broadcasts.push({ type: 'staging-lost', isMended });
}

/** Allows to stage the volume again. What may be bound from the dead mount is unmounted before it counts as mounted. */
function deadGone(draft: MountDraft): void {
  if (!isDead(draft.staging)) return;
  stepStaging(draft, { type: 'seen-dead-gone' });
  stepTargets(draft, { type: 'staging-dead-gone' });
}

/** Whether the target may have lost its mount: it has neither let go nor is about to. */
const mayHaveLost = (user: Target): boolean =>
  (user.isClaimed || user.hold !== undefined) && !isLeaving(user) && user.at !== 'waiting-for-unstage';

/** Retries what has failed, and tries now what waits for its time. */
export const retryMount = (context: MountContext, stamp: Stamped, acceptDriver?: string): MountChange =>
  draftedMount(context, stamp, (draft) => {
    draft.volume = withDriver(draft.volume, acceptDriver);
    stepStaging(draft, { type: 'retry' });
    for (const user of draft.users) {
      if (!isRetried(user)) stepTarget(draft, user, { type: 'retry' });
      else if (mayReturn(draft, user)) {
        draft.capability = user.capability;
        stepTarget(draft, user, { type: 'use', use: user });
      }
    }
    if (draft.expansion) draft.expansion = { capacity: draft.expansion.capacity };
  });

/** A failed target without a claim has no hold any more: it has to be asked for again. */
const isRetried = (user: Target): boolean => user.at === 'lost' || (user.at === 'failed' && user.isClaimed);

/** Whether a request for the same would be accepted now: other allocs may use the volume in another way. */
const mayReturn = (draft: MountDraft, { allocId, capability, readOnly, isClaimed }: Target): boolean =>
  draft.volume !== null &&
  mountRefusalOf(draft, {
    ...{ type: 'mount.use', volume: draft.volume, capability },
    allocId,
    readOnly,
    isClaimed,
  }) === undefined;

export const expandMount = (
  { volume, expansion, work, awaiting }: MountContext,
  capacity: CapacityRange,
): MountChange => {
  const asked = expansion?.next ?? expansion?.capacity;
  if (!volume || (asked && !expansion?.failure && isSameData(asked, capacity))) return { context: {} };
  const isCalled = expansion && underWay({ work, awaiting }) === 'expand';
  return { context: { expansion: isCalled ? { ...expansion, next: capacity } : { capacity } } };
};

export const conditionSeen = (context: MountContext, condition: VolumeCondition | null): MountChange =>
  !context.volume || isSameData(context.condition, condition)
    ? { context: {} }
    : { context: { condition }, broadcasts: [{ type: 'condition', condition }] };
