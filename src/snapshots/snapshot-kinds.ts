/** Binds the effects of the two snapshot machines to calls of plugins, each with its preconditions and its request. */
import { addressParts } from '../../machines/kit/addresses.js';
import { refusalOf } from '../../machines/snapshot/refusals.js';
import { groupSnapshotMachine, volumeSnapshotMachine } from '../../machines/snapshot/snapshot.js';
import { snapshotParts, snapshotPathOf } from '../../machines/snapshot/states.js';
import type {
  CreateSnapshotCall,
  LookCall,
  MadeSnapshot,
  RemoveSnapshotCall,
  SnapshotKey,
  SnapshotKind,
} from '../../machines/snapshot/types.js';
import { type CallBounds, givenUpAfterMs } from '../calls/call-bounds.js';
import type { PluginCall } from '../calls/homes.js';
import type { PluginCalls, PluginWork } from '../calls/plugin-calls.js';
import type { AdmittedCall } from '../calls/plugin-port.js';
import { contentOf } from '../calls/volume-locks.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import { type ErrorDetails, StagecraftError } from '../errors.js';
import type { CopySources } from '../volumes/copy-sources.js';
import { type IdOwners, idsOfSnapshot } from '../volumes/id-owners.js';
import { snapshotMigrations } from './snapshot-migration.js';
import type { SnapshotIds, SnapshotPort } from './snapshot-port.js';

export const snapshotsTopic = 'snapshots';
export const groupSnapshotsTopic = 'group-snapshots';

interface SnapshotKindOptions {
  snapshots: SnapshotPort;
  calls: PluginCalls;
  ids: Pick<IdOwners<typeof volumeSnapshotMachine>, 'known' | 'reserve'>;
  sources: Pick<CopySources, 'copyRefusal' | 'removalRefusal'>;
  timeoutMs: number;
  /** Longest time until a call that another agent makes begins; default: calls are made here. */
  startMs?: number;
}

type Observation = AdmittedCall['observation'];

interface Ways {
  kind: SnapshotKind;
  topic: string;
  machine: ActorKind['machine'];
  /** Explains why the plugin can't create this kind of snapshot; undefined if it can. */
  refusal(observation: Observation): string | undefined;
  create: SnapshotPort['createSnapshot'];
  remove: SnapshotPort['deleteSnapshot'];
  /** Looks for an existing snapshot; undefined if the plugin can't find it this way. */
  find(
    client: unknown,
    ids: SnapshotIds,
    bounds: CallBounds,
    observation: Observation,
  ): Promise<MadeSnapshot | undefined>;
  /** Largest number of calls that each method makes in sequence. Each call has its own timeout. */
  most: { create: number; remove: number; find: number };
}

export const snapshotKinds = ({ snapshots, ...options }: SnapshotKindOptions): ActorKind[] => [
  kindOf(options, {
    kind: 'volume-snapshot',
    topic: snapshotsTopic,
    machine: volumeSnapshotMachine,
    refusal: ({ capabilities }) =>
      capabilities.has('CREATE_DELETE_SNAPSHOT')
        ? undefined
        : 'the plugin does not offer CREATE_DELETE_SNAPSHOT: it makes no snapshots',
    create: snapshots.createSnapshot,
    remove: snapshots.deleteSnapshot,
    find: async (client, ids, bounds, { capabilities }) => {
      if (capabilities.has('GET_SNAPSHOT')) return snapshots.getSnapshot(client, ids, bounds);
      return capabilities.has('LIST_SNAPSHOTS') ? snapshots.listedSnapshot(client, ids, bounds) : undefined;
    },
    most: { create: 1, remove: 1, find: 1 },
  }),
  kindOf(options, {
    kind: 'group-snapshot',
    topic: groupSnapshotsTopic,
    machine: groupSnapshotMachine,
    refusal: ({ pluginCapabilities }) =>
      pluginCapabilities.has('GROUP_CONTROLLER_SERVICE')
        ? undefined
        : 'the plugin does not offer GROUP_CONTROLLER_SERVICE: it makes no snapshots of groups',
    create: async (client, request, bounds) => {
      await requireGroups(snapshots, client, bounds);
      return snapshots.createGroup(client, request, bounds);
    },
    remove: async (client, ids, bounds) => {
      await requireGroups(snapshots, client, bounds);
      await removeGroup(snapshots, client, ids, bounds);
    },
    find: snapshots.getGroup,
    most: { create: 2, remove: 4, find: 1 },
  }),
];

/** Checks the capabilities of the group service before its use: the fingerprint of a plugin does not have them. */
async function requireGroups(snapshots: SnapshotPort, client: unknown, bounds: CallBounds): Promise<void> {
  const needed = 'CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT';
  if ((await snapshots.groupCapabilities(client, bounds)).includes(needed)) return;
  throw new StagecraftError('PLUGIN_LACKS', `the plugin does not offer ${needed}: it makes no snapshots of groups`, {
    final: true,
  });
}

const isNotFound = (error: unknown): error is StagecraftError =>
  error instanceof StagecraftError && error.grpcCode === 'NOT_FOUND';

