/**
 * Binds the mount machine to its calls: what has to hold on the host before each call, which gate stands before it,
 * and what the mount table has to show after it. How a call is made: calls/plugin-calls.ts
 */
import { addressParts, nodeOf } from '../../machines/kit/addresses.js';
import type { AdmissionCall, AdmissionOutcome, CallOutcome, Wait } from '../../machines/kit/csi-types.js';
import { isSameData } from '../../machines/kit/same-data.js';
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
  UnpublishCall,
  UnstageCall,
} from '../../machines/mount/calls.js';
import type { KernelMount } from '../../machines/mount/kernel-mount.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { mountRefusalOf } from '../../machines/mount/requests.js';
import { mountParts, mountPathOf } from '../../machines/mount/states.js';
import type { MountContext, MountInput } from '../../machines/mount/types.js';
import { modeRefusal } from '../calls/access-mode-support.js';
import { type CallBounds, givenUpAfterMs } from '../calls/call-bounds.js';
import type { Lacks, PluginCalls, PluginWork } from '../calls/plugin-calls.js';
import { nodeCallsOf } from '../calls/volume-locks.js';
import type { ActorKind, Effect, EffectCall } from '../engine/effects/effects.js';
import type { Logger } from '../engine/logger.js';
import { StagecraftError } from '../errors.js';
import type { MountTable } from '../host/mount-table.js';
import { type AsAskedOptions, asAsked } from './as-asked.js';
import type { ClaimClient } from './claim-client.js';
import type { FormerMounts } from './former-mounts.js';
import { mountMigrations } from './migrations.js';
import type { MountDirectories } from './mount-directories.js';
import {
  notMounted,
  notStagedAnyMore,
  notToUnstage,
  stagingCovered,
  stagingDead,
  stagingReplaced,
} from './mount-faults.js';
import { kernelMountOf, type Seen, seenAt, servedAt } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import { type MountUndoing, mustBeFree, type Undone } from './mount-undoing.js';
import type { NodePort } from './node-port.js';
import type { MountPath, MountPaths } from './paths.js';

interface MountKindOptions {
  nodeId: string;
  node: NodePort;
  calls: PluginCalls;
  claims: Pick<ClaimClient, 'expanded'>;
  paths: MountPaths;
  directories: MountDirectories;
  tables: MountTables;
  undoing: MountUndoing;
  /** Directory where a plugin sees its own paths of this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
  /** Id of the present boot of the host. */
  bootId: string;
  processes: NodeProcesses;
  /** For one call, in milliseconds. */
  timeoutMs: number;
  /** Resolves once the mounts in the records have been compared with the kernel; undefined if they have. */
  compared(): Promise<void> | undefined;
  /** Mounts of an agent at another place: nothing is called for them. */
  former: Pick<FormerMounts, 'why' | 'over'>;
  /**
   * Resolves once mounts that are made here can be seen in other mount namespaces.
   * @throws StagecraftError HOST_UNFIT
   */
  shared(): Promise<void>;
  /** Whether the process that serves the file system does not answer any more. */
  isDead(path: string): Promise<boolean>;
  blockDeviceAt: AsAskedOptions['blockDeviceAt'];
  /** See AsAskedOptions. */
  isClosed: boolean;
  logger: Logger;
  /** Has the mounts of a plugin compared with the kernel. */
  lookSoon(plugin: string): void;
}

/** Processes of this runtime that serve node calls of plugins. */
export interface NodeProcesses {
  /** Process that serves the node calls of a plugin now, as far as known. Never throws. */
  of(plugin: string): object;
  /** See Recipients. */
  hasEnded(process: object): Promise<boolean | undefined>;
}

export const mountsTopic = (node: string): string => `mounts/${encodeURIComponent(node)}`;

