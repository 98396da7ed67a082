/** What requests make of a volume: its next context, and what is told of that. Pure. Which are refused: requests.ts */
import type { CapacityRange } from '../kit/csi-types.js';
import type { Failure, Stamped } from '../kit/host.js';
import { isSameData } from '../kit/same-data.js';
import { granted } from './claims.js';
import { atPlugin, type Change, claimTold, type Draft, drafted, put } from './draft.js';
import { asUnstaged, awaitingNode, clearLeft, isAwaitingNode } from './leftovers.js';
import { excludes, holdsOf, isKeptByHolds, isUndecided, mayBeThere, usualCapability, wishOf } from './modes.js';
import { isCovered, isOutgrown, isSameWish } from './requests.js';
import type {
  Availability,
  Claim,
  ClaimRequest,
  Hold,
  HoldReleased,
  Leftover,
  Publication,
  PublishRequest,
  PublishWish,
  QueuedWish,
  Unstaged,
  VolumeContext,
  VolumeInput,
  VolumeSpec,
  WorkKind,
} from './types.js';

/** A volume that is not there. */
export const nobody = ({ namespace, id, seq }: VolumeInput): VolumeContext => ({
  key: { namespace, id },
  uid: '',
  name: '',
  spec: null,
  csi: null,
  creation: {},
  publications: {},
  claims: [],
  waiting: [],
  generation: seq,
  publicationNumber: 0,
  availability: 'active',
  expansion: null,
  expandedTo: null,
  nodeExpansion: false,
  unexpanded: [],
  modification: null,
  modifiedTo: null,
  deletion: null,
  leftovers: [],
  driver: null,
  home: null,
  sighting: null,
  work: null,
  awaiting: null,
});

/** @param asked `name`: what the plugin is to call it */
export const begun = (
  context: VolumeContext,
  asked: { spec: VolumeSpec; uid: string; name: string; home?: string; driver?: string },
): Change => {
  const { key, generation } = context;
  const { spec, uid, name, home, driver } = asked;
  const nothing = nobody({ ...key, seq: generation });
  return { context: { ...nothing, spec, uid, name, home: home ?? null, driver: driver ?? null } };
};

export const publish = (
  context: VolumeContext,
  { nodeId, capability = usualCapability(context, nodeId), readOnly, csiNodeId, hold, claim }: PublishRequest,
): Change =>
  drafted(context, (draft) => {
    const wish = { capability, readOnly, csiNodeId };
    const present = draft.publications[nodeId];
    // Its node may have another name since; what it has staged it has under the one before.
    const isSameNode = present?.csiNodeId === csiNodeId || (present?.drifted && !present.failure);
    const isSame = present && isSameWish(present, wish) && isSameNode;
    if (!present) {
      begin(draft, nodeId, wish);
    } else if (present.failure) {
      if (!isSame || present.failure.in === 'unpublish') replace(draft, nodeId, wish);
    } else if (present.state === 'pending-publish' && isSame) {
      const { undoneAfter: _, fenced: __, next, ...wanted } = present;
      const holds = [...(present.holds ?? []), ...(next?.holds ?? [])];
      draft.publications[nodeId] = { ...wanted, ...(holds.length > 0 && { holds }) };
      // It goes no more: claims that were to go with it have nothing left to wait for.
      releaseDetached(draft, nodeId);
      grant(draft);
    } else if (hold !== undefined && isSame && isKeptByHolds(present)) {
      draft.publications[nodeId] = withHold(draft, present, hold);
      return;
    } else if (present.state !== 'published') {
      const followed = { ...present, next: { ...present.next, ...wish } };
      draft.publications[nodeId] = followed;
      if (present.state === 'pending-publish') withdraw(draft, nodeId, followed);
    }
    if (hold !== undefined) addHold(draft, nodeId, hold);
    if (hold !== undefined || claim) markByAgent(draft, nodeId);
  });