/**
 * Deletes a group. NOT_FOUND may concern one member only: then reads the group, and deletes it with its present members.
 */
async function removeGroup(
  snapshots: SnapshotPort,
  client: unknown,
  ids: SnapshotIds,
  bounds: CallBounds,
): Promise<void> {
  const missing = async (memberIds: string[]): Promise<StagecraftError | undefined> => {
    try {
      await snapshots.deleteGroup(client, { ...ids, memberIds }, bounds);
      return undefined;
    } catch (error) {
      if (isNotFound(error)) return error;
      throw error;
    }
  };
  const missed = await missing(ids.memberIds);
  if (!missed) return;
  const found = await snapshots.getGroup(client, ids, bounds);
  if (!found) throw missed;
  const again = await missing(found.members.map(({ csiId }) => csiId));
  if (!again) return;
  const { code, message, rpc = '', grpcCode = '' } = again;
  const details: ErrorDetails = { rpc, grpcCode, answerClass: 'not-so', final: false };
  throw new StagecraftError(code, `${message}; but GetVolumeGroupSnapshot finds it`, details);
}

/**
 * Ids that a call locks: of the source volumes, as no other call about them runs meanwhile; of snapshots that are deleted, as
 * nothing is copied from them meanwhile.
 */
function volumesOf(
  src: string,
  { sourceIds = [], csiId, memberIds = [] }: Partial<CreateSnapshotCall & RemoveSnapshotCall>,
): readonly string[] {
  if (src !== 'deleteSnapshot' || csiId === undefined) return sourceIds;
  return allOf({ csiId, memberIds }).map((id) => contentOf('snapshot', id));
}

const allOf = ({ csiId, memberIds }: SnapshotIds): string[] => [...new Set([csiId, ...memberIds])];

function kindOf(
  { calls, ids, sources, timeoutMs, startMs = 0 }: Omit<SnapshotKindOptions, 'snapshots'>,
  ways: Ways,
): ActorKind {
  const { most } = ways;
  const effect = <TInput extends PluginCall, TAnswer>(
    mostCalls: number,
    work: (input: TInput, address: string) => PluginWork<TAnswer>,
    compensates?: string[],
  ): Effect => ({
    sentDeadlineMs: givenUpAfterMs(timeoutMs, { calls: mostCalls, startMs }),
    atMostOnce: true,
    ...(compensates && { compensates }),
    run: (run: EffectCall<TInput>) =>
      calls.run(run, {
        refusal: ways.refusal,
        ...work(run.input, run.address),
        volumes: volumesOf(run.src, run.input),
      }),
  });
  /** Adds to a call the reservation of the ids in its answer. */
  const giving = (
    at: Pick<PluginCall, 'plugin' | 'home'>,
    address: string,
    work: PluginWork<MadeSnapshot>,
  ): PluginWork<MadeSnapshot> => ({
    ...work,
    prepare: () => ids.known(),
    fault: (made) => ids.reserve(address, idsOfSnapshot(ways.kind, at, made)),
  });
  return {
    machine: ways.machine,
    onDemand: true,
    begin: (address): SnapshotKey => {
      const [, namespace = '', id = ''] = addressParts(address);
      return { namespace, id };
    },
    topic: () => ways.topic,
    pathOf: snapshotPathOf,
    parts: snapshotParts,
    refusalOf,
    migrations: snapshotMigrations,
    effects: {
      createSnapshot: effect<CreateSnapshotCall, MadeSnapshot>(
        most.create,
        ({ plugin, home, name, sourceIds, parameters }, address) =>
          giving({ plugin, ...(home !== undefined && { home }) }, address, {
            precondition: () =>
              sources.copyRefusal(
                address,
                sourceIds.map((csiId) => ({ of: 'volume', plugin, csiId, home })),
              ),
            call: (client, bounds) => ways.create(client, { name, sourceIds, parameters }, bounds),
          }),
      ),
      lookAtSnapshot: effect<LookCall, MadeSnapshot>(
        most.create + most.find,
        ({ plugin, home, name, sourceIds, parameters, csiId, memberIds }, address) =>
          giving({ plugin, ...(home !== undefined && { home }) }, address, {
            call: async (client, bounds, observation) => {
              try {
                return await ways.create(client, { name, sourceIds, parameters }, bounds);
              } catch (error) {
                if (!isNotFound(error)) throw error;
                // The source volume is gone, but the snapshot may exist.
                const found = await ways.find(client, { csiId, memberIds }, bounds, observation);
                if (!found) throw error;
                return found;
              }
            },
          }),
      ),
      deleteSnapshot: effect<RemoveSnapshotCall, null>(
        most.remove,
        ({ plugin, home, csiId, memberIds }) => ({
          precondition: () =>
            sources.removalRefusal(
              allOf({ csiId, memberIds }).map((id) => ({ of: 'snapshot', plugin, csiId: id, home })),
            ),
          already: null,
          call: async (client, bounds) => {
            await ways.remove(client, { csiId, memberIds }, bounds);
            return null;
          },
        }),
        ['createSnapshot', 'lookAtSnapshot'],
      ),
      awaitAdmission: calls.admission(volumesOf),
    },
  };
}
