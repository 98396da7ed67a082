/** Requests that a volume refuses, and why: each refusal names who or what is in the way, and what to do. Pure. */

import type { Failure } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { refusalBy } from '../kit/requests.js';
import { isSameData, otherSpec } from '../kit/same-data.js';
import { sizeText } from '../kit/size-text.js';
import { claim, conflictOf, describeClaim, isSameClaim, neverGranted, publishOf } from './claims.js';
import { asUnstaged, hasRetryableLeftovers, isLeftStaged } from './leftovers.js';
import { isLeaving } from './lifecycle.js';
import { excludes, holdersOf, isOfModes, mayBeThere, notMadeFor, usualCapability, wishOf } from './modes.js';
import { publicStateOf } from './publication.js';
import { isBelow, sizeOf } from './size.js';
import type { Claim, Publication, VolumeContext, VolumeMachineEvent, VolumeRequest, VolumeSpec } from './types.js';
import type { PublishWish, VolumeKey } from './wishes.js';
import { describeLeftover, whereToLook } from './words.js';
import { isAbsent } from './work.js';

export const volumeName = ({ namespace, id }: VolumeKey): string => `volume ${namespace}/${id}`;

type RequestOf<Type extends VolumeRequest['type']> = Extract<VolumeRequest, { type: Type }>;
type Refusals = {
  [Type in VolumeRequest['type']]?: (context: VolumeContext, request: RequestOf<Type>) => Failure | undefined;
};

const refused = refusalBy(({ key }: VolumeContext) => volumeName(key));

const describePublication = (nodeId: string, { at, readOnly, capability }: Publication): string =>
  `node ${nodeId} (${publicStateOf({ at })}, ${capability.accessMode}${readOnly ? ', read-only' : ''})`;

const wantedOn = ({ publications }: VolumeContext): [nodeId: string, Publication][] =>
  Object.entries(publications).filter(([, publication]) => wishOf(publication));

const deleting = (context: VolumeContext): Failure | undefined =>
  isLeaving(context.lifecycle)
    ? refused('VOLUME_DELETING', context, 'it is being deleted: create it anew once it is gone')
    : undefined;

/**
 * Refuses new use of a volume that is being deleted or is held back.
 * @param isUsed whether the caller uses the volume already
 */
function unusable(context: VolumeContext, isUsed = false): Failure | undefined {
  if (isLeaving(context.lifecycle)) return deleting(context);
  if (context.availability !== 'active' && !isUsed) {
    const why = `it takes no new use, its availability is '${context.availability}': set it to 'active' first`;
    return refused('VOLUME_UNAVAILABLE', context, why);
  }
  return undefined;
}

export const isSameWish = (one: PublishWish, other: PublishWish): boolean =>
  one.readOnly === other.readOnly && isSameData(one.capability, other.capability);

function publishRefusal(
  context: VolumeContext,
  { nodeId, capability = usualCapability(context, nodeId), readOnly, csiNodeId, claim }: RequestOf<'volume.publish'>,
): Failure | undefined {
  if (claim && !holds(context, claim)) {
    const why = `alloc ${claim.allocId} no longer has a claim on this volume: release the alloc, then prepare it again`;
    return refused('CLAIM_LOST', context, why);
  }
  const wish = { capability, readOnly, csiNodeId };
  const present = context.publications[nodeId];
  const asked = present && wishOf(present);
  if (asked && isSameWish(asked, wish)) return present && renamed(context, present, { nodeId, ...wish });
  const stays = present && keptAsIs(context, present, { nodeId, ...wish });
  if (stays) return stays;
  const isClaimed = context.claims.some((one) => one.nodeId === nodeId && one.state === 'taken');
  const unused = unusable(context, isClaimed);
  if (unused) return unused;
  const never = notMadeFor(context.spec?.capabilities ?? [], capability);
  if (never) return refused('INVALID_ARGUMENT', context, never);
  if (present && asked) {
    const why = `it is published otherwise on ${describePublication(nodeId, present)}: unpublish it there first`;
    return refused('VOLUME_IN_USE', context, why);
  }
  const { accessMode } = wish.capability;
  // A publication that leaves is waited for; one that is stuck is not.
  const isStaying = (publication: Publication): boolean =>
    isIn(publication, 'failed') ? mayBeThere(publication) : wishOf(publication) !== undefined;
  const hindering = Object.entries(context.publications).filter(
    ([other, publication]) =>
      other !== nodeId && isStaying(publication) && excludes(wishOf(publication) ?? publication, wish),
  );
  if (hindering.length === 0) return claimedHere(context, nodeId, wish) ?? claimedElsewhere(context, nodeId, wish);
  const names = hindering.map(([other, publication]) => describePublication(other, publication)).join(', ');
  return refused('VOLUME_IN_USE', context, `${accessMode} does not go with ${names}: unpublish it there first`);
}

