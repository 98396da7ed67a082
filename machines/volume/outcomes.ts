/** Outcomes of calls, applied to a volume. Pure. What each class of answer asks for: docs/csi.md */
import { defaultBackoff, jittered } from '../kit/backoff.js';
import { type FailedAttempt, forcedAttempts, idTaken, maxUnproven } from '../kit/call-states.js';
import type { CallFailure, Settled, Tries, Wait } from '../kit/csi-types.js';
import { isIn } from '../kit/parts.js';
import { modificationChart } from './change.js';
import { atPlugin, type Draft, drafted } from './draft.js';
import { stepExpansion } from './expanding.js';
import { isFailedInDoubt, isLeaving, type Lifecycle, type LifecycleEvent, lifecycleChart } from './lifecycle.js';
import { step } from './publications.js';
import { moved } from './turn.js';
import type { Change, CreateAnswer, Publication, VolumeContext, Work } from './types.js';
import type { PublishAnswer } from './wishes.js';

/**
 * Keeps the name of the driver: the call was made without knowing it.
 * @param change what the answer has changed
 */
export const learned = ({ driver: known }: VolumeContext, change: Change, driver: string): Change =>
  known ? change : { ...change, context: { ...change.context, driver } };

export const created = (context: VolumeContext, { fault, lacksSource, isFound, ...csi }: CreateAnswer): Change =>
  drafted(context, (draft) => {
    draft.origin = draft.spec?.external ? 'external' : isFound ? 'found' : 'call';
    if (lacksSource && isIn(draft.lifecycle, 'create-in-doubt')) {
      draft.lifecycle = lifecycleChart.step(draft.lifecycle, { type: 'create.unproven', made: csi });
      return;
    }
    if (fault && !isLeaving(draft.lifecycle)) {
      draft.lifecycle = lifecycleChart.step(draft.lifecycle, {
        type: 'create.not-as-asked',
        failure: fault,
        made: csi,
      });
      draft.broadcasts.push({ type: 'failed', in: 'create', failure: fault });
      return;
    }
    draft.csi = csi;
    draft.lifecycle = lifecycleChart.step(draft.lifecycle, { type: 'create.done' });
    draft.broadcasts.push({ type: 'created', csiId: csi.id });
  });

export const published = (context: VolumeContext, { publishContext }: PublishAnswer): Change =>
  drafted(context, (draft) => step(draft, publicationAt(draft).nodeId, { type: 'publish.done', publishContext }));

export const unpublished = (context: VolumeContext): Change =>
  drafted(context, (draft) => step(draft, publicationAt(draft).nodeId, { type: 'unpublish.done' }));

export const modified = (context: VolumeContext): Change =>
  drafted(context, (draft) => {
    const { modification } = draft;
    if (!modification) return;
    const { wish: mutableParameters } = modification;
    draft.modification = left(modificationChart.step(modification, { type: 'change.done' }));
    draft.modifiedTo = { ...draft.modifiedTo, ...mutableParameters };
    draft.broadcasts.push({ type: 'modified', mutableParameters });
  });

/** Drops a change that is done. */
const left = <TPart extends { at: string }>(part: TPart): TPart | null => (part.at === 'done' ? null : part);

/** Ends the deletion, or makes the volume again: the plugin has deleted it. */
export const deleted = (context: VolumeContext): Change =>
  drafted(context, (draft) => {
    const { lifecycle } = draft;
    const failure = unproven(draft);
    const isRemoved = isIn(lifecycle, 'removing-unproven');
    draft.csi = null;
    if (isRemoved) draft.origin = null;
    draft.lifecycle = lifecycleChart.step(
      lifecycle,
      isRemoved ? { type: 'remove.done', failure } : { type: 'delete.done' },
    );
    if (draft.lifecycle.at === 'failed.unproven') draft.broadcasts.push({ type: 'failed', in: 'create', failure });
  });

const unproven = ({ spec }: Draft): CallFailure => ({
  code: 'VOLUME_UNPROVEN',
  message:
    `${maxUnproven} times plugin '${spec?.plugin}' did not say in time what became of the volume, nor later that it has the ` +
    'content of its source: what it made was removed',
  final: true,
});

/** Retries the failed work later, gives it up, or leaves it failed. */
export const failed = (context: VolumeContext, attempt: FailedAttempt): Change =>
  drafted(context, (draft) => {
    const { kind } = mustWork(draft);
    if (kind === 'publish' || kind === 'unpublish') publicationFailed(draft, kind, attempt);
    else if (kind === 'delete' || isRemoving(draft)) deletionFailed(draft, attempt);
    else if (kind === 'create') creationFailed(draft, attempt);
    else changeFailed(draft, kind, attempt);
  });

