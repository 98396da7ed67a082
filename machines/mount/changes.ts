/** What requests and sights of the kernel make of a mount: its next context, and what is told of that. Pure. Which requests are refused: requests.ts */
import type { CapacityRange } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import { mountRefusalOf } from './requests.js';
import { isDead, isInDoubt, isStaged, stagingChart } from './staging.js';
import type { StagingEvent } from './staging-setup.js';
import { hasNoTarget, isToUnpublish, targetChart } from './target.js';
import type { Moment, TargetEvent, TargetUse } from './target-setup.js';
import type {
  MountChanged,
  MountContext,
  MountedVolume,
  MountInput,
  MountSight,
  MountUse,
  MountWork,
  StagingSight,
  Target,
  VolumeCondition,
} from './types.js';
import { isBeingStaged, isStagingOwed, isToPublish, isUnused, nextMountWork, stagingWish } from './work.js';

export type MountTold = MountChanged extends infer One
  ? One extends unknown
    ? Omit<One, 'node' | 'key'>
    : never
  : never;

/** What becomes of a context, and what is broadcast of it. */
export interface MountChange {
  context: Partial<MountContext>;
  tells?: MountTold[];
}

/** Its own to change: lists and what is in them are replaced, never changed. */
export type MountDraft = MountContext & { tells: MountTold[]; at: number };

export function draftedMount(
  before: MountContext,
  { at }: Pick<Stamped, 'at'>,
  change: (draft: MountDraft) => void,
): MountChange {
  const draft: MountDraft = { tells: [], at, ...before };
  change(draft);
  followUsers(draft);
  noteReleased(before, draft);
  const { tells, at: _, ...context } = draft;
  return { context, tells };
}

/** Says to the staging path what the users need of it now, unless a call about it is under way: its outcome comes first. */
function followUsers(draft: MountDraft): void {
  if (!stagingChart.hasTag(draft.staging, 'has-turn')) stepStaging(draft, { type: stagingWish(draft) });
}

/** A user that is gone, or has no hold any more, has let go: the hold is released once whoever has the volumes hears so. */
function noteReleased({ users }: MountContext, draft: MountDraft): void {
  const released = users.flatMap(({ allocId, hold }) => {
    const isHeld = draft.users.some((one) => one.allocId === allocId && one.hold !== undefined);
    return hold === undefined || isHeld ? [] : [{ allocId, generation: hold }];
  });
  if (released.length > 0) draft.unreported = [...(draft.unreported ?? []), ...released];
}

/** Drops the holds of an alloc up to a generation: the keeper of the volumes has heard of their release. */
export const holdReleased = (
  { unreported = [] }: MountContext,
  { allocId, generation }: { allocId: string; generation: number },
): MountChange => ({
  context: { unreported: unreported.filter((one) => one.allocId !== allocId || one.generation > generation) },
});

/** Nothing of the volume is here. */
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

/** Steps the staging path, and hands it what came of the call about it. */
export function stepStaging(draft: MountDraft, event: StagingEvent): void {
  draft.staging = stagingChart.step(draft.staging, event);
}

/** Of the target of a user, or of one that is about to come. */
const momentOf = (draft: MountDraft, allocId: string): Moment => ({
  atMs: draft.at,
  nextNumber: draft.number + 1,
  isLast: isStagingOwed(draft) && draft.users.every((one) => one.allocId === allocId || hasNoTarget(one)),
});

type WithoutMoment<TEvent> = TEvent extends TargetEvent ? Omit<TEvent, keyof Moment> : never;

/** Steps the target of a user, and hands it what came of the call about it. Who has let go by that is forgotten. */
export function stepTarget(draft: MountDraft, user: Target, event: WithoutMoment<TargetEvent>): void {
  const { allocId } = user;
  const next = targetChart.step(user, { ...event, ...momentOf(draft, allocId) });
  if (next.number !== user.number) draft.number = next.number;
  if (isIn(next, 'released')) draft.users = draft.users.filter((one) => one.allocId !== allocId);
  else draft.users = draft.users.map((one) => (one.allocId === allocId ? next : one));
  const hasLetGo = isIn(next, 'released') || isIn(next, 'waiting-for-unstage');
  if (hasLetGo) dropUnconfirmed(draft, allocId);
  const isUnpublished = isToUnpublish(user) && !isToUnpublish(next);
  if (isUnpublished || (hasLetGo && !isIn(user, 'waiting-for-unstage'))) settleStaging(draft);
}

