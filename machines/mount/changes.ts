/**
 * Changes that requests and the kernel's mount table make to a mount: its next record and its broadcasts. Pure.
 * Refusals: requests.ts
 */
import type { CapacityRange } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import {
  beginTarget,
  draftedMount,
  dropUnconfirmed,
  followUsers,
  type MountChange,
  type MountDraft,
  settleStaging,
  stepStaging,
  stepTarget,
  stepTargets,
} from './draft.js';
import { useRefusal } from './requests.js';
import { isDead, isStaged, isStagingInDoubt, stagingChart } from './staging.js';
import { hasNoTarget, isLeaving } from './target.js';
import type {
  MountContext,
  MountedVolume,
  MountInput,
  MountObservation,
  MountUse,
  StagingObservation,
  Target,
  VolumeCondition,
} from './types.js';
import { isToPublish, nextMountWork, underWay } from './work.js';

/** Drops the hold of an alloc: a claim has replaced it, or the alloc has let go. */
export const holdReleased = ({ holds = [] }: MountContext, allocId: string): MountChange => {
  const left = holds.filter((one) => one.allocId !== allocId);
  return { context: { holds: left.length > 0 ? left : undefined } };
};

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

export const use = (
  context: MountContext,
  { volume, capability, allocId, readOnly }: MountUse,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    // A volume that is staged, or is being staged, is published with the data that it is staged with.
    if (!isStaged(draft.staging) && underWay(draft) !== 'stage') draft.volume = volume;
    else draft.volume = withDriver(draft.volume, volume.driver);
    draft.capability = capability;
    stepStaging(draft, { type: 'retry' });
    const present = draft.users.find((one) => one.allocId === allocId);
    const asked = { readOnly, capability };
    dropUnconfirmed(draft, allocId);
    if (present) stepTarget(draft, present, { type: 'use', use: asked });
    else beginTarget(draft, allocId, asked);
  });

/** Returns the volume with the name of its driver: newly known, or accepted instead of the one that made it. */
const withDriver = (volume: MountedVolume | null, driver: string | undefined): MountedVolume | null =>
  volume && driver !== undefined ? { ...volume, driver } : volume;

export function learnedMount({ volume: before }: MountContext, change: MountChange, driver: string): MountChange {
  const { volume = before } = change.context;
  return volume?.driver === undefined
    ? { ...change, context: { ...change.context, volume: withDriver(volume, driver) } }
    : change;
}

/** The claim of the alloc is still its own: its targets are worked on. */
export const confirm = (context: MountContext, allocId: string, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => dropUnconfirmed(draft, allocId));

/** Undoes at once what waits to be undone. A target that is to be mounted again is mounted after that. */
export const hasten = (context: MountContext, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    stepStaging(draft, { type: 'hasten' });
    stepTargets(draft, { type: 'hasten' });
  });

export const leave = (context: MountContext, allocId: string, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const user = draft.users.find((one) => one.allocId === allocId);
    // Asked for again: tried now.
    stepStaging(draft, { type: 'hasten' });
    if (user) stepTarget(draft, user, { type: 'leave' });
  });

/** Drops the record of what this host can't show, without a call. Holds stay until each is released. */
export const givenUp = (context: MountContext, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    for (const user of draft.users)
      if (!hasNoTarget(user))
        draft.broadcasts.push({ type: 'lost', allocId: user.allocId, is: 'missing', isMended: false });
    draft.users = [];
    draft.unconfirmed = [];
    draft.staging = stagingChart.begin({ number: draft.staging.number });
    draft.work = null;
    draft.awaiting = null;
    settleStaging(draft);
  });

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
  const wasThere = isStaged(before) || isStagingInDoubt(before);
  if (wasThere && draft.staging !== before) draft.broadcasts.push({ type: 'staging-lost', isMended });
}

/** Allows to stage the volume again. What may be bound from the dead mount is unmounted before it counts as mounted. */
function deadGone(draft: MountDraft): void {
  if (!isDead(draft.staging)) return;
  stepStaging(draft, { type: 'seen-dead-gone' });
  stepTargets(draft, { type: 'staging-dead-gone' });
}

/** Whether the target may have lost its mount: it has neither let go nor is about to. */
const mayHaveLost = (user: Target): boolean => !isLeaving(user) && user.at !== 'waiting-for-unstage';

/** Retries what has failed, and tries now what waits for its time. */
export const retryMount = (context: MountContext, stamp: Stamped, acceptDriver?: string): MountChange =>
  draftedMount(context, stamp, (draft) => {
    draft.volume = withDriver(draft.volume, acceptDriver);
    stepStaging(draft, { type: 'retry' });
    for (const user of draft.users) {
      if (user.at !== 'lost' && user.at !== 'failed') stepTarget(draft, user, { type: 'retry' });
      else if (mayReturn(draft, user)) {
        draft.capability = user.capability;
        stepTarget(draft, user, { type: 'use', use: user });
      }
    }
    if (draft.expansion) draft.expansion = { capacity: draft.expansion.capacity };
  });

/** Whether a request for the same would be accepted now: other allocs may use the volume in another way. */
const mayReturn = (draft: MountDraft, { allocId, capability, readOnly }: Target): boolean =>
  draft.volume !== null && useRefusal(draft, { volume: draft.volume, capability, allocId, readOnly }) === undefined;

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