/** Whether the volume still has this very claim. */
export const holds = (
  { claims }: VolumeContext,
  { allocId, generation }: Pick<Claim, 'allocId' | 'generation'>,
): boolean => claims.some((one) => one.allocId === allocId && one.generation === generation && one.state === 'taken');

/** Refuses a volume that was handed out for a node of another CSI id: it may be another machine by now. */
function renamed(
  context: VolumeContext,
  { at, csiNodeId }: Publication,
  asked: PublishWish & { nodeId: string },
): Failure | undefined {
  if (at !== 'published' || csiNodeId === asked.csiNodeId) return undefined;
  const why = `it is published on node ${asked.nodeId} as ${csiNodeId}, and its plugin calls that ${asked.csiNodeId} now: unpublish it there first`;
  return refused('VOLUME_IN_USE', context, why);
}

/** Refuses to publish a volume in another way under the users of the present one. */
function keptAsIs(
  context: VolumeContext,
  present: Publication,
  { nodeId, ...asked }: PublishWish & { nodeId: string },
): Failure | undefined {
  if (present.at !== 'failed.was-published' || !present.mayStillArrive) return undefined;
  if (isSameWish(present, asked) && present.csiNodeId === asked.csiNodeId) return undefined;
  const users = usersOn(context, nodeId);
  if (users.length === 0) return undefined;
  const as = `it is published otherwise on ${describePublication(nodeId, present)}`;
  return refused('VOLUME_IN_USE', context, `${as}, and used by ${users.join(', ')}: they must release it first`);
}

/** Describes the users that may have the volume staged on the node, with a claim or without. */
const usersOn = ({ claims, publications }: VolumeContext, nodeId: string): string[] => {
  const publication = publications[nodeId];
  return [
    ...claims.filter((one) => one.nodeId === nodeId && one.state !== 'node-detached').map(describeClaim),
    ...(publication ? holdersOf(publication).map((allocId) => describeHolder(allocId, nodeId)) : []),
  ];
};

const describeHolder = (allocId: string, nodeId: string): string =>
  `alloc ${allocId} on node ${nodeId} (mounted without a claim)`;

/** Refuses another mode than that of the claims on the node. */
function claimedHere(context: VolumeContext, nodeId: string, { capability }: PublishWish): Failure | undefined {
  const others = context.claims.filter(
    (one) => one.state === 'taken' && one.nodeId === nodeId && !isOfModes(one, capability),
  );
  const [first] = others;
  if (!first) return undefined;
  const as = `it is claimed on node ${nodeId} as ${first.attachmentMode}, ${first.accessMode}`;
  const names = others.map(describeClaim).join(', ');
  return refused('VOLUME_IN_USE', context, `${as}, by ${names}: publish it so, or release that first`);
}

/** Refuses to publish to a node while claims on another node exclude it. Waits for claims that are being released. */
function claimedElsewhere(context: VolumeContext, nodeId: string, wish: PublishWish): Failure | undefined {
  const hindering = context.claims.filter(
    ({ state, mode, accessMode, attachmentMode, ...claim }) =>
      state === 'taken' &&
      claim.nodeId !== nodeId &&
      excludes({ capability: { accessMode, attachmentMode }, readOnly: mode === 'read' }, wish),
  );
  if (hindering.length === 0) return undefined;
  const { accessMode } = wish.capability;
  const names = hindering.map(describeClaim).join(', ');
  return refused('VOLUME_IN_USE', context, `${accessMode} does not go with the claim of ${names}: release that first`);
}

/** Most claims that may wait: each request copies the queue. */
const mostWaiting = 1_000;

function claimRefusal(
  context: VolumeContext,
  { claim, wait, isRepeat }: RequestOf<'volume.claim'>,
): Failure | undefined {
  const { claims, waiting } = context;
  const { allocId } = claim;
  const held = claims.find((other) => other.allocId === allocId);
  const queued = waiting.find((other) => other.allocId === allocId);
  if (held) {
    if (isSameClaim(held, claim) && held.state === 'taken') return undefined;
    const advice = held.state === 'taken' ? 'release that first' : 'claim it anew once that is released';
    return refused('CLAIM_CONFLICT', context, `it is claimed already by ${describeClaim(held)}: ${advice}`);
  }
  if (isRepeat) return refused('CLAIM_CONFLICT', context, `alloc ${allocId} has it no more: claim it anew`);
  if (queued) {
    if (isSameClaim(queued, claim) && wait) return undefined;
    const waits = `waits for a claim (${queued.mode}, ${queued.accessMode}) on node ${queued.nodeId}`;
    const why = `${conflictOf(claims, queued) ?? 'others wait before it'}; alloc ${allocId} ${waits}: release that first`;
    return refused('CLAIM_CONFLICT', context, why);
  }
  const unused = unusable(context);
  if (unused) return unused;
  const never = neverGranted(context, claim);
  if (never) return refused('INVALID_ARGUMENT', context, never);
  const present = context.publications[claim.nodeId];
  const wish = present && wishOf(present);
  if (wish && !isOfModes(wish.capability, claim)) {
    const why = `it is published otherwise on ${describePublication(claim.nodeId, { ...present, ...wish })}`;
    return refused('CLAIM_CONFLICT', context, `${why}: claim it so, or unpublish it there first`);
  }
  if (wait && waiting.length < mostWaiting) return undefined;
  if (wait) {
    const why = `${waiting.length} claims wait for it, and no more may: claim it again once fewer do`;
    return refused('CLAIM_CONFLICT', context, why);
  }
  const [first] = waiting;
  const conflict = conflictOf(claims, claim);
  if (conflict) return refused('CLAIM_CONFLICT', context, `${conflict}; with wait, it is yours once that is over`);
  if (first) {
    const ahead = waiting.map((other) => `alloc ${other.allocId} on node ${other.nodeId}`).join(', ');
    return refused('CLAIM_CONFLICT', context, `${ahead} waited for it first; with wait, you come after`);
  }
  return undefined;
}