/** Steps all of them, in their order: one may have let go by what another one did. */
function stepTargets(draft: MountDraft, event: WithoutMoment<TargetEvent>): void {
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
    // What is staged, or just being staged, is published with what it is staged with.
    if (!isStaged(draft.staging) && !isBeingStaged(draft)) draft.volume = volume;
    else draft.volume = withDriver(draft.volume, volume.driver);
    draft.capability = capability;
    stepStaging(draft, { type: 'retry' });
    const present = draft.users.find((one) => one.allocId === allocId);
    // Whoever has a slot has it for both.
    const hold = given ?? present?.hold;
    const asked = { readOnly, capability, isClaimed: isClaimed || present?.isClaimed === true, hold };
    dropUnconfirmed(draft, allocId);
    if (!present) begin(draft, allocId, asked);
    // Who leaves has given up its slot.
    else if (isToUnpublish(present)) stepTarget(draft, present, { type: 'use', use: { ...asked, isClaimed } });
    else stepTarget(draft, present, { type: 'use', use: asked });
  });

function begin(draft: MountDraft, allocId: string, use: TargetUse): void {
  const { nextNumber, atMs } = momentOf(draft, allocId);
  draft.number = nextNumber;
  draft.users = [...draft.users, targetChart.begin({ allocId, ...use, number: nextNumber, sinceMs: atMs })];
}

/** The same volume of a driver that is known now, or that is accepted for the one that made it. */
const withDriver = (volume: MountedVolume | null, driver: string | undefined): MountedVolume | null =>
  volume && driver !== undefined ? { ...volume, driver } : volume;

/** Its call was made without knowing the plugin's driver. @param change what its answer made of it */
export function learnedMount({ volume: before }: MountContext, change: MountChange, driver: string): MountChange {
  const { volume = before } = change.context;
  return volume?.driver === undefined
    ? { ...change, context: { ...change.context, volume: withDriver(volume, driver) } }
    : change;
}

/** Its claim, or its hold, is kept still: what was asked for is done. */
export const confirm = (context: MountContext, allocId: string, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => dropUnconfirmed(draft, allocId));

/** What waits to be undone is undone now. Nothing else changes: who is to come back after that comes back. */
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
    // Asked again, it is tried now.
    stepStaging(draft, { type: 'hasten' });
    if (user) stepTarget(draft, user, { type: 'leave' });
  });

/** Nothing holds what is not here; and who waits only for the staging to go waits no more where somebody else uses it. */
export function settleStaging(draft: MountDraft): void {
  const isUsed = draft.users.some((user) => !hasNoTarget(user));
  if (!isUsed && isStagingOwed(draft)) return;
  stepTargets(draft, { type: 'let-go' });
  // Of one that has failed nothing is here, but perhaps the staging.
  draft.users = draft.users.map(({ hold, ...user }) =>
    hold === undefined || isIn(user, 'failed') ? user : { ...user, hold },
  );
  if (isUsed) return;
  stepStaging(draft, { type: 'users.gone' });
  draft.expansion = null;
  draft.condition = null;
  if (!isUnused(draft)) return;
  draft.volume = null;
  draft.capability = null;
}

/** What it is at is over, or was never begun: the next piece of work, as it is from here. */
export const chooseWork = (context: MountContext, stamp: Stamped): Partial<MountContext> =>
  draftedMount(context, stamp, (draft) => {
    draft.work = null;
    draft.awaiting = null;
    if (stagingChart.hasTag(draft.staging, 'has-turn')) stepStaging(draft, { type: 'turn.lost' });
    for (const user of draft.users)
      if (targetChart.hasTag(user, 'has-turn')) stepTarget(draft, user, { type: 'turn.lost' });
    settleStaging(draft);
    leaveDead(draft);
    followUsers(draft);
    draft.work = nextMountWork(draft, stamp.at);
    if (draft.work?.isCalling) toldOfCall(draft, draft.work, { type: 'turn.given' });
  }).context;

/** Whether the call that the mount is at is still what is to be done next. */
export function isCallWanted(context: MountContext, nowMs: number): boolean {
  const { work } = context;
  const next = nextMountWork(context, nowMs);
  return next?.kind === work?.kind && next?.allocId === work?.allocId && hasTurn(context);
}

