/** What the answers of the plugin, and the kernel's table, make of a mount. Pure. What each class of answer asks for: docs/csi.md */
import { defaultBackoff, jittered } from '../kit/backoff.js';
import type { FailedAttempt } from '../kit/call-states.js';
import type { Awaiting, CallFailure, Tries } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';
import {
  type NodeExpandAnswer,
  type NodePublishAnswer,
  type NodeUnpublishAnswer,
  type StageAnswer,
  userAt,
} from './calls.js';
import { draftedMount, leavingUser, letGo, type MountChange, type MountDraft, putUser } from './changes.js';
import type { AppearedMount, MountContext, MountUser, MountWork, NodeExpansion } from './types.js';
import { mayBeKnown } from './work.js';

export const staged = (context: MountContext, { isStaged, found, bootId }: StageAnswer): MountChange =>
  draftedMount(context, (draft) => {
    draft.number += 1;
    draft.bootId = bootId;
    const { isDead, isLost } = draft.staging;
    const { number } = draft;
    // Seen dead meanwhile, which was told of then: its plugin may have taken that for staged.
    if (isStaged && isDead) draft.staging = { state: 'doubtful', number, isDead, ...(isLost && { isLost }) };
    else draft.staging = { state: isStaged ? 'staged' : 'without', number, ...(found && { found }) };
  });

export const targetMounted = (
  context: MountContext,
  { found, bootId }: NodePublishAnswer,
  { at }: Stamped,
): MountChange =>
  draftedMount(context, (draft) => {
    const { tries: _, inDoubt: __, isKnown: ___, failure: ____, appeared: _____, ...user } = userAt(draft);
    draft.bootId = bootId;
    // Asked to leave meanwhile, it is unmounted next.
    if (user.state !== 'wanted') return putUser(draft, user.allocId, { ...user, found });
    // Seen dead meanwhile is what it is bound from.
    if (draft.staging.isDead) return putUser(draft, user.allocId, { ...user, inDoubt: true });
    putUser(draft, user.allocId, { ...user, state: 'published', found });
    // What was said of it is of the mount before.
    draft.condition = null;
    const { allocId, readOnly, sinceMs } = user;
    draft.tells.push({ type: 'mounted', allocId, readOnly, durationMs: Math.max(0, at - sinceMs) });
  });

export const targetUnmounted = (
  context: MountContext,
  { leftBehind, unmounted }: NodeUnpublishAnswer,
  { at }: Stamped,
): MountChange =>
  draftedMount(context, (draft) => {
    const user = userAt(draft);
    const { allocId, sinceMs } = user;
    tellUnmounted(draft, unmounted, allocId);
    const left = leftBehind === undefined ? {} : { leftBehind };
    draft.tells.push({ type: 'unmounted', allocId, durationMs: Math.max(0, at - sinceMs), ...left });
    letGo(draft, user, at);
  });

/** Says that the plugin has left our mount at a path. @param path absent: it has not */
function tellUnmounted(draft: MountDraft, path: string | undefined, allocId?: string): void {
  if (path === undefined || !draft.volume) return;
  const { plugin } = draft.volume;
  draft.tells.push({ type: 'unmounted-for-plugin', plugin, path, ...(allocId !== undefined && { allocId }) });
}

export const unstaged = (context: MountContext, { leftBehind, unmounted }: NodeUnpublishAnswer): MountChange =>
  draftedMount(context, (draft) => {
    tellUnmounted(draft, unmounted);
    if (leftBehind !== undefined) draft.tells.push({ type: 'left-behind', leftBehind });
    // What was seen there before is not seen of what is there by now.
    draft.number += 1;
    // A stage that leaves something dead each time is no new one: its pauses grow.
    const { tries } = draft.staging;
    draft.staging = { state: 'none', number: draft.number, ...(tries && { tries }) };
  });

export const nodeExpanded = (context: MountContext, { capacityBytes }: NodeExpandAnswer): MountChange =>
  draftedMount(context, (draft) => {
    draft.expansion = nextExpansion(draft);
    draft.tells.push({ type: 'expanded', ...(capacityBytes !== undefined && { capacityBytes }) });
  });

/** The call has to wait, and was not made. */
export const mountAwaits = (_: MountContext, { reason }: Awaiting): MountChange => ({
  context: { awaiting: { reason } },
});

/** Keeps what the path of a call that has failed shows, which was not there before it: a mount that the call has made. */
export const mountAppeared = (context: MountContext, appeared: AppearedMount): MountChange =>
  draftedMount(context, (draft) => {
    const { kind, allocId } = draft.work ?? {};
    if (kind === 'stage') draft.staging = { ...draft.staging, appeared };
    const user = kind === 'publish' && draft.users.find((one) => one.allocId === allocId);
    if (user) putUser(draft, user.allocId, { ...user, appeared });
  });