/** Whether a volume that can't be trusted is being removed, for a creation or, meanwhile, for a deletion. */
const isRemoving = ({ lifecycle }: Draft): boolean =>
  isIn(lifecycle, 'removing-unproven') || isIn(lifecycle, 'pending-delete');

/** @param before attempts at the same goal */
function outcomeOf({ failure, retry, at, random }: FailedAttempt, before: Tries | undefined) {
  const count = (before?.count ?? 0) + 1;
  const notBeforeMs = at + jittered(retry ?? defaultBackoff, count, random);
  return { failure, tries: { count, notBeforeMs, sinceMs: at, failure } };
}

/** Whether a forced deletion goes on without this step. */
const isGivenUp = ({ lifecycle }: Draft, { failure, tries }: ReturnType<typeof outcomeOf>): boolean =>
  lifecycle.force === true && (failure.final || tries.count >= forcedAttempts);

function creationFailed(draft: Draft, attempt: FailedAttempt): void {
  const { failure } = attempt;
  const { lifecycle, spec } = draft;
  const step = (event: LifecycleEvent): void => {
    draft.lifecycle = lifecycleChart.step(lifecycle, event);
  };
  // A call that takes a volume over makes nothing.
  const hasMadeNothing = attempt.status === 'not-sent' || spec?.external !== undefined;
  const outcome = outcomeOf(attempt, lifecycle.tries);
  if (attempt.status === 'interrupted') step({ type: hasMadeNothing ? 'turn.lost' : 'create.interrupted' });
  else if (isIn(lifecycle, 'letting-go')) step({ type: 'create.not-sent', ...outcome });
  else if (failure.code === idTaken && failure.final) {
    draft.origin = null;
    step({ type: 'create.made-nothing', ...outcome });
    if (!isLeaving(lifecycle)) draft.broadcasts.push({ type: 'failed', in: 'create', failure });
  } else if (isGivenUp(draft, outcome)) {
    const isRefused = lifecycle.at === 'finding-out.first-call' && (failure.final || attempt.status === 'not-sent');
    if (!isRefused && !draft.csi) leaveBehind(draft, failure);
    step({ type: 'create.given-up' });
  } else if (failure.final) {
    const told = adviceFor(lifecycle, failure);
    step({ type: 'create.refused', ...outcome, failure: told });
    // A plugin that answers the repeat makes volumes by calls, so an interrupted call may have made this one.
    if (!hasMadeNothing && isFailedInDoubt(draft.lifecycle)) draft.origin = 'call';
    draft.broadcasts.push({ type: 'failed', in: 'create', failure: told });
  } else if (failure.answerClass === 'no-room') {
    const told = adviceFor(lifecycle, failure);
    step({ type: 'create.no-room', failure: told, tries: { ...outcome.tries, failure: told } });
  } else if (hasMadeNothing) {
    step({ type: 'create.not-sent', ...outcome });
  } else {
    draft.origin = 'call';
    step({ type: 'create.unknown', ...outcome });
  }
}

/**
 * Advice for a failed creation. A refused repeat does not prove that an earlier attempt made nothing: that may even
 * be the reason.
 */
function adviceFor(lifecycle: Lifecycle, failure: CallFailure): CallFailure {
  if (!isIn(lifecycle, 'finding-out') || lifecycle.at === 'finding-out.first-call') return failure;
  const mended =
    failure.answerClass === 'no-room' ? 'it is deleted once there is room' : 'delete it again once that is mended';
  const advice = `it may have been made by an attempt before: ${mended}, or with force`;
  return { ...failure, message: `${failure.message}; ${advice}` };
}

function deletionFailed(draft: Draft, attempt: FailedAttempt): void {
  const { failure } = attempt;
  const { lifecycle } = draft;
  const outcome = outcomeOf(attempt, lifecycle.tries);
  const step = (event: LifecycleEvent): void => {
    draft.lifecycle = lifecycleChart.step(lifecycle, event);
  };
  if (attempt.status === 'interrupted') step({ type: 'delete.interrupted' });
  else if (isGivenUp(draft, outcome)) {
    leaveBehind(draft, failure);
    draft.csi = null;
    step({ type: 'delete.given-up' });
  } else if (failure.final) {
    step({ type: 'delete.refused', ...outcome });
    draft.broadcasts.push({ type: 'failed', in: 'delete', failure });
  } else step({ type: 'delete.failed', ...outcome });
}

