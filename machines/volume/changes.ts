/** Changes that requests make to a volume: its next record and its broadcasts. Pure. Refusals: requests.ts */
import type { Stamped } from '../kit/host.js';
import { isIn } from '../kit/parts.js';
import { isSameData } from '../kit/same-data.js';
import { modificationChart } from './change.js';
import { claim, grant, publishOf, releaseDetached, withdrawClaims } from './claims.js';
import { atPlugin, claimBroadcast, type Draft, drafted } from './draft.js';
import { stepExpansion } from './expanding.js';
import { giveNodeTime } from './leftovers.js';
import { absent, isLeaving, lifecycleChart } from './lifecycle.js';
import { detachElsewhere } from './listing.js';
import { holdsOf, isKeptByHolds, usualCapability, wishOf } from './modes.js';
import { begin, retryPublications, step, withdraw } from './publications.js';
import { broadcastHoldsOver } from './releases.js';
import { isSameWish } from './requests.js';
import { isLargerCopy } from './size.js';
import { keepSlot } from './slots.js';
import type {
  Availability,
  Claim,
  ClaimAndPublish,
  Leftover,
  Publication,
  PublishRequest,
  VolumeChange,
  VolumeContext,
  VolumeInput,
  VolumeRequest,
} from './types.js';
import type { Hold, PublishWish, QueuedWish } from './wishes.js';
import { underWay } from './work.js';

/** Context of a volume that does not exist. */
export const nobody = ({ namespace, id, seq }: VolumeInput): VolumeContext => ({
  key: { namespace, id },
  uid: '',
  name: '',
  spec: null,
  csi: null,
  origin: null,
  lifecycle: absent,
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
  leftovers: [],
  driver: null,
  home: null,
  sighting: null,
  work: null,
  awaiting: null,
});

/** @param asked `name`: the name that the plugin is given */
export const begun = (
  { key, generation }: VolumeContext,
  { spec, uid, name, home, driver, askedOn, sourceBytes }: Creation,
): VolumeChange => {
  const nothing = nobody({ namespace: key.namespace, id: key.id, seq: generation });
  const lifecycle = lifecycleChart.step(absent, { type: 'create' });
  const growth = isLargerCopy(spec, sourceBytes) ? { nodeExpansion: true, expandedTo: spec.capacity } : {};
  const given = { spec, uid, name, home: home ?? null, driver: driver ?? null, askedOn };
  return { context: { ...nothing, ...given, ...growth, lifecycle } };
};

type Creation = Omit<Extract<VolumeRequest, { type: 'volume.create' }>, 'type'>;

const forced = 'deleted with force';

/** Whether the volume stays at its plugin: no call has made it, or ever will. */
const isToStay = ({ spec, origin }: VolumeContext): boolean => spec?.external !== undefined || origin === 'found';

export const discard = (context: VolumeContext, force: boolean, stamp: Stamped): VolumeChange =>
  drafted(context, (draft) => {
    const { lifecycle } = draft;
    const isFirst = !isLeaving(lifecycle) || (force && !lifecycle.force);
    // Created otherwise than asked: not usable, and deleted by its id.
    if (lifecycle.madeOtherwise) draft.csi = lifecycle.madeOtherwise;
    const type = isToStay(draft) && lifecycleChart.takes(lifecycle, 'forget') ? 'forget' : 'delete';
    draft.lifecycle = lifecycleChart.step(lifecycle, { type, force, underWay: underWay(draft) });
    withdrawClaims(draft, () => true, 'the volume is being deleted');
    draft.expansion = null;
    draft.modification = null;
    if (force) giveUpNodes(draft);
    for (const [nodeId, publication] of Object.entries(draft.publications)) {
      if (force) discardByForce(draft, nodeId, { isFirst, stamp });
      else if (isIn(publication, 'failed')) withdraw(draft, nodeId);
    }
  });

/** Starts a leaving publication over, once; asked again with force, it goes on as it is. */
function discardByForce(draft: Draft, nodeId: string, { isFirst, stamp }: { isFirst: boolean; stamp: Stamped }): void {
  const present = draft.publications[nodeId];
  if (present?.at === 'pending-node-unpublish') step(draft, nodeId, { type: 'node.let-go' });
  else if (present?.at !== 'pending-unpublish') withdraw(draft, nodeId);
  else if (isFirst) step(draft, nodeId, { type: 'retry', isFree: true });
  if (isFirst) giveNodeTime(draft, nodeId, stamp);
}

/** Allocs without a claim that a node may have the volume mounted for. */
const holdsIn = ({ publications }: VolumeContext): Unreported[] =>
  Object.entries(publications).flatMap(([nodeId, publication]) =>
    holdsOf(publication).map((hold) => ({ ...hold, nodeId, csiNodeId: publication.csiNodeId })),
  );

type Unreported = Pick<Claim, 'allocId' | 'generation' | 'nodeId' | 'csiNodeId'>;

/** Gives up claims without waiting; remembers the nodes that have not reported. */
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
  draft.broadcasts.push(...draft.claims.map((one) => claimBroadcast({ ...one, state: 'released', fenced: forced })));
  for (const nodeId of Object.keys(draft.publications)) broadcastHoldsOver(draft, nodeId, forced);
  draft.claims = [];
}