/** Refuses the request if either half is refused: done one after the other, they may end otherwise. */
function claimAndPublishRefusal(
  context: VolumeContext,
  request: RequestOf<'volume.claim-and-publish'>,
): Failure | undefined {
  const refusal = claimRefusal(context, { type: 'volume.claim', claim: request.claim, wait: false });
  if (refusal) return refusal;
  const claimed = { ...context, ...claim(context, request.claim).context };
  return publishRefusal(claimed, { type: 'volume.publish', ...publishOf(claimed, request) });
}

function deleteRefusal(context: VolumeContext, { force, uid }: RequestOf<'volume.delete'>): Failure | undefined {
  if (uid !== undefined && uid !== context.uid)
    return refused('VOLUME_NOT_FOUND', context, 'the one that was meant is gone, and another has its id');
  if (force) return undefined;
  const claims = context.claims.map(describeClaim);
  const wanted = wantedOn(context);
  const published = wanted.map(([nodeId, publication]) => describePublication(nodeId, publication));
  const mounted = Object.entries(context.publications).flatMap(([nodeId, publication]) =>
    holdersOf(publication).map((allocId) => describeHolder(allocId, nodeId)),
  );
  if (claims.length + published.length + mounted.length === 0) return undefined;
  const taken = context.claims.filter(({ state }) => state === 'taken');
  // A claimed publication is unpublished once its claim is released.
  const isUnclaimed = wanted.some(([nodeId]) => !taken.some((claim) => claim.nodeId === nodeId));
  const ways = [
    ...(mounted.length > 0 ? ['unmount'] : []),
    ...(taken.length > 0 ? ['release'] : []),
    ...(isUnclaimed ? ['unpublish'] : []),
  ];
  const advice =
    ways.length > 0
      ? `${ways.join(' and ')} it first`
      : 'its node must report that it unstaged the volume, or be fenced, first';
  const parts = [
    ...(mounted.length > 0 ? [`used by ${mounted.join(', ')}`] : []),
    ...(claims.length > 0 ? [`claimed by ${claims.join(', ')}`] : []),
    ...(published.length > 0 ? [`published on ${published.join(', ')}`] : []),
  ];
  // Force does not help what is still on a node: the node knows why.
  const isLeaving = ways.length === 0 && context.claims.every(({ state }) => state === 'unpublishing');
  const last = isLeaving ? `: see ${context.claims.map(whereToLook).join(', ')}` : ', or delete it with force';
  return refused('VOLUME_IN_USE', context, `it is ${parts.join(' and ')}: ${advice}${last}`);
}

function unpublishRefusal(context: VolumeContext, { nodeId }: RequestOf<'volume.unpublish'>): Failure | undefined {
  const holders = context.claims.filter((claim) => claim.nodeId === nodeId && claim.state === 'taken');
  if (holders.length > 0) {
    const names = holders.map(describeClaim).join(', ');
    return refused('VOLUME_IN_USE', context, `it is claimed by ${names}: release that, and it is unpublished`);
  }
  const publication = context.publications[nodeId];
  const mounted = publication ? holdersOf(publication) : [];
  if (mounted.length === 0) return undefined;
  const names = mounted.map((allocId) => describeHolder(allocId, nodeId)).join(', ');
  const advice = 'unmount it there first, by mounts.unmount, or fence the node if it is lost';
  return refused('VOLUME_IN_USE', context, `it is used by ${names}: ${advice}`);
}