/** Marks what an agent on the node asked for: it hears when it has to unmount that. What is published next has its own mark. */
function markByAgent(draft: Draft, nodeId: string): void {
  const publication = draft.publications[nodeId];
  if (!publication) return;
  const { next } = publication;
  draft.publications[nodeId] = next
    ? { ...publication, next: { ...next, isByAgent: true } }
    : { ...publication, isByAgent: true };
}

/** Of what is published next there, where that is to come after what is there now. */
function addHold(draft: Draft, nodeId: string, allocId: string): void {
  const publication = draft.publications[nodeId];
  if (!publication) return;
  const { next } = publication;
  draft.publications[nodeId] = next
    ? { ...publication, next: withHold(draft, next, allocId) }
    : withHold(draft, publication, allocId);
}

function withHold<T extends QueuedWish>(draft: Draft, wish: T, allocId: string): T {
  draft.generation += 1;
  const hold: Hold = { allocId, generation: draft.generation };
  return { ...wish, holds: [...(wish.holds ?? []).filter((one) => one.allocId !== allocId), hold] };
}

/** The node has let go of it for that alloc: where it waited for nobody else, it is unpublished. */
export const holdReleased = (context: VolumeContext, { nodeId, allocId, generation }: HoldReleased): Change =>
  drafted(context, (draft) => {
    clearLeft(draft, asUnstaged({ nodeId, allocId, generation }));
    const publication = draft.publications[nodeId];
    if (!publication) return;
    const without = <T extends QueuedWish>({ holds = [], ...wish }: T): Omit<T, 'holds'> & { holds?: Hold[] } => {
      const left = holds.filter((one) => one.allocId !== allocId || one.generation > generation);
      return { ...wish, ...(left.length > 0 && { holds: left }) };
    };
    const { next, ...present } = without(publication);
    draft.publications[nodeId] = { ...present, ...(next && { next: without(next) }) };
    if (publication.state === 'pending-node-unpublish') leave(draft, nodeId);
  });

/** What failed there is out of the way first, where something of it may be there. */
function replace(draft: Draft, nodeId: string, wish: PublishWish): void {
  const failed = draft.publications[nodeId];
  if (failed && isUndecided(failed)) put(draft, nodeId, { ...leaving(failed), next: wish });
  else {
    const { drifted, holds, isByAgent } = failed ?? {};
    const used = { ...(drifted && { drifted }), ...(holds && { holds }), ...(isByAgent && { isByAgent }) };
    begin(draft, nodeId, { ...wish, ...used });
  }
}

function begin(draft: Draft, nodeId: string, wish: QueuedWish & Pick<Publication, 'drifted'>): void {
  draft.publicationNumber += 1;
  put(draft, nodeId, { ...wish, number: draft.publicationNumber, state: 'pending-publish' });
}

export const unpublish = (context: VolumeContext, nodeId: string): Change =>
  drafted(context, (draft) => {
    const present = draft.publications[nodeId];
    if (!present) return;
    const { next: _, ...publication } = present;
    draft.publications[nodeId] = publication;
    if (publication.state === 'published' || publication.failure) put(draft, nodeId, leaving(publication));
    else if (publication.state === 'pending-publish') withdraw(draft, nodeId, publication);
  });

/** It is to be undone, from the beginning: what came of attempts to publish it does not count. */
export const leaving = ({
  failure: _,
  tries: __,
  undoneAfter: ___,
  drifted: ____,
  holds: _____,
  ...publication
}: Publication): Publication => ({
  ...publication,
  state: 'pending-unpublish',
});

/** Publishing that nobody wants any more: if it can't have happened it is over, else that is to be found out first. */
function withdraw(draft: Draft, nodeId: string, publication: Publication): void {
  const { work, awaiting } = draft;
  const isCalled = work?.isCalling && work.nodeId === nodeId && !awaiting;
  const { undoneAfter, tries } = publication;
  if (publication.drifted) put(draft, nodeId, leaving(publication));
  else if (!publication.inDoubt && !isCalled) remove(draft, nodeId);
  else if (undoneAfter === undefined) {
    const now = tries && { tries: { ...tries, notBeforeMs: 0 } };
    draft.publications[nodeId] = { ...publication, ...now, undoneAfter: tries?.count ?? 0 };
  }
}

