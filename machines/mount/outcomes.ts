/**
 * Outcomes of calls, with the kernel's mount table, applied to a mount. Pure. What each class of answer asks for:
 * docs/csi.md
 */
import { defaultBackoff } from '../kit/backoff.js';
import { counted, type FailedAttempt } from '../kit/call.js';
import type { CallFailure } from '../kit/csi-types.js';
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
  endStaging,
  endTarget,
  type MountChange,
  type MountDraft,
  stepStaging,
  stepTarget,
} from './draft.js';
import type { AppearedMount } from './kernel-mount.js';
import { isDead } from './staging.js';
import { isWanted } from './target.js';
import type { MountContext, MountWork, NodeExpansion } from './types.js';

export const volumeStaged = (
  context: MountContext,
  { isStaged, found, bootId }: StageAnswer,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    draft.number += 1;
    draft.bootId = bootId;
    endStaging(draft, { type: isStaged ? 'stage.done' : 'stage.not-needed', number: draft.number, found });
  });

export const targetMounted = (
  context: MountContext,
  { found, bootId }: NodePublishAnswer,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const user = userAt(draft);
    draft.bootId = bootId;
    endTarget(draft, user, { type: 'publish.done', found, isDead: isDead(draft.staging) });
    if (userAt(draft).at !== 'published') return;
    // The condition was that of the mount before.
    draft.condition = null;
    const { allocId, readOnly, sinceMs } = user;
    draft.broadcasts.push({ type: 'mounted', allocId, readOnly, durationMs: Math.max(0, stamp.at - sinceMs) });
  });

export const targetUnmounted = (
  context: MountContext,
  { leftBehind, unmounted }: NodeUnpublishAnswer,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const user = userAt(draft);
    const { allocId, sinceMs } = user;
    tellUnmounted(draft, unmounted, allocId);
    const left = leftBehind === undefined ? {} : { leftBehind };
    draft.broadcasts.push({ type: 'unmounted', allocId, durationMs: Math.max(0, stamp.at - sinceMs), ...left });
    endTarget(draft, user, { type: 'unpublish.done' });
  });

/**
 * Broadcasts that the plugin has left our mount at a path.
 * @param path absent: it has not
 */
function tellUnmounted(draft: MountDraft, path: string | undefined, allocId?: string): void {
  if (path === undefined || !draft.volume) return;
  const { plugin } = draft.volume;
  draft.broadcasts.push({ type: 'unmounted-for-plugin', plugin, path, ...(allocId !== undefined && { allocId }) });
}

export const volumeUnstaged = (
  context: MountContext,
  { leftBehind, unmounted }: NodeUnpublishAnswer,
  stamp: Stamped,
): MountChange =>
  draftedMount(context, stamp, (draft) => {
    tellUnmounted(draft, unmounted);
    if (leftBehind !== undefined) draft.broadcasts.push({ type: 'left-behind', leftBehind });
    draft.number += 1;
    endStaging(draft, { type: 'unstage.done', number: draft.number });
  });

export const nodeExpanded = (context: MountContext, { capacityBytes }: NodeExpandAnswer, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    draft.expansion = nextExpansion(draft);
    draft.broadcasts.push({ type: 'expanded', ...(capacityBytes !== undefined && { capacityBytes }) });
  });

/** Tells the part that the call is about, if there is one, that none was made. */
export const mountNotMade = (context: MountContext, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const { kind, allocId } = mustWork(draft);
    const user = draft.users.find((one) => one.allocId === allocId);
    if (kind === 'stage' || kind === 'unstage') stepStaging(draft, { type: 'call.not-made' });
    else if (user) stepTarget(draft, user, { type: 'call.not-made' });
  });

/** Keeps the mount that the path shows after a failed call and did not show before: the call has made it. */
export const mountAppeared = (context: MountContext, mount: AppearedMount, stamp: Stamped): MountChange =>
  draftedMount(context, stamp, (draft) => {
    const { kind, allocId } = draft.work ?? {};
    if (kind === 'stage') stepStaging(draft, { type: 'mount-appeared', mount });
    const user = kind === 'publish' && draft.users.find((one) => one.allocId === allocId);
    if (user) stepTarget(draft, user, { type: 'mount-appeared', mount });
  });

/** A failed call. */
interface Attempted {
  work: MountWork;
  attempt: FailedAttempt;
}