/** Keeps as a leftover what the plugin may still have. In doubt a call has made it: nobody may take its lack for its end. */
function leaveBehind(draft: Draft, { message }: CallFailure): void {
  draft.origin ??= 'call';
  draft.leftovers = [...draft.leftovers, { what: 'created', ...atPlugin(draft), message }];
}

/** Fails a change. During a deletion nobody waits for it any more. */
function changeFailed(draft: Draft, kind: 'expand' | 'modify', attempt: FailedAttempt): void {
  const { failure } = attempt;
  const { expansion, modification } = draft;
  const event = changeEvent(attempt, (kind === 'expand' ? expansion : modification)?.tries);
  const isRefused = event.type === 'change.refused';
  if (kind === 'expand' && expansion) {
    stepExpansion(draft, event);
    if (isRefused) draft.broadcasts.push({ type: 'failed', in: kind, capacity: expansion.wish, failure });
  } else if (kind === 'modify' && modification) {
    draft.modification = modificationChart.step(modification, event);
    if (isRefused) draft.broadcasts.push({ type: 'failed', in: kind, mutableParameters: modification.wish, failure });
  }
}

function changeEvent(attempt: FailedAttempt, before: Tries | undefined): ChangeOutcome {
  const { failure } = attempt;
  if (attempt.status === 'interrupted') return { type: 'change.interrupted' };
  if (failure.final) return { type: 'change.refused', failure };
  return { type: 'change.failed', failure, tries: outcomeOf(attempt, before).tries };
}

type ChangeOutcome =
  | { type: 'change.interrupted' }
  | { type: 'change.refused'; failure: CallFailure }
  | { type: 'change.failed'; failure: CallFailure; tries: Tries };

/** Gives the outcome to the publication: its chart decides. */
function publicationFailed(draft: Draft, kind: 'publish' | 'unpublish', attempt: FailedAttempt): void {
  const { nodeId, publication } = publicationAt(draft);
  const { failure, status } = attempt;
  if (status === 'interrupted') {
    step(draft, nodeId, { type: `${kind}.interrupted` });
    return;
  }
  const outcome = outcomeOf(attempt, publication.tries);
  if (kind === 'publish') {
    const type = failure.final ? 'publish.refused' : status === 'not-sent' ? 'publish.not-sent' : 'publish.unknown';
    step(draft, nodeId, { type, ...outcome });
  } else if (isGivenUp(draft, outcome)) {
    giveUpPublication(draft, nodeId, failure);
  } else {
    const isNotFound = failure.answerClass === 'not-so';
    const type = isNotFound ? 'unpublish.not-found' : failure.final ? 'unpublish.refused' : 'unpublish.failed';
    step(draft, nodeId, { type, ...outcome });
  }
}

function giveUpPublication(draft: Draft, nodeId: string, failure: CallFailure): void {
  const { csiNodeId, fenced } = publicationAt(draft).publication;
  const { message } = failure;
  const where = { nodeId, csiNodeId, ...(fenced !== undefined && { fenced }) };
  draft.leftovers = [...draft.leftovers, { what: 'published', ...where, ...atPlugin(draft), message }];
  step(draft, nodeId, { type: 'unpublish.given-up' }, failure);
}

/** Keeps what the call waits for: none was made. Also called when the reason changes. */
export const hasToWait = (context: VolumeContext, { reason, for: what }: Wait): Change =>
  drafted(context, (draft) => {
    draft.awaiting = { reason, for: what, ...(draft.lifecycle.force && { isForced: true }) };
    stepAtWork(draft, { type: 'call.waits' });
  });

/** Makes the call anew, with what is settled: none was made. */
export const again = (context: VolumeContext, { home, topology }: Settled): Change =>
  drafted(context, (draft) => {
    if (home !== undefined) draft.home = home;
    if (topology) draft.topology = topology;
    stepAtWork(draft, { type: 'turn.lost' });
  });

/** Steps the part that the call is made for. */
function stepAtWork(draft: Draft, event: { type: 'call.waits' | 'turn.lost' }): void {
  const work = mustWork(draft);
  if (work.nodeId !== undefined) step(draft, work.nodeId, event);
  else Object.assign(draft, moved(draft, work, event));
}

const mustWork = ({ work }: VolumeContext): Work => {
  if (!work) throw new Error('it is at nothing');
  return work;
};

/** Publication that the present work is about. */
export function publicationAt(context: VolumeContext): { nodeId: string; publication: Publication } {
  const { nodeId = '' } = mustWork(context);
  const publication = context.publications[nodeId];
  if (!publication) throw new Error(`nothing is published on node '${nodeId}'`);
  return { nodeId, publication };
}
