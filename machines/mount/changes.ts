/** What requests and sights of the kernel make of a mount: its next context, and what is told of that. Pure. Which requests are refused: requests.ts */
import type { CapacityRange } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import { mountRefusalOf } from './requests.js';
import { isDead, isInDoubt, isStaged, type StagingEvent, stagingChart } from './staging.js';
import type {
  MountChanged,
  MountContext,
  MountedVolume,
  MountInput,
  MountSight,
  MountUse,
  MountUser,
  StagingSight,
  VolumeCondition,
} from './types.js';
import {
  isBeingPublished,
  isBeingStaged,
  isStagingOwed,
  isUnused,
  mayBeKnown,
  needsUnpublish,
  nextMountWork,
  stagingWish,
} from './work.js';

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
export type MountDraft = MountContext & { tells: MountTold[] };

export function draftedMount(before: MountContext, change: (draft: MountDraft) => void): MountChange {
  const draft: MountDraft = { tells: [], ...before };
  change(draft);
  followUsers(draft);
  noteReleased(before, draft);
  const { tells, ...context } = draft;
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

/** Puts a user in the place of the one of the same alloc; undefined: it has let go. */
export function putUser(draft: MountDraft, allocId: string, user: MountUser | undefined): void {
  const isThere = draft.users.some((one) => one.allocId === allocId);
  if (!user) draft.users = draft.users.filter((one) => one.allocId !== allocId);
  else if (isThere) draft.users = draft.users.map((one) => (one.allocId === allocId ? user : one));
  else draft.users = [...draft.users, user];
}

const nextNumber = (draft: MountDraft): number => {
  draft.number += 1;
  return draft.number;
};

type Wanted = Pick<MountUser, 'allocId' | 'readOnly' | 'isClaimed' | 'capability' | 'isUnconfirmed' | 'hold'>;

/** To be mounted, from the beginning. */
export const wanted = (
  draft: MountDraft,
  { allocId, readOnly, isClaimed, capability, isUnconfirmed, hold }: Wanted,
  sinceMs: number,
): MountUser => ({
  allocId,
  readOnly,
  isClaimed,
  capability,
  ...(hold !== undefined && { hold }),
  ...(isUnconfirmed && { isUnconfirmed }),
  state: 'wanted',
  number: nextNumber(draft),
  sinceMs,
});

/** To be unmounted, from the beginning: what came of attempts to mount it does not count. */
export const leavingUser = ({ tries: _, failure: __, again: ___, ...user }: MountUser, sinceMs: number): MountUser => ({
  ...user,
  state: 'leaving',
  sinceMs,
});

export const use = (
  context: MountContext,
  { volume, capability, allocId, readOnly, isClaimed, hold: given }: MountUse,
  { at }: Stamped,
): MountChange =>
  draftedMount(context, (draft) => {
    // What is staged, or just being staged, is published with what it is staged with.
    if (!isStaged(draft.staging) && !isBeingStaged(draft)) draft.volume = volume;
    else draft.volume = withDriver(draft.volume, volume.driver);
    draft.capability = capability;
    stepStaging(draft, { type: 'retry' });
    const present = draft.users.find((one) => one.allocId === allocId);
    // Whoever has a slot has it for both.
    const hold = given ?? present?.hold;
    const held = hold === undefined ? {} : { hold };
    const asked = { allocId, readOnly, capability, isClaimed: isClaimed || present?.isClaimed === true, ...held };
    const { isUnconfirmed: _, ...user } = present ?? wanted(draft, asked, at);
    if (user.state === 'leaving')
      putUser(draft, allocId, { ...user, ...held, again: { readOnly, isClaimed, capability, ...held } });
    else if (user.state === 'wanted') putUser(draft, allocId, { ...due(user), ...asked });
    else if (user.state === 'published') putUser(draft, allocId, { ...user, ...asked });
    else putUser(draft, allocId, wantedAgain(draft, user, asked, at));
  });

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

/** To be mounted once more. What was lost was not unpublished. */
const wantedAgain = (
  draft: MountDraft,
  { state, inDoubt, isKnown }: MountUser,
  asked: Wanted,
  at: number,
): MountUser => ({
  ...wanted(draft, asked, at),
  ...(inDoubt && { inDoubt }),
  ...((isKnown || state === 'lost') && { isKnown: true as const }),
});

/** To be unmounted, then mounted again. */
const remounted = (user: MountUser, { readOnly, isClaimed, capability }: Again, at: number): MountUser => ({
  ...leavingUser(user, at),
  again: { readOnly, isClaimed, capability },
});

type Again = NonNullable<MountUser['again']>;

/** Its claim, or its hold, is kept still: what was asked for is done. */
export const confirm = (context: MountContext, allocId: string): MountChange =>
  draftedMount(context, (draft) => {
    draft.users = draft.users.map(({ isUnconfirmed, ...user }) =>
      isUnconfirmed && user.allocId !== allocId ? { ...user, isUnconfirmed } : user,
    );
  });

/** It is tried now. */
const due = (user: MountUser): MountUser => ({
  ...user,
  ...(user.tries && { tries: { ...user.tries, notBeforeMs: 0 } }),
});

/** What waits to be undone is undone now. Nothing else changes: who is to come back after that comes back. */
export const hasten = (context: MountContext): MountChange =>
  draftedMount(context, (draft) => {
    stepStaging(draft, { type: 'hasten' });
    draft.users = draft.users.map((user) => (user.state === 'leaving' ? due(user) : user));
  });

export const leave = (
  context: MountContext,
  { allocId, hold = Number.POSITIVE_INFINITY }: { allocId: string; hold?: number },
  { at }: Stamped,
): MountChange =>
  draftedMount(context, (draft) => {
    const user = draft.users.find((one) => one.allocId === allocId);
    if (user?.hold !== undefined && user.hold > hold) return;
    // Asked again, it is tried now.
    stepStaging(draft, { type: 'hasten' });
    if (!user || user.state === 'detached') return;
    const { again: _, failure: __, ...left } = due(user);
    if (user.state === 'leaving') {
      putUser(draft, allocId, left);
    } else if (user.state === 'lost' || needsUnpublish(user) || isBeingPublished(draft, user))
      putUser(draft, allocId, leavingUser(left, at));
    else letGo(draft, left, at);
  });

/**
 * Its target is not mounted any more. Its alloc has let go with that, unless it was the last: the volume is unstaged first,
 * as its slot is given up when its alloc has let go.
 */
export function letGo(draft: MountDraft, user: MountUser, at: number): void {
  const { allocId, readOnly, isClaimed, capability, number, sinceMs, again, isUnconfirmed } = user;
  const held = user.hold === undefined ? {} : { hold: user.hold };
  const { inDoubt: _, isKnown: __, found: ___, tries: ____, appeared: _____, ...rest } = user;
  const isLast = draft.users.every(
    (one) => one.allocId === allocId || one.state === 'failed' || one.state === 'detached',
  );
  if (again)
    putUser(draft, allocId, wanted(draft, { allocId, ...held, ...again, ...(isUnconfirmed && { isUnconfirmed }) }, at));
  else if (user.failure) putUser(draft, allocId, { ...rest, state: 'failed' });
  else
    putUser(
      draft,
      allocId,
      isLast && isStagingOwed(draft)
        ? { allocId, readOnly, isClaimed, capability, ...held, state: 'detached', number, sinceMs }
        : undefined,
    );
  settleStaging(draft);
}

/** Nothing holds what is not here; and who waits only for the staging to go waits no more where somebody else uses it. */
export function settleStaging(draft: MountDraft): void {
  const isUsed = draft.users.some(({ state }) => state !== 'failed' && state !== 'detached');
  if (isUsed) draft.users = draft.users.filter(({ state }) => state !== 'detached');
  // Of one that has failed nothing is here, but perhaps the staging.
  if (isUsed || !isStagingOwed(draft))
    draft.users = draft.users.map(({ hold, ...user }) =>
      hold === undefined || user.state === 'failed' ? user : { ...user, hold },
    );
  if (isUsed || isStagingOwed(draft)) return;
  draft.users = draft.users.filter((one) => one.state !== 'detached');
  stepStaging(draft, { type: 'users.gone' });
  draft.expansion = null;
  draft.condition = null;
  if (!isUnused(draft)) return;
  draft.volume = null;
  draft.capability = null;
}

/** What it is at is over, or was never begun: the next piece of work, as it is from here. */
export const chooseWork = (context: MountContext, { at }: Stamped): Partial<MountContext> =>
  draftedMount(context, (draft) => {
    draft.work = null;
    draft.awaiting = null;
    if (stagingChart.hasTag(draft.staging, 'has-turn')) stepStaging(draft, { type: 'turn.lost' });
    settleStaging(draft);
    leaveDead(draft, at);
    followUsers(draft);
    draft.work = nextMountWork(draft, at);
    const { kind, isCalling } = draft.work ?? {};
    if (isCalling && (kind === 'stage' || kind === 'unstage')) stepStaging(draft, { type: 'turn.given' });
  }).context;

/**
 * What is dead is unstaged before it is staged again, and before that unmounted for all that may be bound from it: they come
 * back. Where it is only reported, that is once somebody asks. Who is `published` still was not seen dead, and is left alone.
 */
function leaveDead(draft: MountDraft, at: number): void {
  const { staging, users } = draft;
  if (!isDead(staging) || (isIn(staging, 'found-dead') && !users.some(isAsked))) return;
  for (const user of users)
    if (user.state === 'lost' || (user.state === 'wanted' && mayBeKnown(user)))
      putUser(draft, user.allocId, remounted(user, user, at));
}

const isAsked = ({ state, isUnconfirmed }: MountUser): boolean => state === 'wanted' && !isUnconfirmed;

/** What the kernel does not show any more. Nothing is said of what is under way, nor of what was mounted since. */
export const observedMounts = (
  context: MountContext,
  { users, staging, isStart }: { users: MountSight[]; staging: StagingSight[]; isStart: boolean },
  { at }: Stamped,
): MountChange =>
  draftedMount(context, (draft) => {
    const { number } = draft.staging;
    const sighted = draft.volume ? staging.find((sight) => sight.number === number) : undefined;
    if (sighted?.isGone) deadGone(draft, at);
    else if (sighted) stagingLost(draft, sighted);
    if (isStart) {
      // What kept it from that may have been mended with the runtime.
      draft.users = draft.users.map((user) => unconfirmed(due(user)));
      stepStaging(draft, { type: 'runtime.started' });
    }
    for (const sight of users) {
      const user = draft.users.find((one) => one.number === sight.number);
      if (user?.state !== 'published') continue;
      const { allocId } = user;
      draft.tells.push({ type: 'lost', allocId, is: sight.is, isMended: sight.isMended });
      const { found: _, ...gone } = user;
      if (!sight.isMended) putUser(draft, allocId, { ...gone, state: 'lost' });
      else if (sight.is === 'missing') putUser(draft, allocId, { ...wanted(draft, user, at), isKnown: true });
      else putUser(draft, allocId, remounted(user, user, at));
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
function deadGone(draft: MountDraft, at: number): void {
  if (!isDead(draft.staging)) return;
  stepStaging(draft, { type: 'seen-dead-gone' });
  for (const user of draft.users)
    if (user.state === 'wanted' && (user.inDoubt || isBeingPublished(draft, user)))
      putUser(draft, user.allocId, remounted(user, user, at));
}

/** Whoever has let go, or is to, is mounted no more; all others are, or are once they are retried. */
const unconfirmed = (user: MountUser): MountUser =>
  (user.isClaimed || user.hold !== undefined) && mayComeBack(user) ? { ...user, isUnconfirmed: true } : user;

const mayComeBack = ({ state, again, failure }: MountUser): boolean =>
  again !== undefined || failure !== undefined || (state !== 'leaving' && state !== 'detached');

/** What has failed is tried again, and what waits for its time is tried now. */
export const retryMount = (context: MountContext, { at }: Stamped, acceptDriver?: string): MountChange =>
  draftedMount(context, (draft) => {
    draft.volume = withDriver(draft.volume, acceptDriver);
    stepStaging(draft, { type: 'retry' });
    for (const user of draft.users) {
      if (user.state === 'wanted' || user.state === 'leaving') putUser(draft, user.allocId, due(user));
      else if (isRetried(user) && mayReturn(draft, user)) {
        draft.capability = user.capability;
        putUser(draft, user.allocId, wantedAgain(draft, user, user, at));
      }
    }
    if (draft.expansion) draft.expansion = { capacity: draft.expansion.capacity };
  });

/** Without a claim, one that has failed has no hold any more: it is asked for again. */
const isRetried = ({ state, isClaimed }: MountUser): boolean => state === 'lost' || (state === 'failed' && isClaimed);

/** Whether it would be taken if it were asked for now: others may use the volume otherwise by now. */
const mayReturn = (draft: MountDraft, { allocId, capability, readOnly, isClaimed }: MountUser): boolean =>
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