/** Whether the part that the call is about waits for its outcome still. */
function hasTurn({ work, staging, users }: MountContext): boolean {
  if (work?.allocId === undefined) return work?.kind === 'expand' || stagingChart.hasTag(staging, 'has-turn');
  return users.some((user) => user.allocId === work.allocId && targetChart.hasTag(user, 'has-turn'));
}

/** Hands an event of a call to the part that it is about, if there is one. */
export function toldOfCall(
  draft: MountDraft,
  { kind, allocId }: MountWork,
  event: { type: 'turn.given' | 'call.waits' },
): void {
  const user = draft.users.find((one) => one.allocId === allocId);
  if (kind === 'stage' || kind === 'unstage') stepStaging(draft, event);
  else if (user) stepTarget(draft, user, event);
}

/**
 * What is dead is unstaged before it is staged again, and before that unmounted for all that may be bound from it: they come
 * back. Where it is only reported, that is once somebody asks. Who is `published` still was not seen dead, and is left alone.
 */
function leaveDead(draft: MountDraft): void {
  const { staging, users } = draft;
  if (!isDead(staging) || (isIn(staging, 'found-dead') && !users.some((user) => isToPublish(draft, user)))) return;
  stepTargets(draft, { type: 'staging-dead' });
}

/** What the kernel does not show any more. Nothing is said of what is under way, nor of what was mounted since. */
export const observedMounts = (
  context: MountContext,
  { users, staging, isStart }: { users: MountSight[]; staging: StagingSight[]; isStart: boolean },
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const { number } = draft.staging;
    const sighted = draft.volume ? staging.find((sight) => sight.number === number) : undefined;
    if (sighted?.isGone) deadGone(draft);
    else if (sighted) stagingLost(draft, sighted);
    if (isStart) {
      draft.unconfirmed = draft.users
        .filter((user) => mayHaveLost(user) || draft.unconfirmed.includes(user.allocId))
        .map(({ allocId }) => allocId);
      // What kept it from that may have been mended with the runtime.
      stepTargets(draft, { type: 'runtime.started' });
      stepStaging(draft, { type: 'runtime.started' });
    }
    for (const { number: seen, is, isMended } of users) {
      const user = draft.users.find((one) => one.number === seen);
      if (!user || !isIn(user, 'published')) continue;
      draft.tells.push({ type: 'lost', allocId: user.allocId, is, isMended });
      stepTarget(draft, user, { type: is === 'missing' ? 'seen-missing' : 'seen-dead', isMended });
    }
  });

/** The kernel does not show the staging path as it was, or shows something dead where it is not known what is there. */
function stagingLost(draft: MountDraft, { isMended, isDead: isSeenDead }: StagingSight): void {
  const before = draft.staging;
  stepStaging(draft, { type: isSeenDead ? 'seen-dead' : 'seen-missing', isMended });
  const wasThere = isStaged(before) || isInDoubt(before);
  if (wasThere && draft.staging !== before) draft.tells.push({ type: 'staging-lost', isMended });
}

/** Nothing keeps the volume from being staged again. What may be bound from what was dead is unmounted before it is taken for a mount. */
function deadGone(draft: MountDraft): void {
  if (!isDead(draft.staging)) return;
  stepStaging(draft, { type: 'seen-dead-gone' });
  stepTargets(draft, { type: 'staging-dead-gone' });
}

/** Whoever has let go, or is to, is mounted no more; all others are, or are once they are retried. */
const mayHaveLost = (user: Target): boolean =>
  (user.isClaimed || user.hold !== undefined) && !isIn(user, 'pending-unpublish') && !isIn(user, 'waiting-for-unstage');

/** What has failed is tried again, and what waits for its time is tried now. */
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

/** Without a claim, one that has failed has no hold any more: it is asked for again. */
const isRetried = (user: Target): boolean => isIn(user, 'lost') || (isIn(user, 'failed') && user.isClaimed);

/** Whether it would be taken if it were asked for now: others may use the volume otherwise by now. */
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
  const isCalled = expansion && work?.kind === 'expand' && work.isCalling && !awaiting;
  return { context: { expansion: isCalled ? { ...expansion, next: capacity } : { capacity } } };
};

export const conditionSeen = (context: MountContext, condition: VolumeCondition | null): MountChange =>
  !context.volume || isSameData(context.condition, condition)
    ? { context: {} }
    : { context: { condition }, tells: [{ type: 'condition', condition }] };
