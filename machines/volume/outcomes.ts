/** What the answers of the plugin make of a volume. Pure. What each class of answer asks for: docs/csi.md */
import { defaultBackoff, jittered } from '../kit/backoff.js';
import { type FailedAttempt, forcedAttempts, idTaken } from '../kit/call-states.js';
import type { Awaiting, CallFailure, Tries } from '../kit/csi-types.js';
import type { ExpandAnswer, PublishAnswer } from './calls.js';
import { atPlugin, type Change, type Draft, drafted } from './draft.js';
import { nodesWithIt } from './node-expansion.js';
import { step } from './publications.js';
import type { CreateAnswer, Expansion, Leftover, Modification, Publication, VolumeContext, Work } from './types.js';

/** Its call was made without knowing the plugin's driver. @param change what its answer made of it */
export const learned = ({ driver: known }: VolumeContext, change: Change, driver: string): Change =>
  known ? change : { ...change, context: { ...change.context, driver } };

export const created = (context: VolumeContext, { fault, ...csi }: CreateAnswer): Change =>
  drafted(context, (draft) => {
    if (fault && !draft.deletion) {
      draft.creation = { failure: fault, made: csi };
      draft.tells.push({ type: 'failed', in: 'create', failure: fault });
      return;
    }
    draft.csi = csi;
    draft.creation = {};
    draft.tells.push({ type: 'created', csiId: csi.id });
  });

export const published = (context: VolumeContext, { publishContext }: PublishAnswer): Change =>
  drafted(context, (draft) => step(draft, publicationAt(draft).nodeId, { type: 'publish.done', publishContext }));

export const unpublished = (context: VolumeContext): Change =>
  drafted(context, (draft) => step(draft, publicationAt(draft).nodeId, { type: 'unpublish.done' }));

export const expanded = (context: VolumeContext, { capacityBytes, nodeExpansionRequired }: ExpandAnswer): Change =>
  drafted(context, (draft) => {
    const { capacity, next } = draft.expansion ?? {};
    draft.expandedTo = capacity ?? draft.expandedTo;
    draft.expansion = next ? { capacity: next } : null;
    draft.nodeExpansion ||= nodeExpansionRequired;
    if (nodeExpansionRequired) draft.unexpanded = nodesWithIt(context);
    if (draft.csi) {
      // How large it was before is not how large it is.
      const { capacityBytes: _, ...csi } = draft.csi;
      draft.csi = { ...csi, ...(capacityBytes !== undefined && { capacityBytes }) };
    }
    draft.tells.push({
      type: 'expanded',
      nodeExpansionRequired,
      ...(capacityBytes !== undefined && { capacityBytes }),
    });
  });

export const modified = (context: VolumeContext): Change =>
  drafted(context, (draft) => {
    const { mutableParameters = {}, next } = draft.modification ?? {};
    draft.modification = next ? { mutableParameters: next } : null;
    draft.modifiedTo = { ...draft.modifiedTo, ...mutableParameters };
    draft.tells.push({ type: 'modified', mutableParameters });
  });

/** The plugin has it no more. */
export const deleted = (_: VolumeContext): Change => ({ context: { csi: null, creation: {} } });

/** The call of its present piece of work has failed: it is tried again later, is given up, or stays failed. */
export const failed = (context: VolumeContext, attempt: FailedAttempt): Change =>
  drafted(context, (draft) => {
    const work = mustWork(draft);
    if (work.kind === 'publish' || work.kind === 'unpublish') publicationFailed(draft, work.kind, attempt);
    else pieceFailed(draft, work, attempt);
  });

function pieceFailed(draft: Draft, work: Work, attempt: FailedAttempt): void {
  const { failure, isNotBegun } = attempt;
  if (attempt.isAnew) {
    // While it waited, no run of it has made a call.
    if (!isNotBegun && !draft.awaiting) doubt(draft, work);
    return;
  }
  // One that was to be taken over is let go of, whatever is said of it.
  if (work.kind === 'create' && draft.spec?.external && draft.deletion) return;
  if (failure.code === idTaken && failure.final) {
    madeNothing(draft, failure);
    return;
  }
  const count = (triesOf(draft, work)?.count ?? 0) + 1;
  if (isForced(draft, work) && (failure.final || count >= forcedAttempts)) giveUp(draft, work, attempt);
  else if (failure.final) fail(draft, work, failure);
  else again(draft, work, { ...attempt, count });
}