/**
 * It is gone from the node: whoever waited for that is released, or it is published anew.
 * @param unconfirmed why it is not known to be gone, but was given up
 */
export function remove(draft: Draft, nodeId: string, unconfirmed?: Failure): void {
  const publication = draft.publications[nodeId];
  delete draft.publications[nodeId];
  const failure = unconfirmed && { failure: unconfirmed };
  if (publication)
    draft.tells.push({ type: 'publication', nodeId, number: publication.number, state: 'removed', ...failure });
  for (const claim of draft.claims.filter((one) => one.nodeId === nodeId && one.state === 'node-detached')) {
    draft.tells.push(claimTold({ ...claim, state: 'controller-detached' }), claimTold({ ...claim, state: 'released' }));
  }
  draft.claims = draft.claims.filter((one) => one.nodeId !== nodeId || one.state !== 'node-detached');
  if (publication?.next && !draft.deletion) begin(draft, nodeId, publication.next);
  const { expansion } = draft;
  // What may have stood in its way does no more: it is tried now, once.
  if (expansion?.tries && !Object.values(draft.publications).some(mayBeThere))
    draft.expansion = { ...expansion, tries: { ...expansion.tries, notBeforeMs: 0 } };
  grant(draft);
}

/** Whoever waits for a slot that is free takes it, in order. */
function grant(draft: Draft): void {
  if (draft.deletion || draft.availability !== 'active' || draft.waiting.length === 0) return;
  const { claims, waiting, generation, taken } = granted(draft);
  draft.claims = claims;
  draft.waiting = waiting;
  draft.generation = generation;
  draft.tells.push(...taken.map(claimTold));
}

export const claim = (context: VolumeContext, asked: ClaimRequest): Change =>
  drafted(context, (draft) => {
    const isThere = [...draft.claims, ...draft.waiting].some(({ allocId }) => allocId === asked.allocId);
    if (isThere) return;
    draft.waiting = [...draft.waiting, asked];
    grant(draft);
    const waits = draft.waiting.find(({ allocId }) => allocId === asked.allocId);
    if (waits) draft.tells.push({ type: 'claim', state: 'waiting', allocId: waits.allocId, nodeId: waits.nodeId });
  });

/** It waits no longer; what it has taken it keeps. */
export const unclaim = (context: VolumeContext, allocId: string): Change =>
  drafted(context, (draft) => {
    withdrawClaims(draft, (one) => one.allocId === allocId);
    grant(draft);
  });

/** Its node can't use the volume now: nobody who could waits behind it. */
export const withdrawWaiting = (context: VolumeContext, nodeId: string, reason: string): Change =>
  drafted(context, (draft) => {
    withdrawClaims(draft, (one) => one.nodeId === nodeId, reason);
    grant(draft);
  });

function withdrawClaims(draft: Draft, isMeant: (request: ClaimRequest) => boolean, reason?: string): void {
  const withdrawn = draft.waiting.filter(isMeant);
  if (withdrawn.length === 0) return;
  draft.waiting = draft.waiting.filter((one) => !withdrawn.includes(one));
  const why = reason === undefined ? {} : { reason };
  for (const { allocId, nodeId } of withdrawn)
    draft.tells.push({ type: 'claim', state: 'withdrawn', allocId, nodeId, ...why });
}

/** Its workload has stopped, or it waits no longer. What it has elsewhere, or since, is not touched where that is said. */
export const release = (
  context: VolumeContext,
  { allocId, nodeId, generation }: Pick<Claim, 'allocId'> & Partial<Pick<Claim, 'nodeId' | 'generation'>>,
): Change =>
  drafted(context, (draft) => {
    const isMeant = (one: ClaimRequest): boolean =>
      one.allocId === allocId && (nodeId === undefined || one.nodeId === nodeId);
    withdrawClaims(draft, isMeant);
    const held = draft.claims.find(
      (one) => isMeant(one) && (generation === undefined || one.generation === generation),
    );
    if (held?.state === 'taken') {
      const publication = draft.publications[held.nodeId];
      const isUsed = publication?.state === 'published' || publication?.drifted;
      move(draft, [held], isUsed ? 'unpublishing' : 'node-detached');
      leave(draft, held.nodeId);
      const isClaimed = draft.claims.some(({ nodeId, state }) => nodeId === held.nodeId && state === 'taken');
      if (!isClaimed) unwish(draft, held.nodeId);
    }
    grant(draft);
  });

