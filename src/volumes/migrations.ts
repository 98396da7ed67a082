/**
 * Migrates records of the volume machine from each older version to the next. The `Old…` types are those of version 1.
 * Recorded histories prove the migrations: test/volumes/migrations.test.ts
 */
import type { CallFailure, CapacityRange, Tries } from '../../machines/kit/csi-types.js';
import { isIn } from '../../machines/kit/parts.js';
import type { Expansion, Modification } from '../../machines/volume/change.js';
import { isFailedInDoubt, type Lifecycle } from '../../machines/volume/lifecycle.js';
import type { Publication } from '../../machines/volume/publication.js';
import type { PublicationData } from '../../machines/volume/publication-setup.js';
import type { VolumeContext, VolumeOrigin, VolumeSpec, Work } from '../../machines/volume/types.js';
import type { CreatedVolume, PublicationState, QueuedWish } from '../../machines/volume/wishes.js';
import { asWaiting, type OldAwaiting, waitOf } from '../calls/older-waits.js';
import type { Migration } from '../engine/effects/effects.js';

interface OldPublication extends QueuedWish {
  number: number;
  state: PublicationState;
  publishContext?: Record<string, string>;
  tries?: Tries;
  inDoubt?: boolean;
  undoneAfter?: number;
  drifted?: true;
  fenced?: string;
  isUnlisted?: true;
  next?: QueuedWish;
  failure?: CallFailure & { in: 'publish' | 'unpublish' };
}

interface OldChange<TWish> {
  next?: TWish;
  tries?: Tries;
  failure?: CallFailure;
}
type OldExpansion = OldChange<CapacityRange> & { capacity: CapacityRange };
type OldModification = OldChange<Record<string, string>> & {
  mutableParameters: Record<string, string>;
  refused?: { mutableParameters: Record<string, string>; failure: CallFailure };
};

interface OldContext {
  spec: VolumeSpec | null;
  csi: CreatedVolume | null;
  creation: { tries?: Tries; failure?: CallFailure; inDoubt?: boolean; made?: CreatedVolume };
  deletion: { force: boolean; isConfirmed?: true; tries?: Tries; failure?: CallFailure } | null;
  publications: Record<string, OldPublication>;
  expansion: OldExpansion | null;
  modification: OldModification | null;
  work: Work | null;
  awaiting: OldAwaiting | null;
}

/**
 * Relation of the volume's current call to a publication: the publication's own call, a publish call that still runs while
 * the publication is being removed, or neither.
 */
type Turn = 'calling' | 'waiting-for-plugin' | 'publish-under-way' | undefined;

function turnOf({ work, awaiting }: OldContext, nodeId: string, { state }: OldPublication): Turn {
  if (!work?.isCalling || work.nodeId !== nodeId) return undefined;
  if (work.kind === 'publish' && state !== 'pending-publish') return 'publish-under-way';
  return awaiting ? 'waiting-for-plugin' : 'calling';
}

type Within = 'due' | 'calling' | 'waiting-for-plugin' | 'backing-off';

function withinOf({ work, awaiting }: OldContext, kind: Work['kind'], tries: Tries | undefined): Within {
  if (work?.isCalling && work.kind === kind) return awaiting ? 'waiting-for-plugin' : 'calling';
  return tries ? 'backing-off' : 'due';
}

/** Returns the state in version 2, as a path. */
function placeOf(
  { state, inDoubt, drifted, undoneAfter, failure, tries }: OldPublication,
  turn: Turn,
): Publication['at'] {
  const isWorkTurn = turn === 'calling' || turn === 'waiting-for-plugin';
  // A cancelled publish is due at once: its pause does not count.
  const within = isWorkTurn ? turn : tries && tries.notBeforeMs > 0 ? 'backing-off' : 'due';
  switch (state) {
    case 'published':
      return 'published';
    case 'pending-node-unpublish':
      return `pending-node-unpublish.${turn === 'publish-under-way' ? turn : 'waiting-for-node'}`;
    case 'pending-unpublish':
      if (turn === 'publish-under-way') return `pending-unpublish.${turn}`;
      return !isWorkTurn && tries?.count === 0 ? 'pending-unpublish.waiting-for-node' : `pending-unpublish.${within}`;
    case 'failed':
      if (failure?.in === 'unpublish') return 'failed.unpublish';
      if (drifted) return 'failed.was-published';
      return inDoubt ? 'failed.in-doubt' : 'failed.refused';
    case 'pending-publish':
      if (drifted) return `republishing.${within}`;
      if (undoneAfter === undefined) return `${inDoubt ? 'in-doubt' : 'pending-publish'}.${within}`;
      // Another call may have had the turn, while the first call ended without being sent.
      return inDoubt || !isWorkTurn ? `cancelling.${within}` : 'cancelling.first-call';
  }
}

