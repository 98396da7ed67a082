/**
 * The mount machine, bound to the calls that it asks for: what has to be so on the host before each, which gate stands
 * before it, and what the kernel's mount table has to show after it. How a call is made: calls/plugin-calls.ts
 */
import { addressParts, nodeOf } from '../../machines/addresses.js';
import type { CallOutcome, Capability } from '../../machines/csi-types.js';
import { mountMachine } from '../../machines/mount.js';
import type {
  MountCall,
  NodeExpandAnswer,
  NodeExpandCall,
  NodePublishAnswer,
  NodePublishCall,
  NodeUnpublishAnswer,
  StageAnswer,
  StageCall,
  TargetCall,
} from '../../machines/mount-calls.js';
import type { KernelMount, MountInput } from '../../machines/mount-types.js';
import { nameOf } from '../../machines/volume-requests.js';
import { type CallBounds, givenUpAfterMs } from '../calls/call-bounds.js';
import { modeRefusal } from '../calls/newer-modes.js';
import type { Admitted } from '../calls/plugin-access.js';
import { anew, type PluginCalls, type Work } from '../calls/plugin-calls.js';
import { nodeCallsOf } from '../calls/volume-locks.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects.js';
import { StagecraftError } from '../errors.js';
import { isWithin, type MountEntry, type MountTable } from '../host/mount-table.js';
import type { ClaimClient } from './claim-client.js';
import { isWritableDevice } from './device-access.js';
import type { MountTables } from './mount-tables.js';
import type { NodePort } from './node-port.js';
import type { MountPaths, Place } from './paths.js';
import type { Places } from './places.js';

export interface MountKindOptions {
  nodeId: string;
  node: NodePort;
  calls: PluginCalls;
  claims: Pick<ClaimClient, 'expanded'>;
  paths: MountPaths;
  places: Places;
  tables: MountTables;
  /** Where a plugin sees what is its own on this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
  /** Of this boot of the host. */
  bootId: string;
  /** For one call, in milliseconds. */
  timeoutMs: number;
  /** Resolves once what was believed in has been compared with the kernel; undefined where it is. */
  compared(): Promise<void> | undefined;
  /** Resolves once mounts that are made here are seen by whoever is to see them. @throws StagecraftError HOST_UNFIT */
  shared(): Promise<void>;
}

export const mountsTopic = (node: string): string => `mounts/${encodeURIComponent(node)}`;

