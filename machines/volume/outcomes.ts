/** What the answers of the plugin make of a volume. Pure. What each class of answer asks for: docs/csi.md */
import { defaultBackoff, jittered } from '../kit/backoff.js';
import { type FailedAttempt, forcedAttempts, idTaken } from '../kit/call-states.js';
import type { Awaiting, CallFailure, Tries } from '../kit/csi-types.js';
import type { ExpandAnswer, PublishAnswer } from './calls.js';
import { leaving, remove } from './changes.js';
import { atPlugin, type Change, type Draft, drafted, put } from './draft.js';
import { nodesWithIt } from './node-expansion.js';
import type { CreateAnswer, Expansion, Leftover, Modification, Publication, VolumeContext, Work } from './types.js';

/** After so many attempts to find out what became of a publish that nobody wants any more, it is undone all the same. */
const attemptsToResolve = 3;

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
  drafted(context, (draft) => {
    const { nodeId, publication } = publicationAt(draft);
    const { tries: _, inDoubt: __, drifted: ___, undoneAfter, ...rest } = publication;
    if (!isPublishing(publication)) draft.publications[nodeId] = { ...rest, publishContext };
    else
      put(draft, nodeId, {
        ...rest,
        state: undoneAfter === undefined ? 'published' : 'pending-unpublish',
        publishContext,
      });
  });

/** One that was published anew may have been asked to go while its call was in flight: what came of that changes nothing. */
const isPublishing = ({ state }: Publication): boolean => state === 'pending-publish';

export const unpublished = (context: VolumeContext): Change =>
  drafted(context, (draft) => remove(draft, publicationAt(draft).nodeId));

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

/** The piece of work that it is at has failed: it is tried again later, is given up, or stays failed. */
export const failed = (context: VolumeContext, attempt: FailedAttempt): Change =>
  drafted(context, (draft) => {
    const work = mustWork(draft);
    const { failure, isNotBegun } = attempt;
    if (attempt.isAnew) {
      // While it waited, no run of it has made a call.
      if (!isNotBegun && !draft.awaiting) doubt(draft, work);
      return;
    }
    // One that was to be taken over is let go of, whatever is said of it.
    if (work.kind === 'create' && draft.spec?.external && draft.deletion) return;
    if (failure.code === idTaken && failure.final) return madeNothing(draft, failure);
    const count = (triesOf(draft, work)?.count ?? 0) + 1;
    if (isForced(draft, work) && (failure.final || count >= forcedAttempts)) giveUp(draft, work, attempt);
    else if (isSo(draft, work, failure)) remove(draft, publicationAt(draft).nodeId);
    else if (failure.final) fail(draft, work, failure);
    else again(draft, work, { ...attempt, count });
  });

/** Its plugin has nothing of its own for it, whatever attempts before were in doubt about. */
function madeNothing(draft: Draft, failure: CallFailure): void {
  const { made } = draft.creation;
  draft.creation = { ...(!draft.deletion && { failure }), ...(made && { made }) };
  if (!draft.deletion) draft.tells.push({ type: 'failed', in: 'create', failure });
}

/** What a forced deletion can do without, where it can't be had. */
const isForced = ({ deletion }: Draft, { kind }: Work): boolean =>
  deletion?.force === true && (kind === 'create' || kind === 'unpublish' || kind === 'delete');

/** A call for it may have taken effect, or may still. One that is only taken over is asked about, not made. */
function doubt(draft: Draft, { kind, nodeId }: Work): void {
  if (kind === 'create' && !draft.spec?.external) draft.creation = { ...draft.creation, inDoubt: true };
  const publication = kind === 'publish' && nodeId !== undefined ? draft.publications[nodeId] : undefined;
  if (publication) draft.publications[nodeId ?? ''] = { ...publication, inDoubt: true };
}