function move(draft: Draft, claims: Claim[], state: Claim['state'], fenced?: string): void {
  const moved = (one: Claim): Claim => ({ ...one, state, ...(fenced !== undefined && { fenced }) });
  draft.claims = draft.claims.map((one) => (claims.includes(one) ? moved(one) : one));
  draft.tells.push(...claims.map((one) => claimTold(moved(one))));
}

/**
 * Claims on this node have moved on: those that nothing keeps are released, and the last of those that used the
 * publication takes it along. One that was taken while it was on its way out has its own to come.
 */
function leave(draft: Draft, nodeId: string): void {
  const here = draft.claims.filter((one) => one.nodeId === nodeId);
  const publication = draft.publications[nodeId];
  const staying = here.filter(({ state }) => state !== 'node-detached');
  const isHeld = publication !== undefined && holdsOf(publication).length > 0;
  const isUsed = isHeld || staying.some(({ state }) => state === 'unpublishing');
  if (publication?.state === 'pending-node-unpublish' && !isUsed) {
    put(draft, nodeId, leaving(publication));
  } else if (staying.length > 0) {
    releaseDetached(draft, nodeId);
    const isLeaving = staying.every(({ state }) => state === 'unpublishing');
    if (isLeaving && publication && (publication.state === 'published' || publication.drifted))
      put(draft, nodeId, staged(publication));
  } else if (isHeld) {
    // Claims keep their slots until the allocs without one have let go, too.
    if (publication.state !== 'pending-node-unpublish') put(draft, nodeId, staged(publication));
  } else if (!publication) {
    remove(draft, nodeId);
  } else if (publication.state === 'pending-publish') {
    withdraw(draft, nodeId, publication);
  } else if (publication.state !== 'pending-unpublish') {
    put(draft, nodeId, leaving(publication));
  }
}

/** Those that nothing keeps there, though the volume stays. */
function releaseDetached(draft: Draft, nodeId: string): void {
  const released = draft.claims.filter((one) => one.nodeId === nodeId && one.state === 'node-detached');
  draft.claims = draft.claims.filter((one) => !released.includes(one));
  draft.tells.push(...released.map((one) => claimTold({ ...one, state: 'released' })));
}

/** Its node has still to report; what came of publishing it once more does not count. */
const staged = ({ failure: _, tries: __, drifted: ___, ...publication }: Publication): Publication => ({
  ...publication,
  state: 'pending-node-unpublish',
});

/** What was to come after it is for nobody any more. */
function unwish(draft: Draft, nodeId: string): void {
  const present = draft.publications[nodeId];
  if (!present?.next) return;
  const { next: _, ...publication } = present;
  draft.publications[nodeId] = publication;
}

/** The node has let go of it, as far as what it reports of has used it. */
export const unstaged = (context: VolumeContext, report: Unstaged): Change =>
  drafted(context, (draft) => {
    clearLeft(draft, report);
    const meant = draft.claims.filter((one) => one.state === 'unpublishing' && isReported(one, report));
    if (meant.length === 0) return;
    move(draft, meant, 'node-detached');
    leave(draft, report.nodeId);
    grant(draft);
  });

const isReported = (claim: Claim, { nodeId, claimGeneration, allocId }: Unstaged): boolean =>
  claim.nodeId === nodeId &&
  (allocId === undefined
    ? claim.generation <= claimGeneration
    : claim.allocId === allocId && claim.generation === claimGeneration);

