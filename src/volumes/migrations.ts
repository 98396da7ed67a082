/**
 * Migrates records of the volume machine from each older version to the next. Recorded histories prove the migrations:
 * test/volumes/migrations.test.ts
 */
import type { CapacityRange } from '../../machines/kit/csi-types.js';
import { topState } from '../../machines/kit/parts.js';
import type { ChangeData } from '../../machines/volume/change.js';
import type { LifecycleData } from '../../machines/volume/lifecycle-setup.js';
import type { PublicationData } from '../../machines/volume/publication-setup.js';
import type { Leftover, VolumeOrigin, VolumeSpec, VolumeWork } from '../../machines/volume/types.js';
import type { CreatedVolume, VolumeKey } from '../../machines/volume/wishes.js';
import type { Migration } from '../engine/effects/effects.js';

/** Part of version 2 or 3: the path of its state ends with how far its call is. */
type Old<TData> = TData & { at: string };

interface OldContext {
  key: VolumeKey;
  spec: VolumeSpec | null;
  csi: CreatedVolume | null;
  lifecycle: Old<LifecycleData>;
  publications: Record<string, Old<PublicationData>>;
  expansion: Old<ChangeData<CapacityRange>> | null;
  modification: Old<ChangeData<Record<string, string>>> | null;
  leftovers: Leftover[];
  work: VolumeWork | null;
  awaiting: object | null;
}

/** Whether CreateVolume was sent before and its outcome is not known. The first call of all counts once it has ended. */
const isAskedInDoubt = ({ at, tries }: Old<LifecycleData>): boolean =>
  at === 'failed.in-doubt' ||
  at === 'failed.finding-out' ||
  (tries !== undefined &&
    at !== 'finding-out.first-call' &&
    ['create-in-doubt', 'finding-out'].includes(topState({ at })));

/**
 * Infers the origin of a volume of version 2, which has not kept it. A volume that no call has made has the id that its user
 * gave, and nothing that only an answer of the plugin brings.
 */
function originOf({ key, spec, csi, lifecycle, leftovers }: OldContext): VolumeOrigin | null {
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
    context: { ...context, origin: originOf(context as OldContext) },
  }),
};

/** Removes how far the call is from the path of a part. */
const phaseOf = (at: string): string =>
  at.replace('.first-call', '-first-call').replace(/\.(due|calling|waiting-for-\w+|backing-off|\w+-under-way)$/, '');

const inPhase = <TPart extends { at: string }>(part: TPart): TPart => ({ ...part, at: phaseOf(part.at) });

/** The time that a node was given to unmount the volume is over once the call that detaches it has begun. */
const publicationInPhase = ({ tries, ...part }: Old<PublicationData>): Old<PublicationData> => {
  const isTimeOver = tries?.count === 0 && /^pending-unpublish\.(calling|waiting-for-plugin)$/.test(part.at);
  return inPhase({ ...part, ...attachedBy(part), ...(tries && !isTimeOver && { tries }) });
};

/** Only an answer to a call brings a context. An empty one says nothing: it stays unknown how the volume was attached. */
const attachedBy = ({ publishContext = {} }: PublicationData): Pick<PublicationData, 'attachedBy'> =>
  Object.keys(publishContext).length > 0 ? { attachedBy: 'call' } : {};

/** Kind of the call: the removal of a volume that may lack its content was one of its creation. */
function kindOf(work: VolumeWork, { at }: Old<LifecycleData>, awaiting: object | null): VolumeWork['kind'] {
  if (work.kind !== 'create') return work.kind;
  if (topState({ at }) === 'removing-unproven') return 'remove';
  // Deleted during the removal: the call goes on for the deletion.
  if (topState({ at }) === 'pending-delete') return awaiting ? 'delete' : 'remove';
  return 'create';
}

const stateOf = ({ kind, isCalling }: VolumeWork, awaiting: object | null): string => {
  if (!isCalling) return 'backing-off';
  if (awaiting) return 'waiting-for-plugin';
  return kind === 'remove' ? 'removing-unproven' : `pending-${kind}`;
};

/** Version 4: a part is a phase, and how far the call is stands once. */
const oneCall: Migration = {
  name: 'one call',
  from: '3',
  to: '4',
  migrate: ({ value, context, ...snapshot }) => {
    const old = context as OldContext;
    const { lifecycle, expansion, modification, awaiting } = old;
    const work = old.work && { ...old.work, kind: kindOf(old.work, lifecycle, awaiting) };
    const publications = Object.entries(old.publications).map(([nodeId, one]) => [nodeId, publicationInPhase(one)]);
    const isDeleted = value instanceof Object && 'deleted' in value;
    return {
      ...snapshot,
      value: work && !isDeleted ? stateOf(work, awaiting) : value,
      context: {
        ...context,
        lifecycle: inPhase(lifecycle),
        publications: Object.fromEntries(publications),
        expansion: expansion && inPhase(expansion),
        modification: modification && inPhase(modification),
        work,
      },
    };
  },
};

export const volumeMigrations: Migration[] = [origins, oneCall];
