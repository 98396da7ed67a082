/** Migrates records of the volume machine from each older version to the next. Recorded histories prove it: test/volumes/migrations.test.ts */
import { isIn } from '../../machines/kit/parts.js';
import { isFailedInDoubt, type Lifecycle } from '../../machines/volume/lifecycle.js';
import type { VolumeContext, VolumeOrigin } from '../../machines/volume/types.js';
import type { Migration } from '../engine/effects/effects.js';

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

export const volumeMigrations: Migration[] = [origins];
