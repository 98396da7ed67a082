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
import {
  draftedMount,
  leavingUser,
  letGo,
  type MountChange,
  type MountDraft,
  putUser,
  stepStaging,
} from './changes.js';
import { isDead } from './staging.js';
import type { AppearedMount, MountContext, MountUser, MountWork, NodeExpansion } from './types.js';
import { mayBeKnown } from './work.js';

export const volumeStaged = (context: MountContext, { isStaged, found, bootId }: StageAnswer): MountChange =>
  draftedMount(context, (draft) => {
    draft.number += 1;
    draft.bootId = bootId;
    stepStaging(draft, { type: isStaged ? 'stage.done' : 'stage.not-needed', number: draft.number, found });
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
    if (isDead(draft.staging)) return putUser(draft, user.allocId, { ...user, inDoubt: true });
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

export const volumeUnstaged = (context: MountContext, { leftBehind, unmounted }: NodeUnpublishAnswer): MountChange =>
  draftedMount(context, (draft) => {
    tellUnmounted(draft, unmounted);
    if (leftBehind !== undefined) draft.tells.push({ type: 'left-behind', leftBehind });
    draft.number += 1;
    stepStaging(draft, { type: 'unstage.done', number: draft.number });
  });

export const nodeExpanded = (context: MountContext, { capacityBytes }: NodeExpandAnswer): MountChange =>
  draftedMount(context, (draft) => {
    draft.expansion = nextExpansion(draft);
    draft.tells.push({ type: 'expanded', ...(capacityBytes !== undefined && { capacityBytes }) });
  });

/** The call has to wait, and was not made. */
export const mountAwaits = (context: MountContext, { reason }: Awaiting): MountChange =>
  draftedMount(context, (draft) => {
    draft.awaiting = { reason };
    if (isOfStaging(draft.work)) stepStaging(draft, { type: 'call.waits' });
  });

/** Keeps what the path of a call that has failed shows, which was not there before it: a mount that the call has made. */
export const mountAppeared = (context: MountContext, appeared: AppearedMount): MountChange =>
  draftedMount(context, (draft) => {
    const { kind, allocId } = draft.work ?? {};
    if (kind === 'stage') stepStaging(draft, { type: 'mount-appeared', mount: appeared });
    const user = kind === 'publish' && draft.users.find((one) => one.allocId === allocId);
    if (user) putUser(draft, user.allocId, { ...user, appeared });
  });

/** The piece of work that it is at has failed: it is tried again later, or stays failed. */
export const mountFailed = (context: MountContext, attempt: FailedAttempt): MountChange =>
  draftedMount(context, (draft) => {
    const work = mustWork(draft);
    const { failure } = attempt;
    // A call that waited has sent nothing.
    const isSent = !attempt.isNotBegun && !(attempt.isAnew && draft.awaiting);
    if (work.kind === 'stage' || work.kind === 'unstage') {
      stagingFailed(draft, { kind: work.kind, isSent, attempt });
      return;
    }
    if (isSent) doubt(draft, work, failure, attempt.isAnew === true);
    if (isStagingMissing(work, failure)) stepStaging(draft, { type: 'publish.found-unstaged' });
    if (attempt.isAnew) return;
    const count = (triesOf(draft, work)?.count ?? 0) + 1;
    if (failure.final && work.kind !== 'unpublish') fail(draft, work, attempt);
    else again(draft, work, { ...attempt, count });
  });

/** Whether a piece of work is about the staging path. */
const isOfStaging = (work: MountWork | null): boolean => work?.kind === 'stage' || work?.kind === 'unstage';

interface StagingAttempt {
  kind: 'stage' | 'unstage';
  /** The call was made. */
  isSent: boolean;
  attempt: FailedAttempt;
}

/** Hands the outcome to the staging path. Who is to be mounted fails with a stage that the plugin refuses for good. */
function stagingFailed(draft: MountDraft, { kind, isSent, attempt }: StagingAttempt): void {
  const { failure, retry, at, random, isAnew } = attempt;
  if (isAnew) {
    stepStaging(draft, { type: isSent ? `${kind}.interrupted` : 'turn.lost' });
    return;
  }
  const { tries: staged, unstageTries } = draft.staging;
  const count = ((kind === 'stage' ? staged : unstageTries)?.count ?? 0) + 1;
  const isRefused = kind === 'stage' && failure.final;
  // For those who are mounted, a stage that was refused is tried again.
  const policy = (isRefused ? undefined : retry) ?? defaultBackoff;
  const tries: Tries = { count, notBeforeMs: at + jittered(policy, count, random), sinceMs: at, failure };
  const outcome = isRefused && isSent ? 'refused' : isSent ? 'unknown' : 'not-sent';
  if (outcome === 'refused') stepStaging(draft, { type: 'stage.refused', tries });
  else stepStaging(draft, { type: `${kind}.${outcome}`, tries });
  const wanted = isRefused ? draft.users.filter(({ state }) => state === 'wanted') : [];
  if (count === 1 || wanted.length > 0) tellFailed(draft, { kind }, failure);
  for (const user of wanted) failUser(draft, user, { failure, at });
}

/** The plugin did it, but not as it was asked to: it is to be undone. */
const isMadeWrongly = ({ code }: CallFailure): boolean => code === 'MOUNT_NOT_AS_ASKED';

/** The step before a publish is the stage: that is missing whether its plugin says so, or the kernel does before any call. */
const isStagingMissing = ({ kind }: MountWork, { answerClass }: CallFailure): boolean =>
  kind === 'publish' && answerClass === 'repair';

/** A call for it may have taken effect, or may still. One that was refused for good has done nothing; whatever was before it stays in doubt. */
function doubt(draft: MountDraft, work: MountWork, failure: CallFailure, isAnew: boolean): void {
  const isInDoubt = isAnew || !failure.final;
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
  if (work.kind === 'expand')
    draft.expansion = nextExpansion(draft) ?? (draft.expansion && { ...draft.expansion, tries });
  else {
    const user = userAt(draft);
    const isAsked = (user.state === 'leaving') === (work.kind === 'unpublish');
    if (isAsked) putUser(draft, user.allocId, { ...user, tries });
    else if (!mayBeKnown(user)) letGo(draft, user, at);
  }
}

/** It stays so until it is asked for again; what it may have left is undone. */
function fail(draft: MountDraft, work: MountWork, { failure, at }: FailedAttempt): void {
  tellFailed(draft, work, failure);
  if (work.kind === 'expand')
    draft.expansion = nextExpansion(draft) ?? (draft.expansion && { capacity: draft.expansion.capacity, failure });
  else failUser(draft, userAt(draft), { failure, at });
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

function tellFailed(
  draft: MountDraft,
  { kind, allocId }: Pick<MountWork, 'kind' | 'allocId'>,
  failure: CallFailure,
): void {
  draft.tells.push({ type: 'failed', in: kind, failure, ...(allocId !== undefined && { allocId }) });
}

const triesOf = ({ users, expansion }: MountDraft, { allocId }: MountWork): Tries | undefined =>
  allocId === undefined ? expansion?.tries : users.find((user) => user.allocId === allocId)?.tries;

const mustWork = ({ work }: MountContext): MountWork => {
  if (!work) throw new Error('it is at nothing');
  return work;
};