/** Migrates one publication. Exported for the comparison with recorded histories. */
export function publicationOf(old: OldPublication, turn: Turn): Publication {
  const { state, inDoubt, undoneAfter, drifted: _, failure: cause, isUnlisted, holds, ...kept } = old;
  const { in: __, ...failure } = cause ?? { in: '' };
  const at = placeOf(old, turn);
  const isDoubtInState = at.startsWith('in-doubt') || at.startsWith('cancelling');
  const data: PublicationData = {
    ...kept,
    ...(holds && state !== 'pending-unpublish' && { holds }),
    ...(isUnlisted && { detachConfirmedByList: true }),
    ...(inDoubt && !isDoubtInState && { mayStillArrive: true }),
    ...(undoneAfter !== undefined && { attemptsToResolve: (kept.tries?.count ?? 0) - undoneAfter }),
    ...(cause && { failure: failure as CallFailure }),
  };
  return { ...data, at };
}

function lifecycleOf(old: OldContext, isGone: boolean): Lifecycle {
  const { creation, deletion, spec } = old;
  const force = deletion?.force ? { force: true as const } : {};
  if (isGone || !spec) return { at: 'absent', ...force };
  return deletion ? { ...deletedOf(old, deletion), ...force } : wantedOf(old, creation);
}

function wantedOf(old: OldContext, { tries, failure, inDoubt, made }: OldContext['creation']): Lifecycle {
  if (old.csi) return { at: 'created' };
  const data = {
    ...(tries && { tries }),
    ...(failure && { failure }),
    ...(made && { madeOtherwise: made }),
  };
  if (failure) return { ...data, at: made ? 'failed.not-as-asked' : inDoubt ? 'failed.in-doubt' : 'failed.refused' };
  const within = withinOf(old, 'create', tries);
  return { ...data, at: made || inDoubt ? `create-in-doubt.${within}` : `pending-create.${within}` };
}

function deletedOf(old: OldContext, deletion: NonNullable<OldContext['deletion']>): Lifecycle {
  const { spec, csi, creation, publications, work } = old;
  const isCreating = work?.isCalling === true && work.kind === 'create';
  const inner = isCreating ? 'create-under-way' : 'waiting-for-publications';
  if (spec?.external || deletion.isConfirmed) return { at: `letting-go.${inner}` };
  if (!csi) {
    const { tries, failure, inDoubt } = creation;
    const data = { ...(tries && { tries }), ...(failure && { failure }) };
    if (failure) return { ...data, at: 'failed.finding-out' };
    return { ...data, at: inDoubt ? `finding-out.${withinOf(old, 'create', tries)}` : 'finding-out.first-call' };
  }
  const { tries, failure } = deletion;
  if (failure) return { failure, at: 'failed.delete' };
  const data = { ...(tries && { tries }) };
  if (isCreating || Object.keys(publications).length > 0) return { ...data, at: `emptying.${inner}` };
  // A call of another kind has to end first.
  if (work?.isCalling && work.kind !== 'delete') return { ...data, at: 'emptying.waiting-for-publications' };
  return { ...data, at: `pending-delete.${withinOf(old, 'delete', tries)}` };
}