/** The node is taken for lost: what it would report is not waited for. */
export const fence = (context: VolumeContext, nodeId: string, reason: string): Change =>
  drafted(context, (draft) => {
    const present = draft.publications[nodeId];
    if (present) {
      tellHoldsOver(draft, nodeId, reason);
      const { next: _, tries, holds: __, ...publication } = present;
      // What was waited for is proof no longer asked for: an unpublish is tried at once.
      const kept = present.state === 'pending-unpublish' || !tries ? {} : { tries };
      draft.publications[nodeId] = { ...publication, ...kept, fenced: reason };
    }
    withdrawClaims(draft, (one) => one.nodeId === nodeId, reason);
    const here = draft.claims.filter((one) => one.nodeId === nodeId && one.state !== 'node-detached');
    move(draft, here, 'node-detached', reason);
    if (present || here.length > 0) leave(draft, nodeId);
    grant(draft);
  });

/** Whether a fence of the node is still to be told to the volume. */
export const isToBeFenced = ({ publications, claims, waiting }: VolumeContext, nodeId: string): boolean => {
  const publication = publications[nodeId];
  // Fenced before, its node may have come back since, and be wanted again.
  const isKept = publication !== undefined && (publication.fenced === undefined || publication.next !== undefined);
  const isHeld = claims.some((one) => one.nodeId === nodeId && one.state !== 'node-detached');
  return isKept || isHeld || waiting.some((one) => one.nodeId === nodeId);
};

/** Whether claims for the node wait. */
export const hasWaiting = ({ waiting }: VolumeContext, nodeId: string): boolean =>
  waiting.some((one) => one.nodeId === nodeId);

const forced = 'deleted with force';

export const discard = (context: VolumeContext, force: boolean, stamp: Stamped): Change =>
  drafted(context, (draft) => {
    const isFirst = draft.deletion === null || (force && !draft.deletion.force);
    const { failure: _, ...before } = draft.deletion ?? {};
    draft.deletion = isFirst ? { force } : { ...before, force: force || draft.deletion?.force === true };
    const { failure, inDoubt, made } = draft.creation;
    // Of no use, but there: it is deleted by its id.
    if (made) draft.csi = made;
    if (isFirst || failure) draft.creation = inDoubt ? { inDoubt } : {};
    withdrawClaims(draft, () => true, 'the volume is being deleted');
    draft.expansion = null;
    draft.modification = null;
    if (force) giveUpNodes(draft);
    for (const [nodeId, publication] of Object.entries(draft.publications)) {
      const isPublishing = publication.state === 'pending-publish';
      // Asked for again, what is on its way out goes on as it is.
      if (publication.failure || (force && isFirst && !isPublishing)) put(draft, nodeId, leaving(publication));
      else if (force && isPublishing) withdraw(draft, nodeId, publication);
      if (force && isFirst) awaitingNode(draft, nodeId, stamp);
    }
  });

/** The agent of the node hears that it has to unmount what is held there. */
function tellHoldsOver(draft: Draft, nodeId: string, fenced: string): void {
  const publication = draft.publications[nodeId];
  for (const hold of publication ? holdsOf(publication) : [])
    draft.tells.push({ type: 'hold', state: 'released', nodeId, ...hold, fenced });
}

/** Lists the allocs without a claim that a node may have the volume mounted for. */
const holdsIn = ({ publications }: VolumeContext): Unreported[] =>
  Object.entries(publications).flatMap(([nodeId, publication]) =>
    holdsOf(publication).map((hold) => ({ ...hold, nodeId, csiNodeId: publication.csiNodeId })),
  );

type Unreported = Pick<Claim, 'allocId' | 'generation' | 'nodeId' | 'csiNodeId'>;

/** Claims are not waited for; where a node has not reported, that is remembered. */
function giveUpNodes(draft: Draft): void {
  const unreported: Unreported[] = [
    ...draft.claims.filter(({ state }) => state !== 'node-detached'),
    ...holdsIn(draft),
  ];
  draft.leftovers = [
    ...draft.leftovers,
    ...unreported.map(
      ({ allocId, generation, nodeId, csiNodeId }): Leftover => ({
        what: 'staged',
        nodeId,
        csiNodeId,
        allocId,
        generation,
        ...atPlugin(draft),
        message: `node ${nodeId} has not reported that alloc ${allocId} let go of it`,
      }),
    ),
  ];
  draft.tells.push(...draft.claims.map((one) => claimTold({ ...one, state: 'released', fenced: forced })));
  for (const nodeId of Object.keys(draft.publications)) tellHoldsOver(draft, nodeId, forced);
  draft.claims = [];
}

