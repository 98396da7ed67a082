/** Resolves sources from committed records: the volumes of a new snapshot, and the snapshot of a new volume. */

import { snapshotAddress, volumeAddress } from '../../machines/kit/addresses.js';
import type { SecretRef } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
import { snapshotName } from '../../machines/snapshot/refusals.js';
import { volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { isBeingDeleted, snapshotStateOf } from '../../machines/snapshot/states.js';
import type { SnapshotSource } from '../../machines/snapshot/types.js';
import { isLeaving } from '../../machines/volume/lifecycle.js';
import { volumeName } from '../../machines/volume/requests.js';
import { volumeStateOf } from '../../machines/volume/states.js';
import { volumeMachine } from '../../machines/volume/volume.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import type { HomedCall, Homes, Origin } from '../calls/homes.js';
import type { ActorSystem } from '../engine/actor-system.js';
import { ActorsOf } from '../engine/actors-of.js';
import { StagecraftError } from '../errors.js';
import { nameSchema } from '../host/names.js';
import { type KnownSource, notCreated, notFoundError } from '../volumes/volume-checks.js';

type Secrets = Record<string, SecretRef>;

interface SourcePorts {
  engine: ActorSystem;
  /** Homes of volumes; default: every agent may make the calls of every volume. */
  homes?: Pick<Homes, 'here'> | undefined;
}

/**
 * Resolves the source volumes of a snapshot: all created, of one plugin and one driver, with one home.
 * @throws StagecraftError VOLUME_NOT_FOUND, VOLUME_DELETING; INVALID_ARGUMENT: several plugins or drivers;
 *   VOLUME_ELSEWHERE: a volume is on another node
 */
export async function volumeSources(
  { engine, homes }: SourcePorts,
  keys: VolumeKey[],
  limit?: AbortSignal,
): Promise<{ plugin: string; sources: SnapshotSource[]; secrets: Secrets[] } & Origin> {
  const found = await Promise.all(keys.map((key) => volumeSource(engine, key, limit)));
  const plugins = [...new Set(found.map(({ plugin }) => plugin))];
  const [plugin = '', ...others] = plugins;
  if (others.length > 0) {
    const message = `the volumes belong to several plugins (${plugins.join(', ')}): make one group for each plugin`;
    throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`volumes: ${message}`] });
  }
  const sources = found.map(({ volume, csiId }) => ({ volume, csiId }));
  const drivers = [...new Set(found.flatMap(({ driver }) => driver ?? []))];
  if (drivers.length > 1) {
    const message = `several drivers created the volumes (${drivers.join(', ')}): make one group for each driver`;
    throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`volumes: ${message}`] });
  }
  const [driver] = drivers;
  const secrets = found.map((one) => one.secrets);
  if (!homes) return { plugin, sources, secrets, driver };
  // Volumes that pass this check have the same home: this node.
  const [home] = await Promise.all(found.map(({ volume, call }) => homes.here(volumeName(volume), call)));
  return { plugin, sources, secrets, home, driver };
}

async function volumeSource(
  engine: ActorSystem,
  volume: VolumeKey,
  limit: AbortSignal | undefined,
): Promise<SnapshotSource & { plugin: string; secrets: Secrets; driver: string | undefined; call: HomedCall }> {
  const address = volumeAddress(volume.namespace, volume.id);
  const view = await new ActorsOf(engine, volumeMachine).read(address, limit);
  if (!view || volumeStateOf(view.state, view.context) === 'deleted') throw notFoundError(volume);
  const { spec, csi, lifecycle, home, driver } = view.context;
  if (!spec) throw notFoundError(volume);
  if (isLeaving(lifecycle))
    throw new StagecraftError('VOLUME_DELETING', `${volumeName(volume)} is being deleted: it takes no new snapshots`, {
      address,
    });
  if (!csi) throw notCreated(volume);
  const { plugin, secrets } = spec;
  const call = { plugin, ...(home && { home }), topology: csi.accessibleTopology };
  return { volume, csiId: csi.id, plugin, secrets, driver: driver ?? undefined, call };
}

/**
 * Joins the secrets of the volumes, for a snapshot that names none.
 * @throws StagecraftError INVALID_ARGUMENT: the volumes have different secrets under one key
 */
export function joinedSecrets(ofVolumes: Secrets[]): Secrets {
  const joined: Secrets = {};
  for (const [key, ref] of ofVolumes.flatMap((one) => Object.entries(one))) {
    if (joined[key] !== undefined && !isSameData(joined[key], ref)) {
      const message = `the volumes have different secrets under '${key}': name those of the group`;
      throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`secrets: ${message}`] });
    }
    joined[key] = ref;
  }
  return joined;
}

/**
 * Resolves the source snapshot of a new volume: the snapshot with this id in the volume's namespace. If there is none, takes
 * the id as a CSI id.
 * @throws StagecraftError SNAPSHOT_NOT_READY; INVALID_ARGUMENT: it belongs to another plugin; VOLUME_ELSEWHERE
 */
export async function snapshotSource(
  { engine, homes }: SourcePorts,
  { namespace, id, plugin }: { namespace: string; id: string; plugin: string },
  limit?: AbortSignal,
): Promise<KnownSource> {
  // A longer text, or one that every object has, can be an id of the driver only.
  if (!nameSchema.safeParse(id).success) return { csiId: id };
  const address = snapshotAddress(namespace, id);
  const view = await new ActorsOf(engine, volumeSnapshotMachine).read(address, limit);
  if (!view || snapshotStateOf(view.context) === 'deleted') return { csiId: id };
  const { kind, spec, csi, home, driver } = view.context;
  const name = snapshotName({ kind, namespace, id });
  if (spec?.plugin !== plugin) {
    const message = `${name} belongs to plugin '${spec?.plugin}': only that plugin can make a volume from it`;
    throw new StagecraftError('INVALID_ARGUMENT', message, { faults: [`source.volumeSnapshot: ${message}`] });
  }
  if (!csi?.isReady || isBeingDeleted(view.context)) {
    const why = isBeingDeleted(view.context) ? 'is being deleted' : 'is not ready yet: wait for that';
    throw new StagecraftError('SNAPSHOT_NOT_READY', `${name} ${why}`, { address });
  }
  const here = await homes?.here(name, { plugin, ...(home && { home }) });
  return { csiId: csi.csiId, home: here, driver: driver ?? undefined, sizeBytes: csi.members[0]?.sizeBytes };
}