function changeOf<TWish>(
  old: OldContext,
  { tries, failure, next }: OldChange<TWish>,
  { kind, wish, merged }: { kind: 'expand' | 'modify'; wish: TWish; merged: (wish: TWish, next: TWish) => TWish },
) {
  const isCalling = old.work?.isCalling === true && old.work.kind === kind;
  // The call was waiting, and was given up for other work before it was sent.
  if (next !== undefined && !failure && !isCalling) return { wish: merged(wish, next), at: 'pending.due' as const };
  const within = withinOf(old, kind, tries);
  const at = failure
    ? ('failed' as const)
    : next !== undefined
      ? ('overtaken' as const)
      : (`pending.${within}` as const);
  return {
    wish,
    ...(next !== undefined && { next: { wish: next, ifFailed: merged(wish, next) } }),
    ...(tries && { tries }),
    ...(failure && { failure }),
    at,
  };
}

const expansionOf = (old: OldContext, expansion: OldExpansion): Expansion =>
  changeOf(old, expansion, { kind: 'expand', wish: expansion.capacity, merged: (_, next) => next });

function modificationOf(old: OldContext, { refused, ...modification }: OldModification): Modification {
  const wish = modification.mutableParameters;
  const part = changeOf(old, modification, { kind: 'modify', wish, merged: (one, next) => ({ ...one, ...next }) });
  const known = refused && { refused: { wish: refused.mutableParameters, failure: refused.failure } };
  return { ...part, ...known };
}

/** Version 2 replaces states with flags by parts with named states. */
const parts: Migration = {
  name: 'parts have states',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => {
    const old = context as OldContext;
    const { creation: _, deletion: __, expansion, modification, ...kept } = old;
    const publications = Object.entries(old.publications).map(([nodeId, one]) => [
      nodeId,
      publicationOf(one, turnOf(old, nodeId, one)),
    ]);
    const { value } = snapshot;
    const awaiting = waitOf(old.awaiting);
    const isGone = value instanceof Object && 'deleted' in value;
    return {
      ...snapshot,
      value: awaiting ? asWaiting(value) : value,
      context: {
        ...kept,
        awaiting,
        lifecycle: lifecycleOf(old, isGone),
        publications: Object.fromEntries(publications),
        expansion: expansion && expansionOf(old, expansion),
        modification: modification && modificationOf(old, modification),
      },
    };
  },
};

/** Fields of version 2 that show how a volume came to be. */
type Traces = Pick<VolumeContext, 'key' | 'spec' | 'csi' | 'lifecycle' | 'leftovers'>;

/** Whether CreateVolume was sent before and its outcome is not known. The first call of all counts once it has ended. */
const isAskedInDoubt = (lifecycle: Lifecycle): boolean =>
  isFailedInDoubt(lifecycle) ||
  (lifecycle.tries !== undefined &&
    lifecycle.at !== 'finding-out.first-call' &&
    (isIn(lifecycle, 'create-in-doubt') || isIn(lifecycle, 'finding-out')));

/**
 * Infers the origin of a volume of version 2, which has not kept it. A volume that no call has made has the id that its user
 * gave, and nothing that only an answer of the plugin brings.
 */
function originOf({ key, spec, csi, lifecycle, leftovers }: Traces): VolumeOrigin | null {
  if (spec?.external) return 'external';
  if (lifecycle.madeOtherwise) return 'call';
  if (!csi) {
    if (isAskedInDoubt(lifecycle)) return 'call';
    const left = leftovers.find(({ what }) => what === 'created');
    return left ? (left.csiId === key.id ? 'found' : 'call') : null;
  }
  const { id, context, accessibleTopology, capacityBytes } = csi;
  const isBare = Object.keys(context).length + accessibleTopology.length === 0 && capacityBytes === undefined;
  return id === key.id && isBare && !spec?.source ? 'found' : 'call';
}

/** Version 3 keeps how the volume came to be. */
const origins: Migration = {
  name: 'how the volume came to be',
  from: '2',
  to: '3',
  migrate: ({ context, ...snapshot }) => ({
    ...snapshot,
    context: { ...context, origin: originOf(context as Traces) },
  }),
};

export const volumeMigrations: Migration[] = [parts, origins];