/** Whether a call for this piece is under way, or waits for its turn: it is made with what was asked for before. */
const isAt = ({ work }: VolumeContext, kind: WorkKind): boolean => work?.isCalling === true && work.kind === kind;

/** An earlier size, asked for again, leaves a larger one under way as it is; one that has failed is let go of for it. */
export const expand = (context: VolumeContext, capacity: CapacityRange): Change => {
  const { expansion } = context;
  const isAsked = [expansion?.capacity, expansion?.next].some((asked) => isSameData(asked, capacity));
  if (isAsked || isOutgrown(context, capacity)) return { context: {} };
  if (isCovered(context, capacity)) return { context: expansion?.failure ? { expansion: null } : {} };
  if (expansion && isAt(context, 'expand')) return { context: { expansion: { ...expansion, next: capacity } } };
  return { context: { expansion: { capacity } } };
};

/** What is asked for twice is one change; what a plugin would not take is let go of. */
export const modify = (context: VolumeContext, asked: Record<string, string>): Change => {
  const { modification } = context;
  if (!modification) return { context: { modification: { mutableParameters: asked } } };
  const { mutableParameters, next, failure } = modification;
  if (isAt(context, 'modify')) return { context: { modification: { ...modification, next: { ...next, ...asked } } } };
  if (failure && isSameData(mutableParameters, asked)) return { context: {} };
  const wanted = failure ? asked : { ...mutableParameters, ...asked };
  if (isSameData(wanted, mutableParameters)) return { context: {} };
  return { context: { modification: { mutableParameters: wanted } } };
};

/** What has failed is tried again, and what waits for its time is tried now. */
export const retry = (context: VolumeContext, acceptDriver?: string): Change =>
  drafted(context, (draft) => {
    if (acceptDriver !== undefined) draft.driver = acceptDriver;
    const { inDoubt, made } = draft.creation;
    draft.creation = { ...(inDoubt && { inDoubt }), ...(made && { made }) };
    for (const [nodeId, publication] of Object.entries(draft.publications)) again(draft, nodeId, publication);
    if (draft.expansion) {
      const { tries: _, failure: __, ...expansion } = draft.expansion;
      draft.expansion = expansion;
    }
    if (draft.modification) {
      const { tries: _, failure: __, ...modification } = draft.modification;
      draft.modification = modification;
    }
    if (draft.deletion) {
      const { tries: _, failure: __, ...deletion } = draft.deletion;
      draft.deletion = deletion;
    }
  });

function again(draft: Draft, nodeId: string, publication: Publication): void {
  if (isAwaitingNode(publication)) return;
  const { failure, tries: _, undoneAfter, ...rest } = publication;
  const wanted = Object.entries(draft.publications).filter(([other, one]) => other !== nodeId && wishOf(one));
  if (!failure) draft.publications[nodeId] = { ...rest, ...(undoneAfter !== undefined && { undoneAfter: 0 }) };
  // Its place may have been taken since.
  else if (failure.in === 'unpublish' || !wanted.some(([, one]) => excludes(one, publication)))
    put(draft, nodeId, { ...rest, state: `pending-${failure.in}` });
}

export const setAvailability = (context: VolumeContext, availability: Availability): Change =>
  drafted(context, (draft) => {
    if (draft.availability === availability) return;
    draft.availability = availability;
    draft.tells.push({ type: 'availability', availability, allocIds: draft.claims.map(({ allocId }) => allocId) });
    grant(draft);
  });

/** All that its deletion asked for is done, but for what could not be confirmed. */
export const gone = ({ leftovers }: VolumeContext): Change => ({
  context: {},
  tells: [{ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) }],
});