/** Joins requests that come before the call into one change; gives up a change that the plugin has refused. */
export const modify = (context: VolumeContext, asked: Record<string, string>): VolumeChange => {
  const { modification } = context;
  if (!modification) return { context: { modification: modificationChart.begin({ wish: asked }) } };
  const { wish, next, at } = modification;
  const isUnderWay = underWay(context) === 'modify';
  const wanted = isUnderWay ? { ...next?.wish, ...asked } : at === 'failed' ? asked : { ...wish, ...asked };
  if (!isUnderWay && isSameData(wanted, wish)) return { context: {} };
  const event = { type: 'asked', wish: wanted, ifFailed: { ...wish, ...wanted }, isUnderWay } as const;
  return { context: { modification: modificationChart.step(modification, event) } };
};

/** Tries failed work again, and work that waits for its time at once. */
export const retry = (context: VolumeContext, acceptDriver?: string): VolumeChange =>
  drafted(context, (draft) => {
    const { lifecycle, modification } = draft;
    if (acceptDriver !== undefined) draft.driver = acceptDriver;
    draft.lifecycle = lifecycleChart.step(lifecycle, { type: 'retry' });
    retryPublications(draft);
    stepExpansion(draft, { type: 'retry' });
    if (modification) draft.modification = modificationChart.step(modification, { type: 'retry' });
  });

export const setAvailability = (context: VolumeContext, availability: Availability): VolumeChange =>
  drafted(context, (draft) => {
    if (draft.availability === availability) return;
    draft.availability = availability;
    draft.broadcasts.push({ type: 'availability', availability, allocIds: draft.claims.map(({ allocId }) => allocId) });
    grant(draft);
  });

/** Ends a deletion. What could not be confirmed is kept as leftovers. */
export const gone = ({ leftovers }: VolumeContext): VolumeChange => ({
  context: {},
  broadcasts: [{ type: 'deleted', ...(leftovers.length > 0 && { leftovers }) }],
});

export const publish = (
  context: VolumeContext,
  {
    nodeId,
    capability = usualCapability(context, nodeId),
    readOnly,
    csiNodeId,
    hold,
    claim,
    reservation,
  }: PublishRequest,
): VolumeChange =>
  drafted(context, (draft) => {
    if (reservation !== undefined) draft.slots = keepSlot(draft, nodeId, reservation);
    const wish = { capability, readOnly, csiNodeId };
    const present = draft.publications[nodeId];
    if (present && hold !== undefined && isSame(present, wish) && isKeptByHolds(present)) {
      draft.publications[nodeId] = withHold(draft, present, hold);
      return;
    }
    if (!present) begin(draft, nodeId, wish);
    else if (isReplaceable(present, wish)) replace(draft, nodeId, present, wish);
    else publishAgain(draft, nodeId, wish);
    if (hold !== undefined) addHold(draft, nodeId, hold);
    if (hold !== undefined || claim) markByAgent(draft, nodeId);
  });

/** Does both requests, one after the other. */
export function claimAndPublish(context: VolumeContext, request: ClaimAndPublish): VolumeChange {
  const claimed = claim(context, request.claim);
  const after = { ...context, ...claimed.context };
  const published = publish(after, publishOf(after, request));
  const broadcasts = [...(claimed.broadcasts ?? []), ...(published.broadcasts ?? [])];
  const messages = [...(claimed.messages ?? []), ...(published.messages ?? [])];
  return { context: { ...claimed.context, ...published.context }, broadcasts, messages };
}

const isSame = (present: Publication, wish: PublishWish): boolean =>
  isSameWish(present, wish) && present.csiNodeId === wish.csiNodeId;

/** Whether a failed publication left nothing on the node, and may be replaced. */
const isReplaceable = (present: Publication, wish: PublishWish): boolean =>
  (present.at === 'failed.refused' || (present.at === 'failed.was-published' && !present.mayStillArrive)) &&
  !isSame(present, wish);

function replace(draft: Draft, nodeId: string, present: Publication, wish: PublishWish): void {
  const { at, holds, isByAgent, attachedBy } = present;
  const kept = { ...wish, ...(holds && { holds }), ...(isByAgent && { isByAgent }), ...(attachedBy && { attachedBy }) };
  begin(draft, nodeId, kept, at === 'failed.was-published' ? 'wanted-again' : 'wanted');
}

function publishAgain(draft: Draft, nodeId: string, wish: PublishWish): void {
  step(draft, nodeId, { type: 'publish', wish, underWay: underWay(draft, nodeId) });
  const now = draft.publications[nodeId];
  if (!now || now.at === 'published' || now.next || !wishOf(now)) return;
  // The publication stays: claims that were to leave with it have nothing left to wait for.
  releaseDetached(draft, nodeId);
  grant(draft);
}

/**
 * Marks a request of an agent on the node, which is told when it has to unmount. A publication that comes next has
 * its own mark.
 */
function markByAgent(draft: Draft, nodeId: string): void {
  const publication = draft.publications[nodeId];
  if (!publication) return;
  const { next } = publication;
  draft.publications[nodeId] = next
    ? { ...publication, next: { ...next, isByAgent: true } }
    : { ...publication, isByAgent: true };
}

/** Adds a hold to the publication, or to the next one if the present one leaves. */
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

export const unpublish = (context: VolumeContext, nodeId: string): VolumeChange =>
  drafted(context, (draft) => {
    if (detachElsewhere(draft, nodeId)) return;
    step(draft, nodeId, { type: 'wish.dropped' });
    withdraw(draft, nodeId);
  });