export function mountKind(options: MountKindOptions): ActorKind {
  const { node, calls, claims, paths, places, tables, bootId, timeoutMs } = options;
  /** Made out before the call, where a path that drivers don't take means that none was made; the call has the same. */
  const told = (plugin: string, { path }: Place): (() => string) => {
    let found: string | undefined;
    return () => {
      found ??= paths.toPlugin(plugin, path, options.baseDirOf(plugin));
      return found;
    };
  };
  const stagingOf = ({ plugin, key }: MountCall): Place => paths.staging(plugin, key);
  const targetOf = ({ plugin, key, allocId }: TargetCall): Place => paths.target(plugin, key, allocId);
  const seenAt = async ({ path }: Place): Promise<MountEntry | undefined> => (await tables.table()).at(path).at(-1);
  /** What was believed in may not be so any more: then something else is to be done. */
  const wait = async (run: EffectCall<MountCall>, compared: Promise<void>): Promise<CallOutcome<never>> => {
    // What an earlier run has begun, its machine has to know first.
    if (run.recovered || run.attempt > 1) return anew('failed', 'it may have been made by a run before a restart');
    run.send({ type: 'call.awaits', reason: 'what is mounted here is compared with what was before' });
    await compared;
    return anew('not-begun', 'what is mounted here is known');
  };
  const effect = <TInput extends MountCall, TAnswer>(
    work: (input: TInput) => Work<TAnswer>,
    negates?: string[],
  ): Effect => ({
    sentDeadlineMs: givenUpAfterMs(timeoutMs),
    ...(negates && { negates }),
    run: (run: EffectCall<TInput>) => {
      const compared = options.compared();
      if (compared) return wait(run, compared);
      return calls.run(run, { ...work(run.input), volumes: [nodeCallsOf(run.input.csiId)] });
    },
  });
  /**
   * Undoes something at a place, and looks whether it is undone: what the plugin says is no proof.
   * @returns the table that shows it
   */
  const undone = async (what: string, place: Place, call: () => Promise<void>): Promise<MountTable> => {
    const refusal = await call().then(
      () => undefined,
      async (error: unknown) => {
        if (error instanceof StagecraftError && error.answerClass === 'already-so-if-unmounted') return error;
        throw withMountsInside(error, place, await tables.table());
      },
    );
    const table = await tables.table();
    const seen = table.at(place.path).at(-1);
    if (!seen) return table;
    if (refusal) throw refusal;
    throw stillMounted(what, place, seen);
  };
  const removed = async (place: Place, table: MountTable): Promise<NodeUnpublishAnswer> => {
    const left = await places.remove(place, table);
    return left ? { leftBehind: `${left.path}: ${left.why}` } : {};
  };
  /** The answer of a plugin that does not stage. One that was there before it may have: what is staged is for that to undo. */
  const unlessStaging =
    <T>(place: Place, otherwise: () => T | Promise<T>) =>
    ({ capabilities }: Admitted['sight']): Promise<T> | undefined => {
      if (capabilities.has('STAGE_UNSTAGE_VOLUME')) return undefined;
      return seenAt(place).then((seen) => {
        if (seen) throw notToUnstage(place, seen);
        return otherwise();
      });
    };
  /** What was made for a call that is refused for good goes again, unless something is there. */
  const tidied = async (place: Place, call: Promise<void>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof StagecraftError && error.final) await places.remove(place);
      throw error;
    }
  };

  return {
    machine: mountMachine,
    begin: (address): MountInput => {
      const [, , namespace = '', id = ''] = addressParts(address);
      return { node: nodeOf(address), namespace, id };
    },
    topic: (address) => mountsTopic(nodeOf(address)),
    effects: {
      nodeStage: effect<StageCall, StageAnswer>((input) => {
        const staging = stagingOf(input);
        const stagingPath = told(input.plugin, staging);
        return {
          refusal: (sight) => modeRefusal(sight, [input.capability]),
          without: unlessStaging(staging, () => ({ isStaged: false, bootId })),
          prepare: async () => {
            stagingPath();
            await options.shared();
            await places.makeStaging(staging);
          },
          call: async (client, bounds) => {
            const { csiId, capability, volumeContext, publishContext } = input;
            const request = { csiId, stagingPath: stagingPath(), capability, volumeContext, publishContext };
            await tidied(staging, node.stage(client, request, bounds));
            const found = await seenAt(staging);
            return { isStaged: true, bootId, ...(found && { found: kernelMount(found) }) };
          },
        };
      }),
      nodePublish: effect<NodePublishCall, NodePublishAnswer>((input) => {
        const target = targetOf(input);
        const targetPath = told(input.plugin, target);
        const stagingPath = told(input.plugin, stagingOf(input));
        const pathsOf = () => ({
          targetPath: targetPath(),
          ...(input.isStaged && { stagingPath: stagingPath() }),
        });
        let isTaken = false;
        return {
          refusal: (sight) => modeRefusal(sight, [input.capability]),
          prepare: async () => {
            pathsOf();
            await options.shared();
            const table = await tables.table();
            isTaken = table.at(target.path).length > 0;
            await places.makeParent(target, table);
          },
          call: async (client, bounds) => {
            const { csiId, capability, volumeContext, publishContext, readOnly } = input;
            if (isTaken && !input.isRepeat) await cleared(client, bounds);
            const request = { csiId, ...pathsOf(), capability, volumeContext, publishContext, readOnly };
            await tidied(target, node.publish(client, request, bounds));
            const found = await seenAt(target);
            if (!found) throw notMounted(target);
            if (readOnly && (await isWritable(found, capability))) throw notReadOnly(input, target);
            return { found: kernelMount(found), bootId };
          },
        };
        /** A mount that nobody here knows of, as an attempt of before may have made it late, would be taken for the new one. */
        async function cleared(client: unknown, bounds: CallBounds): Promise<void> {
          const { csiId } = input;
          await undone('published', target, () => node.unpublish(client, { csiId, targetPath: targetPath() }, bounds));
        }
      }),
      nodeUnpublish: effect<TargetCall, NodeUnpublishAnswer>(
        (input) => {
          const target = targetOf(input);
          const targetPath = told(input.plugin, target);
          const { csiId } = input;
          return {
            prepare: async () => void targetPath(),
            call: async (client, bounds) => {
              const request = { csiId, targetPath: targetPath() };
              const unpublish = (): Promise<void> => node.unpublish(client, request, bounds);
              return removed(target, await undone('published', target, unpublish));
            },
          };
        },
        ['nodePublish'],
      ),
      nodeUnstage: effect<MountCall, NodeUnpublishAnswer>(
        (input) => {
          const staging = stagingOf(input);
          const stagingPath = told(input.plugin, staging);
          const { csiId } = input;
          return {
            without: unlessStaging(staging, async () => removed(staging, await tables.table())),
            prepare: async () => void stagingPath(),
            call: async (client, bounds) => {
              const request = { csiId, stagingPath: stagingPath() };
              const unstage = (): Promise<void> => node.unstage(client, request, bounds);
              return removed(staging, await undone('staged', staging, unstage));
            },
          };
        },
        ['nodeStage', 'nodePublish'],
      ),
      nodeExpand: effect<NodeExpandCall, NodeExpandAnswer>((input) => {
        const { plugin, key, uid, csiId, capability, capacity, isStaged, allocId } = input;
        const stagingPath = told(plugin, stagingOf(input));
        const volumePath = allocId === undefined ? stagingPath : told(plugin, targetOf({ ...input, allocId }));
        const pathsOf = () => ({ volumePath: volumePath(), ...(isStaged && { stagingPath: stagingPath() }) });
        return {
          prepare: async () => void pathsOf(),
          call: async (client, bounds, { capabilities }) => {
            const expanded = capabilities.has('EXPAND_VOLUME')
              ? await node.expand(client, { csiId, ...pathsOf(), capacity, capability }, bounds)
              : {};
            const { signal } = bounds;
            await claims.expanded(key, { nodeId: options.nodeId, uid, capacity, ...expanded }, { signal });
            return expanded;
          },
        };
      }),
    },
  };
}

