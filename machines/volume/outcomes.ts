/** Outcomes of calls, applied to a volume. Pure. What each class of answer asks for: docs/csi.md */
import { callUnderWay, counted, type FailedAttempt, forcedAttempts, idTaken, maxUnproven } from '../kit/call.js';
import type { CallFailure, Tries } from '../kit/csi-types.js';
import type { Failure } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { type ChangeOutcome, expansionChart, modificationChart } from './change.js';
import { atPlugin, type Draft, drafted } from './draft.js';
import { isFailedInDoubt, isLeaving, type Lifecycle, lifecycleChart } from './lifecycle.js';
import type { LifecycleOutcome } from './lifecycle-setup.js';
import type { PublicationOutcome } from './publication-setup.js';
import { stepTo } from './publications.js';
import { nodesWithIt } from './size.js';
import type { CreateAnswer, Publication, VolumeChange, VolumeContext, VolumeWork } from './types.js';
import type { ExpandAnswer, FailedWork, PublishAnswer } from './wishes.js';

export const learned = ({ driver: known }: VolumeContext, change: VolumeChange, driver: string): VolumeChange =>
  known ? change : { ...change, context: { ...change.context, driver } };

export const created = (context: VolumeContext, { fault, lacksSource, isFound, ...csi }: CreateAnswer): VolumeChange =>
  drafted(context, (draft) => {
    draft.origin = draft.spec?.external ? 'external' : isFound ? 'found' : 'call';
    if (lacksSource && isIn(draft.lifecycle, 'create-in-doubt')) {
      lifecycleEnds(draft, { type: 'create.unproven', made: csi });
      return;
    }
    if (fault && !isLeaving(draft.lifecycle)) {
      lifecycleEnds(draft, { type: 'create.not-as-asked', failure: fault, made: csi });
      draft.broadcasts.push({ type: 'failed', in: 'create', failure: fault });
      return;
    }
    draft.csi = csi;
    lifecycleEnds(draft, { type: 'create.done' });
    draft.broadcasts.push({ type: 'created', csiId: csi.id });
  });

export const published = (context: VolumeContext, { publishContext, isWithoutCall }: PublishAnswer): VolumeChange =>
  drafted(context, (draft) =>
    publicationEnds(draft, { type: 'publish.done', publishContext, attachedBy: isWithoutCall ? 'none' : 'call' }),
  );

export const unpublished = (context: VolumeContext): VolumeChange =>
  drafted(context, (draft) => publicationEnds(draft, { type: 'unpublish.done' }));

export const expanded = (
  context: VolumeContext,
  { capacityBytes, nodeExpansionRequired }: ExpandAnswer,
): VolumeChange =>
  drafted(context, (draft) => {
    if (draft.expansion) draft.expandedTo = draft.expansion.wish;
    draft.nodeExpansion ||= nodeExpansionRequired;
    if (nodeExpansionRequired) draft.unexpanded = nodesWithIt(context);
    if (draft.csi) {
      // The former size is not the present one.
      const { capacityBytes: _, ...csi } = draft.csi;
      draft.csi = { ...csi, ...(capacityBytes !== undefined && { capacityBytes }) };
    }
    changeEnds(draft, { type: 'change.done' });
    draft.broadcasts.push({
      type: 'expanded',
      nodeExpansionRequired,
      ...(capacityBytes !== undefined && { capacityBytes }),
    });
  });

export const modified = (context: VolumeContext): VolumeChange =>
  drafted(context, (draft) => {
    const { modification } = draft;
    if (!modification) return;
    const { wish: mutableParameters } = modification;
    changeEnds(draft, { type: 'change.done' });
    draft.modifiedTo = { ...draft.modifiedTo, ...mutableParameters };
    draft.broadcasts.push({ type: 'modified', mutableParameters });
  });