/** The piece of work that it is at has failed: it is tried again later, or stays failed. */
export const mountFailed = (context: MountContext, attempt: FailedAttempt): MountChange =>
  draftedMount(context, (draft) => {
    const work = mustWork(draft);
    const { failure, isNotBegun } = attempt;
    const isMade = !isNotBegun && !(attempt.isAnew && draft.awaiting);
    if (isMade) doubt(draft, work, failure, attempt.isAnew === true);
    if (isStagingMissing(work, failure) && draft.staging.state !== 'none')
      draft.staging = { ...draft.staging, state: 'doubtful' };
    if (attempt.isAnew) return;
    const count = (triesOf(draft, work)?.count ?? 0) + 1;
    if (failure.final && work.kind !== 'unpublish' && work.kind !== 'unstage') fail(draft, work, { ...attempt, count });
    else again(draft, work, { ...attempt, count });
  });

/** The plugin did it, but not as it was asked to: it is to be undone. */
const isMadeWrongly = ({ code }: CallFailure): boolean => code === 'MOUNT_NOT_AS_ASKED';

/** The step before a publish is the stage: that is missing whether its plugin says so, or the kernel does before any call. */
const isStagingMissing = ({ kind }: MountWork, { answerClass }: CallFailure): boolean =>
  kind === 'publish' && answerClass === 'repair';

/** A call for it may have taken effect, or may still. One that was refused for good has done nothing; whatever was before it stays in doubt. */
function doubt(draft: MountDraft, work: MountWork, failure: CallFailure, isAnew: boolean): void {
  const isInDoubt = isAnew || !failure.final;
  // It may have made something else there.
  if (work.kind === 'stage') {
    const { found: _, ...staging } = draft.staging;
    draft.staging = staging;
  }
  // What could not be unstaged is not surely staged any more.
  if (work.kind === 'unstage' || (work.kind === 'stage' && isInDoubt))
    draft.staging = { ...draft.staging, state: 'doubtful' };
  if (work.kind !== 'publish' || !(isInDoubt || isMadeWrongly(failure))) return;
  const user = userAt(draft);
  putUser(draft, user.allocId, { ...user, inDoubt: true });
}

function again(
  draft: MountDraft,
  work: MountWork,
  { failure, retry, at, random, count }: FailedAttempt & { count: number },
): void {
  const tries: Tries = {
    count,
    notBeforeMs: at + jittered(retry ?? defaultBackoff, count, random),
    sinceMs: at,
    failure,
  };
  if (count === 1) tellFailed(draft, work, failure);
  if (work.kind === 'stage') draft.staging = { ...draft.staging, tries };
  else if (work.kind === 'unstage') draft.staging = { ...draft.staging, undoing: tries };
  else if (work.kind === 'expand')
    draft.expansion = nextExpansion(draft) ?? (draft.expansion && { ...draft.expansion, tries });
  else {
    const user = userAt(draft);
    const isAsked = (user.state === 'leaving') === (work.kind === 'unpublish');
    if (isAsked) putUser(draft, user.allocId, { ...user, tries });
    else if (!mayBeKnown(user)) letGo(draft, user, at);
  }
}

/** It stays so until it is asked for again; what it may have left is undone. */
function fail(draft: MountDraft, work: MountWork, attempt: FailedAttempt & { count: number }): void {
  const { failure, at, random, count } = attempt;
  // For who is mounted it is tried again and again.
  const isNews = work.kind !== 'stage' || count === 1 || draft.users.some(({ state }) => state === 'wanted');
  if (isNews) tellFailed(draft, work, failure);
  if (work.kind === 'expand') {
    draft.expansion = nextExpansion(draft) ?? (draft.expansion && { capacity: draft.expansion.capacity, failure });
  } else if (work.kind === 'publish') {
    failUser(draft, userAt(draft), { failure, at });
  } else {
    // Those who are mounted stay so, and for them it is tried again.
    const tries: Tries = {
      count,
      notBeforeMs: at + jittered(defaultBackoff, count, random),
      sinceMs: at,
      failure,
    };
    draft.staging = { ...draft.staging, tries };
    for (const user of draft.users) if (user.state === 'wanted') failUser(draft, user, { failure, at });
  }
}

/** What was asked for while its call was under way takes its place. */
const nextExpansion = ({ expansion }: MountDraft): NodeExpansion | null =>
  expansion?.next ? { capacity: expansion.next } : null;

function failUser(draft: MountDraft, user: MountUser, { failure, at }: { failure: CallFailure; at: number }): void {
  const { tries: _, ...rest } = user;
  if (user.state === 'leaving') {
    if (!mayBeKnown(user)) letGo(draft, rest, at);
  } else if (mayBeKnown(user)) {
    putUser(draft, user.allocId, { ...leavingUser(rest, at), failure });
  } else {
    putUser(draft, user.allocId, { ...rest, state: 'failed', failure });
  }
}

function tellFailed(draft: MountDraft, { kind, allocId }: MountWork, failure: CallFailure): void {
  draft.tells.push({ type: 'failed', in: kind, failure, ...(allocId !== undefined && { allocId }) });
}

const triesOf = ({ staging, users, expansion }: MountDraft, { kind, allocId }: MountWork): Tries | undefined => {
  if (allocId !== undefined) return users.find((user) => user.allocId === allocId)?.tries;
  if (kind === 'expand') return expansion?.tries;
  return kind === 'stage' ? staging.tries : staging.undoing;
};

const mustWork = ({ work }: MountContext): MountWork => {
  if (!work) throw new Error('it is at nothing');
  return work;
};