/** Refuses a node's report for claims that may be in use: an alloc may use the volume anew after the report. */
function unstagedRefusal(
  context: VolumeContext,
  { nodeId, claimGeneration, allocId }: RequestOf<'volume.unstaged'>,
): Failure | undefined {
  const held = context.claims.find((one) => one.nodeId === nodeId && one.generation === claimGeneration);
  if (held?.state !== 'taken' || (allocId !== undefined && held.allocId !== allocId)) return undefined;
  return refused('VOLUME_IN_USE', context, `it is claimed by ${describeClaim(held)}: release that, then report it`);
}

/** Refuses a size below the present one. An earlier request may be repeated, however large the volume has become. */
function expandRefusal(context: VolumeContext, { capacity }: RequestOf<'volume.expand'>): Failure | undefined {
  if (isLeaving(context.lifecycle)) return deleting(context);
  const { spec, expansion, expandedTo } = context;
  const has = sizeOf(context);
  const isKnown = [expandedTo, spec?.capacity, expansion?.wish].some((known) => isSameData(known, capacity));
  if (isKnown || !(isBelow(capacity.requiredBytes, has) || isBelow(capacity.limitBytes, has))) return undefined;
  return refused('INVALID_ARGUMENT', context, `its size is ${sizeText(has)}: a volume can only grow`);
}

/** Spec with the present mutable parameters: those of the creation, or those that they were changed to since. */
function specAs({ mutableParameters }: VolumeSpec, { spec, modifiedTo }: VolumeContext): VolumeSpec | null {
  if (spec === null || isSameData(spec.mutableParameters, mutableParameters)) return spec;
  return { ...spec, mutableParameters: { ...spec.mutableParameters, ...modifiedTo } };
}

const refusals: Refusals = {
  'volume.create': (context, { spec }) => {
    const present = specAs(spec, context);
    const isSame = isSameData(present, spec);
    return deleting(context) ?? (isSame ? undefined : refused('VOLUME_EXISTS', context, otherSpec(present, spec)));
  },
  'volume.publish': publishRefusal,
  'volume.unpublish': unpublishRefusal,
  'volume.claim': claimRefusal,
  'volume.claim-and-publish': claimAndPublishRefusal,
  'volume.unstaged': unstagedRefusal,
  'volume.delete': deleteRefusal,
  'volume.expand': expandRefusal,
  'volume.modify': deleting,
  'volume.acknowledge': (context) =>
    refused('NOTHING_LEFT', context, 'it is not deleted: only leftovers of a forced deletion can be acknowledged'),
};

/** Reason why nobody can use the volume: there is none, or only leftovers of it. */
export function absenceOf(context: VolumeContext): Failure {
  if (context.leftovers.length === 0) return volumeNotFound(context.key);
  const todo = hasRetryableLeftovers(context) ? 'retry to try again, or remove it by hand' : 'remove it by hand';
  return refused('VOLUME_NOT_FOUND', context, `${leftBehind(context)}: ${todo}, then acknowledge it`);
}

export const volumeNotFound = (key: VolumeKey): Failure => ({
  code: 'VOLUME_NOT_FOUND',
  message: `there is no ${volumeName(key)}: list them, or create it`,
  final: true,
});

const leftBehind = ({ leftovers }: VolumeContext): string =>
  `it was deleted, but may be left behind (${leftovers.map(describeLeftover).join('; ')})`;

/** Refuses all but the creation of a volume; while something may be left behind, all but what ends that. */
function absentRefusal(context: VolumeContext, request: VolumeMachineEvent): Failure | undefined {
  if (context.leftovers.length === 0) return request.type === 'volume.create' ? undefined : absenceOf(context);
  switch (request.type) {
    case 'volume.create': {
      const todo = `${hasRetryableLeftovers(context) ? 'retry or ' : ''}acknowledge that first`;
      return refused('VOLUME_EXISTS', context, `${leftBehind(context)}: ${todo}`);
    }
    case 'volume.retry': {
      if (hasRetryableLeftovers(context)) return undefined;
      const todo = 'its node must report that it unstaged it; or remove it by hand, then acknowledge it';
      return refused('VOLUME_IN_USE', context, `${leftBehind(context)}: ${todo}`);
    }
    case 'volume.unstaged':
      return isLeftStaged(context, request) ? undefined : absenceOf(context);
    case 'volume.hold-released':
      return isLeftStaged(context, asUnstaged(request)) ? undefined : absenceOf(context);
    case 'volume.acknowledge':
      return undefined;
    default:
      return absenceOf(context);
  }
}

/** Undefined if the request is accepted. */
export function refusalOf(context: VolumeContext, request: VolumeMachineEvent): Failure | undefined {
  if (isAbsent(context)) return absentRefusal(context, request);
  // Each entry takes the request of its own type. Other events have no entry.
  const refuse = refusals[request.type as VolumeRequest['type']] as
    | ((context: VolumeContext, request: VolumeMachineEvent) => Failure | undefined)
    | undefined;
  return refuse?.(context, request);
}