/** Retries the failed work later, or leaves it failed. */
export const mountFailed = (context: MountContext, attempt: FailedAttempt): MountChange =>
  draftedMount(context, attempt, (draft) => {
    const work = mustWork(draft);
    const failed = { work, attempt };
    if (work.kind === 'stage' || work.kind === 'unstage') stagingFailed(draft, work.kind, failed);
    else if (work.kind === 'expand') expansionFailed(draft, failed);
    else targetFailed(draft, work.kind, failed);
  });

/**
 * Gives the outcome to the staging. Targets that are to be mounted fail with a stage that the plugin refuses for
 * good.
 */
function stagingFailed(draft: MountDraft, kind: 'stage' | 'unstage', { attempt }: Attempted): void {
  const { failure, status } = attempt;
  if (status === 'interrupted') {
    endStaging(draft, { type: `${kind}.interrupted` });
    return;
  }
  const isSent = status === 'failed';
  const { tries: staged, unstageTries } = draft.staging;
  const isRefused = kind === 'stage' && failure.final;
  // For the targets that are mounted, a refused stage is repeated.
  const tries = counted(
    kind === 'stage' ? staged : unstageTries,
    isRefused ? { ...attempt, retry: defaultBackoff } : attempt,
  );
  const outcome = isRefused && isSent ? 'refused' : isSent ? 'unknown' : 'not-sent';
  if (outcome === 'refused') endStaging(draft, { type: 'stage.refused', tries });
  else endStaging(draft, { type: `${kind}.${outcome}`, tries });
  const wanted = isRefused ? draft.users.filter(isWanted) : [];
  if (tries.count === 1 || wanted.length > 0) tellFailed(draft, { kind }, failure);
  for (const user of wanted) stepTarget(draft, user, { type: 'stage.refused', failure });
}

/** Gives the outcome to the target that the call is about. */
function targetFailed(draft: MountDraft, kind: 'publish' | 'unpublish', { work, attempt }: Attempted): void {
  const { failure, status } = attempt;
  if (isStagingMissing(work, failure)) stepStaging(draft, { type: 'publish.found-unstaged' });
  const user = userAt(draft);
  if (status === 'interrupted') {
    endTarget(draft, user, { type: `${kind}.interrupted` });
    return;
  }
  const isSent = status === 'failed';
  const tries = counted(user.tries, attempt);
  const isRefused = failure.final && kind === 'publish';
  if (isRefused || tries.count === 1) tellFailed(draft, work, failure);
  if (kind === 'unpublish') endTarget(draft, user, { type: 'unpublish.failed', tries });
  else if (isRefused) {
    const type = isSent && isMadeWrongly(failure) ? 'publish.not-as-asked' : 'publish.refused';
    endTarget(draft, user, { type, failure });
  } else endTarget(draft, user, { type: isSent ? 'publish.unknown' : 'publish.not-sent', tries });
}

/**
 * Replaces an expansion by the one that was asked for during its call. A refused one stays until it is asked for
 * again.
 */
function expansionFailed(draft: MountDraft, { work, attempt }: Attempted): void {
  const { failure, status } = attempt;
  const { expansion } = draft;
  if (status === 'interrupted') return;
  const tries = counted(expansion?.tries, attempt);
  if (failure.final || tries.count === 1) tellFailed(draft, work, failure);
  const failed = failure.final ? { failure } : { ...expansion, tries };
  draft.expansion = nextExpansion(draft) ?? (expansion && { ...failed, capacity: expansion.capacity });
}

/** The plugin did it otherwise than asked: it has to be undone. */
const isMadeWrongly = ({ code }: CallFailure): boolean => code === 'MOUNT_NOT_AS_ASKED';

/** Whether the stage before the publish is missing, by the plugin's answer or by the mount table before any call. */
const isStagingMissing = ({ kind }: MountWork, { answerClass }: CallFailure): boolean =>
  kind === 'publish' && answerClass === 'repair';

/** Expansion that was asked for during the call. */
const nextExpansion = ({ expansion }: MountDraft): NodeExpansion | null =>
  expansion?.next ? { capacity: expansion.next } : null;

function tellFailed(
  draft: MountDraft,
  { kind, allocId }: Pick<MountWork, 'kind' | 'allocId'>,
  failure: CallFailure,
): void {
  draft.broadcasts.push({ type: 'failed', in: kind, failure, ...(allocId !== undefined && { allocId }) });
}

const mustWork = ({ work }: MountContext): MountWork => {
  if (!work) throw new Error('no call in progress');
  return work;
};