const kernelMount = ({ device, root, fsType }: MountEntry): KernelMount => ({ device, root, fsType });

/** A read-only mount does not stop writes to a device: that has to be read-only itself. */
const isWritable = (entry: MountEntry, { attachmentMode }: Capability): boolean | Promise<boolean> =>
  attachmentMode === 'block-device' ? isWritableDevice(entry) : !entry.isReadOnly;

const notMounted = ({ path }: Place): StagecraftError =>
  new StagecraftError(
    'MOUNT_MISSING',
    `the plugin says that it has published the volume, but nothing is mounted at ${path}: does it run in a mount namespace from which its mounts can't be seen? See docs/mounts.md`,
  );

/** Who has mounted something in a volume keeps it from being unmounted, and the plugin may not know why. */
function withMountsInside(error: unknown, { path }: Place, { entries }: MountTable): unknown {
  const inside = entries.filter((entry) => entry.path !== path && isWithin(entry.path, path));
  if (!(error instanceof StagecraftError) || inside.length === 0) return error;
  const { code, message, cause, ...details } = error;
  const names = [...new Set(inside.map((entry) => entry.path))].join(', ');
  return new StagecraftError(code, `${message}; mounted inside it: ${names}: unmount that first`, {
    ...details,
    cause,
  });
}

const stillMounted = (what: string, { path }: Place, { device, root, fsType }: MountEntry): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `the plugin says that the volume is not ${what} any more, but ${root} of ${device} (${fsType}) is mounted at ${path} still: it is asked again`,
  );

const notToUnstage = ({ path }: Place, { device, root, fsType }: MountEntry): StagecraftError =>
  new StagecraftError(
    'MOUNT_STAYS',
    `the plugin does not offer to stage and unstage volumes, but ${root} of ${device} (${fsType}) is mounted at the staging path ${path}: the plugin that staged it has to be back, or somebody has to unmount it`,
  );

const notReadOnly = ({ key }: MountCall, { path }: Place): StagecraftError =>
  new StagecraftError(
    'MOUNT_NOT_AS_ASKED',
    `${nameOf(key)} was to be read-only at ${path}, but the plugin has mounted it for writing: it is unmounted again; mount it for writing, or mend the plugin`,
    { final: true },
  );