/** The call has to wait, and was not made: what is not wanted any more, and can't have happened, is over. */
export const awaits = (context: VolumeContext, { reason, isForced }: Awaiting): Change =>
  drafted(context, (draft) => {
    draft.awaiting = { reason, ...(isForced && { isForced }) };
    if (draft.work?.kind !== 'publish') return;
    const { nodeId, publication } = publicationAt(draft);
    if (publication.undoneAfter !== undefined && !publication.inDoubt) remove(draft, nodeId);
  });

/**
 * NOT_FOUND is no proof that a volume is detached; where its node was given up on record, or its plugin lists it as detached,
 * it is taken for one.
 */
function isSo(draft: Draft, { kind }: Work, { answerClass }: CallFailure): boolean {
  if (kind !== 'unpublish' || answerClass !== 'not-so') return false;
  const { fenced, isUnlisted } = publicationAt(draft).publication;
  return fenced !== undefined || isUnlisted === true;
}

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
    case 'publish':
      publishAgain(draft, tries);
      break;
    case 'unpublish': {
      const { nodeId, publication } = publicationAt(draft);
      draft.publications[nodeId] = { ...publication, tries };
      break;
    }
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

/** Where nobody wants it any more, it is found out what became of it, for a while, then undone all the same. */
function publishAgain(draft: Draft, tries: Tries): void {
  const { nodeId, publication } = publicationAt(draft);
  const { undoneAfter, inDoubt } = publication;
  if (!isPublishing(publication)) return;
  if (undoneAfter === undefined) draft.publications[nodeId] = { ...publication, tries };
  else if (!inDoubt) remove(draft, nodeId);
  else if (tries.count - undoneAfter < attemptsToResolve) draft.publications[nodeId] = { ...publication, tries };
  else put(draft, nodeId, leaving(publication));
}

/** It stays so until what is asked for changes, or it is to be tried again. */
function fail(draft: Draft, work: Work, failure: CallFailure): void {
  switch (work.kind) {
    case 'create':
      failCreation(draft, failure);
      break;
    case 'publish':
    case 'unpublish':
      failPublication(draft, work.kind, failure);
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

function failPublication(draft: Draft, kind: 'publish' | 'unpublish', failure: CallFailure): void {
  const { nodeId, publication } = publicationAt(draft);
  if (kind === 'publish' && !isPublishing(publication)) return;
  // A doubt stays: an attempt before may be under way still, whatever its repeat is answered.
  const { tries: _, undoneAfter, next: __, ...rest } = publication;
  // Nobody wants it any more; that it is not there, only the plugin can say.
  if (kind === 'publish' && undoneAfter !== undefined) put(draft, nodeId, leaving(publication));
  else put(draft, nodeId, { ...rest, state: 'failed', failure: { ...failure, in: kind } });
}

function giveUp(draft: Draft, work: Work, { failure, isNotBegun }: FailedAttempt): void {
  const { message, final } = failure;
  const leftover = (what: Leftover['what'], where: object = {}): void => {
    draft.leftovers = [...draft.leftovers, { what, ...where, ...atPlugin(draft), message }];
  };
  if (work.kind === 'publish' || work.kind === 'unpublish') {
    const { nodeId, publication } = publicationAt(draft);
    const { csiNodeId, fenced } = publication;
    leftover('published', { nodeId, csiNodeId, ...(fenced !== undefined && { fenced }) });
    remove(draft, nodeId, failure);
  } else if (work.kind === 'create' && draft.csi) {
    // Its id is known from an attempt before: by that it is deleted.
    draft.creation = {};
  } else {
    const isRefused = work.kind === 'create' && !draft.creation.inDoubt && (final || isNotBegun);
    if (!isRefused) leftover('created');
    draft.csi = null;
    draft.creation = {};
  }
}

function triesOf(
  { creation, deletion, expansion, modification, publications }: Draft,
  { kind, nodeId }: Work,
): Tries | undefined {
  if (nodeId !== undefined) return publications[nodeId]?.tries;
  const piece = {
    create: creation,
    delete: deletion,
    expand: expansion,
    modify: modification,
    publish: null,
    unpublish: null,
  };
  return piece[kind]?.tries;
}

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