/** Ends the deletion, or makes the volume again: the plugin has deleted it. */
export const deleted = (context: VolumeContext): VolumeChange =>
  drafted(context, (draft) => {
    const { lifecycle } = draft;
    const failure = unproven(draft);
    const isRemoved = isIn(lifecycle, 'removing-unproven');
    draft.csi = null;
    if (isRemoved) draft.origin = null;
    lifecycleEnds(draft, { type: 'delete.done', failure });
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
export const failed = (context: VolumeContext, attempt: FailedAttempt): VolumeChange =>
  drafted(context, (draft) => {
    const { kind } = mustWork(draft);
    if (kind === 'publish' || kind === 'unpublish') publicationFailed(draft, kind, attempt);
    else if (kind === 'delete' || kind === 'remove') deletionFailed(draft, attempt);
    else if (kind === 'create') creationFailed(draft, attempt);
    else changeFailed(draft, kind, attempt);
  });

/** @param before attempts at the same goal */
const outcomeOf = (attempt: FailedAttempt, before: Tries | undefined): FailedWork => ({
  failure: attempt.failure,
  tries: counted(before, attempt),
});

/** Whether a forced deletion goes on without this step. */
const isGivenUp = ({ lifecycle }: Draft, { failure, tries }: FailedWork): boolean =>
  lifecycle.force === true && (failure.final || tries.count >= forcedAttempts);

function creationFailed(draft: Draft, attempt: FailedAttempt): void {
  const { failure } = attempt;
  const { lifecycle, spec } = draft;
  const step = (event: LifecycleOutcome): void => lifecycleEnds(draft, event);
  // A call that takes a volume over makes nothing.
  const hasMadeNothing = attempt.status === 'not-sent' || spec?.external !== undefined;
  const outcome = outcomeOf(attempt, lifecycle.tries);
  if (attempt.status === 'interrupted') step({ type: hasMadeNothing ? 'call.not-made' : 'create.interrupted' });
  else if (lifecycle.at === 'letting-go') step({ type: 'create.not-sent', ...outcome });
  else if (failure.code === idTaken && failure.final) {
    draft.origin = null;
    step({ type: 'create.made-nothing', ...outcome });
    if (!isLeaving(lifecycle)) draft.broadcasts.push({ type: 'failed', in: 'create', failure });
  } else if (isGivenUp(draft, outcome)) {
    const isRefused = lifecycle.at === 'finding-out-first-call' && (failure.final || attempt.status === 'not-sent');
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
  if (lifecycle.at !== 'finding-out') return failure;
  const mended =
    failure.answerClass === 'no-room' ? 'it is deleted once there is room' : 'delete it again once that is mended';
  const advice = `it may have been made by an attempt before: ${mended}, or with force`;
  return { ...failure, message: `${failure.message}; ${advice}` };
}

function deletionFailed(draft: Draft, attempt: FailedAttempt): void {
  const { failure } = attempt;
  const { lifecycle } = draft;
  const outcome = outcomeOf(attempt, lifecycle.tries);
  const step = (event: LifecycleOutcome): void => lifecycleEnds(draft, event);
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
  const event = changeOutcome(attempt, (kind === 'expand' ? expansion : modification)?.tries);
  changeEnds(draft, event);
  if (event.type !== 'change.refused') return;
  if (kind === 'expand' && expansion)
    draft.broadcasts.push({ type: 'failed', in: kind, capacity: expansion.wish, failure });
  if (kind === 'modify' && modification)
    draft.broadcasts.push({ type: 'failed', in: kind, mutableParameters: modification.wish, failure });
}

function changeOutcome(attempt: FailedAttempt, before: Tries | undefined): ChangeOutcome {
  const { failure } = attempt;
  if (attempt.status === 'interrupted') return { type: 'change.interrupted' };
  if (failure.final) return { type: 'change.refused', failure };
  return { type: 'change.failed', ...outcomeOf(attempt, before) };
}

/** Gives the outcome to the publication: its chart decides. */
function publicationFailed(draft: Draft, kind: 'publish' | 'unpublish', attempt: FailedAttempt): void {
  const { nodeId, publication } = publicationAt(draft);
  const { failure, status } = attempt;
  if (status === 'interrupted') {
    publicationEnds(draft, { type: `${kind}.interrupted` });
    return;
  }
  const outcome = outcomeOf(attempt, publication.tries);
  if (kind === 'publish') {
    const type = failure.final ? 'publish.refused' : status === 'not-sent' ? 'publish.not-sent' : 'publish.unknown';
    // A plugin that answers the repeat attaches by calls, so an interrupted call may have attached the volume, too.
    const mayBeAttached = status === 'failed' && !(failure.final && publication.at === 'pending-publish');
    if (mayBeAttached) draft.publications[nodeId] = { ...publication, attachedBy: 'call' };
    publicationEnds(draft, { type, ...outcome });
  } else if (isGivenUp(draft, outcome)) {
    giveUpPublication(draft, failure);
  } else {
    const isNotFound = failure.answerClass === 'not-so';
    const type = isNotFound ? 'unpublish.not-found' : failure.final ? 'unpublish.refused' : 'unpublish.failed';
    publicationEnds(draft, { type, ...outcome });
  }
}

function giveUpPublication(draft: Draft, failure: CallFailure): void {
  const { nodeId, publication } = publicationAt(draft);
  const { csiNodeId, attachedBy, fenced } = publication;
  const { message } = failure;
  const where = { nodeId, csiNodeId, ...(attachedBy && { attachedBy }), ...(fenced !== undefined && { fenced }) };
  draft.leftovers = [...draft.leftovers, { what: 'published', ...where, ...atPlugin(draft), message }];
  publicationEnds(draft, { type: 'unpublish.given-up' }, failure);
}

/** Tells the part that wants the call that none was made. */
export const notMade = (context: VolumeContext): VolumeChange =>
  drafted(context, (draft) => {
    const { kind, nodeId } = mustWork(draft);
    const event = { type: 'call.not-made' } as const;
    if (nodeId !== undefined) publicationEnds(draft, event);
    else if (kind === 'expand' || kind === 'modify') changeEnds(draft, event);
    else lifecycleEnds(draft, event);
  });

/** Names with which the outcomes of each kind of call begin. */
const outcomes: Record<VolumeWork['kind'], string> = {
  ...{ create: 'create', remove: 'delete', delete: 'delete' },
  ...{ publish: 'publish', unpublish: 'unpublish', expand: 'change', modify: 'change' },
};

/** Gives the outcome to the publication that the call was made for. @param unconfirmed as in `stepTo` */
function publicationEnds(draft: Draft, event: PublicationOutcome, unconfirmed?: Failure): void {
  mustBeOver(draft, event);
  stepTo(draft, publicationAt(draft).nodeId, event, unconfirmed);
}

function lifecycleEnds(draft: Draft, event: LifecycleOutcome): void {
  mustBeOver(draft, event);
  draft.lifecycle = lifecycleChart.step(draft.lifecycle, event);
}

/** Drops the change if it is done. */
function changeEnds(draft: Draft, event: ChangeOutcome): void {
  mustBeOver(draft, event);
  const { expansion, modification } = draft;
  if (mustWork(draft).kind === 'expand') draft.expansion = expansion && left(expansionChart.step(expansion, event));
  else draft.modification = modification && left(modificationChart.step(modification, event));
}

const left = <TPart extends { at: string }>(part: TPart): TPart | null => (part.at === 'done' ? null : part);

/** Refuses an outcome of another call than the one that has ended: a phase would take it for its own. */
function mustBeOver(draft: Draft, { type }: { type: string }): void {
  const { kind } = mustWork(draft);
  if (callUnderWay(draft)) throw new Error(`${type} is told while the call to ${kind} is under way`);
  if (type !== 'call.not-made' && !type.startsWith(`${outcomes[kind]}.`))
    throw new Error(`${type} is no outcome of a call to ${kind}`);
}

const mustWork = ({ work }: VolumeContext): VolumeWork => {
  if (!work) throw new Error('no call in progress');
  return work;
};

/** Publication that the present work is about. */
export function publicationAt(context: VolumeContext): { nodeId: string; publication: Publication } {
  const { nodeId = '' } = mustWork(context);
  const publication = context.publications[nodeId];
  if (!publication) throw new Error(`nothing is published on node '${nodeId}'`);
  return { nodeId, publication };
}