export function mountKind(options: MountKindOptions): ActorKind {
  const { node, calls, claims, paths, directories, tables, undoing, bootId, processes, timeoutMs } = options;
  /**
   * Path as the plugin sees it. Worked out before the call: a path that drivers don't accept means that none is made.
   */
  const told = (plugin: string, { path }: MountPath): (() => string) => {
    let found: string | undefined;
    return () => {
      found ??= paths.toPlugin(plugin, path, options.baseDirOf(plugin));
      return found;
    };
  };
  const stagingOf = ({ plugin, key }: MountCall): MountPath => paths.staging(plugin, key);
  const targetOf = ({ plugin, key, allocId }: TargetCall): MountPath => paths.target(plugin, key, allocId);
  const admission = calls.admission<MountCall>(volumesOf);
  const effect = <TInput extends MountCall, TAnswer>(
    work: (input: TInput, run: EffectCall<TInput>) => PluginWork<TAnswer>,
    compensates?: string[],
  ): Effect => ({
    sentDeadlineMs: givenUpAfterMs(timeoutMs),
    atMostOnce: true,
    ...(compensates && { compensates }),
    recipient: {
      of: ({ plugin }: MountCall) => processes.of(plugin),
      hasEnded: (process) => processes.hasEnded(process),
    },
    run: (run: EffectCall<TInput>) => {
      // The mounts in the record may have gone: then another call is due.
      if (options.compared()) return Promise.resolve(notCompared);
      const elsewhere = options.former.why(run.input.key);
      if (elsewhere !== undefined) return Promise.resolve(unknownHere(elsewhere));
      const { recipient } = run;
      return calls.run(run, {
        ...work(run.input, run),
        volumes: volumesOf(run.src, run.input),
        hasOtherRecipient: () => recipient !== undefined && !isSameData(recipient, processes.of(run.input.plugin)),
      });
    },
  });
  /**
   * Makes a call that mounts something. If it fails and a path that was free shows a mount, that mount is kept in the
   * record.
   */
  const noting = async <T>(
    run: EffectCall<MountCall>,
    { place, wasFree }: { place: MountPath; wasFree: boolean },
    call: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      const table = wasFree ? await tables.table().catch(() => undefined) : undefined;
      const entry = table?.at(place.path).at(-1);
      if (entry) run.send({ type: 'call.appeared', mount: { ...kernelMountOf(entry), bootId } });
      throw error;
    }
  };
  const isDeadAt = async ({ path }: MountPath, table?: MountTable): Promise<boolean> =>
    servedAt(table ?? (await tables.table()), { path }) !== undefined && (await options.isDead(path));
  /** Refuses to work on a dead mount, which is unstaged first: it may have died since the last look. */
  const notDead = async (call: MountCall, place: MountPath, table: MountTable): Promise<void> => {
    if (!(await isDeadAt(place, table))) return;
    options.lookSoon(call.plugin);
    throw stagingDead(call, place);
  };
  /**
   * Refuses to publish, expand or take as staged what is not ours.
   * @param found what the path has shown
   */
  const mustBeOurs = (call: MountCall, place: MountPath, table: MountTable, found: KernelMount | undefined): Seen => {
    const seen = seenAt(table, { path: place.path, found });
    if (seen.is === 'covered') throw stagingCovered(call, seen.entry);
    if (seen.is === 'replaced') throw stagingReplaced(call, seen.entry);
    return seen;
  };
  /** @param found absent: the path has shown nothing */
  const mustBeStaged = (call: MountCall, place: MountPath, table: MountTable, found: KernelMount | undefined): void => {
    if (found && mustBeOurs(call, place, table, found).is === 'gone') throw notStagedAnyMore(place);
  };
  const removed = async (place: MountPath, { table, unmounted }: Undone): Promise<NodeUnpublishAnswer> => {
    const left = await directories.remove(place, table);
    return { ...(unmounted && { unmounted: place.path }), ...(left && { leftBehind: `${left.path}: ${left.why}` }) };
  };
  /** Answer for a plugin that does not stage. An earlier driver may have staged: its staging is still undone. */
  const unlessStaging =
    <T>(place: MountPath, otherwise: () => T | Promise<T>) =>
    (lacks: Lacks): Promise<T> | undefined => {
      if (!lacks('STAGE_UNSTAGE_VOLUME')) return undefined;
      return tables.table().then((table) => {
        mustBeFree(table, place, (entry) => notToUnstage(place, entry));
        return otherwise();
      });
    };
  /** Removes the directories of a call that is refused for good, unless something is there. */
  const tidied = async (place: MountPath, call: Promise<void>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (error instanceof StagecraftError && error.final) await directories.remove(place);
      throw error;
    }
  };

  return {
    machine: mountMachine,
    parts: (context: MountContext) => mountParts(context),
    pathOf: mountPathOf,
    begin: (address): MountInput => {
      const [, , namespace = '', id = ''] = addressParts(address);
      return { node: nodeOf(address), namespace, id };
    },
    topic: (address) => mountsTopic(nodeOf(address)),
    refusalOf: mountRefusalOf,
    migrations: mountMigrations,
    effects: {
      nodeStage: effect<StageCall, StageAnswer>(
        (input, run) => {
          const staging = stagingOf(input);
          const stagingPath = told(input.plugin, staging);
          let wasFree = false;
          return {
            refusal: (observation) => modeRefusal(observation, [input.capability]),
            without: unlessStaging(staging, () => ({ isStaged: false, bootId })),
            prepare: async () => {
              stagingPath();
              await options.shared();
              const table = await tables.table();
              wasFree = !table.has(staging.path);
              await notDead(input, staging, table);
              // After a reboot, what is there was made by the plugin.
              if (input.foundIn === bootId) mustBeOurs(input, staging, table, input.found);
              await directories.makeStaging(staging, table);
            },
            call: async (client, bounds) => {
              const { csiId, capability, volumeContext, publishContext } = input;
              const request = { csiId, stagingPath: stagingPath(), capability, volumeContext, publishContext };
              const stage = (): Promise<void> => tidied(staging, node.stage(client, request, bounds));
              await noting(run, { place: staging, wasFree }, stage);
              const found = (await tables.table()).at(staging.path).at(-1);
              return { isStaged: true, bootId, ...(found && { found: kernelMountOf(found) }) };
            },
          };
        },
        // An unstage of an earlier runtime may take effect late: the volume would be unstaged under its targets.
        ['nodeUnstage'],
      ),
      nodePublish: effect<NodePublishCall, NodePublishAnswer>((input, run) => {
        const target = targetOf(input);
        const staging = stagingOf(input);
        const targetPath = told(input.plugin, target);
        const stagingPath = told(input.plugin, staging);
        const pathsOf = () => ({
          targetPath: targetPath(),
          ...(input.isStaged && { stagingPath: stagingPath() }),
        });
        let wasFree = false;
        return {
          refusal: (observation) => modeRefusal(observation, [input.capability]),
          prepare: async () => {
            pathsOf();
            await options.shared();
            const table = await tables.table();
            wasFree = !table.has(target.path);
            mustBeStaged(input, staging, table, input.staged);
            await directories.makeParent(target, table);
          },
          call: async (client, bounds) => {
            if (!wasFree && (!input.isRepeat || (await isDeadAt(target)))) {
              await cleared(client, bounds);
              wasFree = true;
            }
            return noting(run, { place: target, wasFree }, () => published(client, bounds));
          },
        };
        async function published(client: unknown, bounds: CallBounds): Promise<NodePublishAnswer> {
          const { csiId, capability, volumeContext, publishContext, readOnly } = input;
          const request = { csiId, ...pathsOf(), capability, volumeContext, publishContext, readOnly };
          await tidied(target, node.publish(client, request, bounds));
          const table = await tables.table();
          const found = table.at(target.path).at(-1);
          if (!found) throw notMounted(target);
          const published = { call: input, staging, target, table, found };
          return { found: await asAsked(published, { ...options, root: paths.root }), bootId };
        }
        /**
         * Unpublishes what is mounted at the target already: an unknown mount would be taken for the new one, and
         * over a dead mount the plugin can't publish.
         */
        async function cleared(client: unknown, bounds: CallBounds): Promise<void> {
          const request = { csiId: input.csiId, targetPath: targetPath() };
          const unpublish = (): Promise<void> => node.unpublish(client, request, bounds);
          await undoing.undo({ call: input, what: 'published', place: target, staging }, unpublish);
        }
      }),
      nodeUnpublish: effect<UnpublishCall, NodeUnpublishAnswer>(
        (input) => {
          const target = targetOf(input);
          const targetPath = told(input.plugin, target);
          const { csiId } = input;
          return {
            prepare: async () => {
              targetPath();
              await undoing.refuseCovered(target, input.found);
            },
            call: async (client, bounds) => {
              const request = { csiId, targetPath: targetPath() };
              const unpublish = (): Promise<void> => node.unpublish(client, request, bounds);
              const toUndo = { call: input, what: 'published', place: target, staging: stagingOf(input) } as const;
              return removed(target, await undoing.undo(toUndo, unpublish));
            },
          };
        },
        ['nodePublish'],
      ),
      nodeUnstage: effect<UnstageCall, NodeUnpublishAnswer>(
        (input) => {
          const staging = stagingOf(input);
          const stagingPath = told(input.plugin, staging);
          const { csiId } = input;
          return {
            without: unlessStaging(staging, async () => removed(staging, { table: await tables.table() })),
            prepare: async () => {
              stagingPath();
              await undoing.refuseCovered(staging, input.found);
            },
            call: async (client, bounds) => {
              const request = { csiId, stagingPath: stagingPath() };
              const unstage = (): Promise<void> => node.unstage(client, request, bounds);
              return removed(staging, await undoing.undo({ call: input, what: 'staged', place: staging }, unstage));
            },
          };
        },
        ['nodeStage', 'nodePublish'],
      ),
      nodeExpand: effect<NodeExpandCall, NodeExpandAnswer>((input) => {
        const { plugin, key, uid, csiId, capability, capacity, isStaged, allocId } = input;
        const staging = stagingOf(input);
        const stagingPath = told(plugin, staging);
        const volumePath = allocId === undefined ? stagingPath : told(plugin, targetOf({ ...input, allocId }));
        const pathsOf = () => ({ volumePath: volumePath(), ...(isStaged && { stagingPath: stagingPath() }) });
        return {
          prepare: async () => {
            pathsOf();
            mustBeStaged(input, staging, await tables.table(), input.staged);
          },
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
      awaitAdmission: {
        ...admission,
        run: async (run: EffectCall<AdmissionCall<MountCall>>): Promise<unknown> => {
          const { wait, call } = run.input;
          if (wait.for !== 'compared') return admission.run(run);
          await options.compared();
          const reason = options.former.why(call.key);
          if (reason !== undefined && reason !== wait.reason)
            run.send({ type: 'wait.changed', reason, for: 'compared' } satisfies Wait & { type: string });
          await options.former.over(call.key, run.signal);
          return { status: 'admitted' } satisfies AdmissionOutcome;
        },
      },
    },
  };
}

const unknownHere = (reason: string): CallOutcome<never> => ({ status: 'must-wait', reason, for: 'compared' });

const notCompared = unknownHere('what is mounted here is compared with what was before');

/** Makes calls to the node service about one volume one at a time. */
const volumesOf = (_: string, { csiId }: MountCall): string[] => [nodeCallsOf(csiId)];