/** Hands the outcome to the publication: its chart says what follows. */
function publicationFailed(draft: Draft, kind: 'publish' | 'unpublish', attempt: FailedAttempt): void {
  const { nodeId, publication } = publicationAt(draft);
  const { failure, retry, at, random } = attempt;
  // A call that waited has sent nothing.
  const isNotSent = attempt.isNotBegun || draft.awaiting !== null;
  if (attempt.isAnew) {
    step(draft, nodeId, { type: isNotSent ? 'turn.lost' : `${kind}.interrupted` });
    return;
  }
  const count = (publication.tries?.count ?? 0) + 1;
  const notBeforeMs = at + jittered(retry ?? defaultBackoff, count, random);
  const outcome = { failure, tries: { count, notBeforeMs, sinceMs: at, failure } };
  if (kind === 'publish') {
    const type = failure.final ? 'publish.refused' : isNotSent ? 'publish.not-sent' : 'publish.unknown';
    step(draft, nodeId, { type, ...outcome });
  } else if (draft.deletion?.force && (failure.final || count >= forcedAttempts)) {
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

/** Its plugin has nothing of its own for it, whatever attempts before were in doubt about. */
function madeNothing(draft: Draft, failure: CallFailure): void {
  const { made } = draft.creation;
  draft.creation = { ...(!draft.deletion && { failure }), ...(made && { made }) };
  if (!draft.deletion) draft.tells.push({ type: 'failed', in: 'create', failure });
}

/** What a forced deletion can do without, where it can't be had. */
const isForced = ({ deletion }: Draft, { kind }: Work): boolean =>
  deletion?.force === true && (kind === 'create' || kind === 'delete');

/** A call for it may have taken effect, or may still. One that is only taken over is asked about, not made. */
function doubt(draft: Draft, { kind }: Work): void {
  if (kind === 'create' && !draft.spec?.external) draft.creation = { ...draft.creation, inDoubt: true };
}

/** The call has to wait, and was not made. */
export const awaits = (context: VolumeContext, { reason, isForced }: Awaiting): Change =>
  drafted(context, (draft) => {
    draft.awaiting = { reason, ...(isForced && { isForced }) };
    const { nodeId } = draft.work ?? {};
    if (nodeId !== undefined) step(draft, nodeId, { type: 'call.waits' });
  });

function again(
  draft: Draft,
  work: Work,
  { failure, isNotBegun, retry, at, random, count }: FailedAttempt & { count: number },
): void {
  const notBeforeMs = at + jittered(retry ?? defaultBackoff, count, random);
  const tries: Tries = { count, notBeforeMs, sinceMs: at, failure };
  if (!isNotBegun) doubt(draft, work);
  switch (work.kind) {
    case 'create':
      draft.creation = { ...draft.creation, tries };
      break;
    case 'delete':
      if (draft.deletion) draft.deletion = { ...draft.deletion, tries };
      break;
    case 'expand':
      if (draft.expansion) draft.expansion = anew(draft.expansion) ?? { ...draft.expansion, tries };
      break;
    case 'modify':
      if (draft.modification) draft.modification = changedTo(draft.modification) ?? { ...draft.modification, tries };
  }
}

/** What was asked for meanwhile takes the place of what was tried. */
const anew = ({ next }: Expansion): Expansion | undefined => next && { capacity: next };
/** The same: what was not refused is still to be changed. */
const changedTo = ({ mutableParameters, next, refused }: Modification): Modification | undefined =>
  next && { mutableParameters: { ...mutableParameters, ...next }, ...(refused && { refused }) };

/** It stays so until what is asked for changes, or it is to be tried again. */
function fail(draft: Draft, work: Work, failure: CallFailure): void {
  switch (work.kind) {
    case 'create':
      failCreation(draft, failure);
      break;
    case 'delete':
      if (draft.deletion) draft.deletion = { force: draft.deletion.force, failure };
      draft.tells.push({ type: 'failed', in: 'delete', failure });
      break;
    case 'expand': {
      const { expansion } = draft;
      if (!expansion) break;
      const { capacity } = expansion;
      draft.expansion = anew(expansion) ?? { capacity, failure };
      draft.tells.push({ type: 'failed', in: 'expand', capacity, failure });
      break;
    }
    case 'modify': {
      const { modification } = draft;
      if (!modification) break;
      const { mutableParameters, next } = modification;
      draft.modification = next
        ? { mutableParameters: next, refused: { mutableParameters, failure } }
        : { mutableParameters, failure };
      draft.tells.push({ type: 'failed', in: 'modify', mutableParameters, failure });
    }
  }
}

/** No answer to a repeat proves that an attempt before it has made nothing: what it has made may even be why. */
function failCreation(draft: Draft, failure: CallFailure): void {
  const { inDoubt, made } = draft.creation;
  const advice = 'it may have been made by an attempt before: delete it again once that is mended, or with force';
  const told = inDoubt && draft.deletion ? { ...failure, message: `${failure.message}; ${advice}` } : failure;
  draft.creation = { failure: told, ...(inDoubt && { inDoubt }), ...(made && { made }) };
  draft.tells.push({ type: 'failed', in: 'create', failure: told });
}

/** A forced deletion goes on without what could not be confirmed, and keeps it as a leftover. */
function giveUp(draft: Draft, work: Work, { failure, isNotBegun }: FailedAttempt): void {
  // Where its id is known from an attempt before, it is deleted by that.
  const isKnown = work.kind === 'create' && draft.csi !== null;
  if (!isKnown) {
    const isRefused = work.kind === 'create' && !draft.creation.inDoubt && (failure.final || isNotBegun);
    const leftover: Leftover = { what: 'created', ...atPlugin(draft), message: failure.message };
    if (!isRefused) draft.leftovers = [...draft.leftovers, leftover];
    draft.csi = null;
  }
  draft.creation = {};
}

const triesOf = ({ creation, deletion, expansion, modification }: Draft, { kind }: Work): Tries | undefined => {
  const piece = { create: creation, delete: deletion, expand: expansion, modify: modification };
  return kind in piece ? piece[kind as keyof typeof piece]?.tries : undefined;
};

const mustWork = ({ work }: VolumeContext): Work => {
  if (!work) throw new Error('it is at nothing');
  return work;
};

/** The publication that it is at. */
export function publicationAt(context: VolumeContext): { nodeId: string; publication: Publication } {
  const { nodeId = '' } = mustWork(context);
  const publication = context.publications[nodeId];
  if (!publication) throw new Error(`nothing is published on node '${nodeId}'`);
  return { nodeId, publication };
}
