/**
 * Node calls of one mount: what has to hold on the host before each, and what the mount table has to show after it. The
 * machine says which call is next: mount-kind.ts
 */
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
import type { CallBounds } from '../calls/call-bounds.js';
import type { Lacks, PluginWork } from '../calls/plugin-calls.js';
import { modeRefusal } from '../calls/plugin-refusals.js';
import type { EffectCall } from '../engine/effects/effects.js';
import { StagecraftError } from '../errors.js';
import type { MountTable } from '../host/mount-table.js';
import { type AsAskedOptions, asAsked } from './as-asked.js';
import type { ClaimClient } from './claim-client.js';
import type { MountDirectories } from './mount-directories.js';
import {
  notMounted,
  notStagedAnyMore,
  notToUnstage,
  stagingCovered,
  stagingDead,
  stagingReplaced,
} from './mount-faults.js';
import { kernelMountOf, observedAt, type Seen, servedAt } from './mount-seen.js';
import type { MountTables } from './mount-tables.js';
import { type MountUndoing, mustBeFree, type Undone } from './mount-undoing.js';
import type { NodePort } from './node-port.js';
import type { MountPath, MountPaths } from './paths.js';

export interface MountCallsOptions extends Pick<AsAskedOptions, 'blockDeviceAt' | 'isClosed' | 'logger'> {
  nodeId: string;
  node: NodePort;
  claims: Pick<ClaimClient, 'expanded'>;
  paths: MountPaths;
  directories: MountDirectories;
  tables: MountTables;
  undoing: MountUndoing;
  /** Directory where a plugin sees its own paths of this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
  /** Id of the present boot of the host. */
  bootId: string;
  /**
   * Resolves once mounts that are made here can be seen in other mount namespaces.
   * @throws StagecraftError HOST_UNFIT
   */
  shared(): Promise<void>;
  /** Whether the process that serves the file system does not answer any more. */
  isDead(path: string): Promise<boolean>;
  /** Has the mounts of a plugin compared with the kernel. */
  lookSoon(plugin: string): void;
}

export class MountCalls {
  readonly #options: MountCallsOptions;

  constructor(options: MountCallsOptions) {
    this.#options = options;
  }

  stage(input: StageCall, run: EffectCall<StageCall>): PluginWork<StageAnswer> {
    const { node, tables, directories, bootId } = this.#options;
    const staging = this.#stagingOf(input);
    const stagingPath = this.#told(input.plugin, staging);
    let wasFree = false;
    return {
      refusal: (observation) => modeRefusal(observation, [input.capability]),
      without: this.#unlessStaging(staging, () => ({ isStaged: false, bootId })),
      prepare: async () => {
        stagingPath();
        await this.#options.shared();
        const table = await tables.table();
        wasFree = !table.has(staging.path);
        await this.#mustNotBeDead(input, staging, table);
        // After a reboot, what is there was made by the plugin.
        if (input.foundIn === bootId) mustBeOurs(input, staging, table, input.found);
        await directories.makeStaging(staging, table);
      },
      call: async (client, bounds) => {
        const { csiId, capability, volumeContext, publishContext } = input;
        const request = { csiId, stagingPath: stagingPath(), capability, volumeContext, publishContext };
        const stage = (): Promise<void> => this.#tidied(staging, node.stage(client, request, bounds));
        await this.#noting(run, { place: staging, wasFree }, stage);
        const found = (await tables.table()).at(staging.path).at(-1);
        return { isStaged: true, bootId, ...(found && { found: kernelMountOf(found) }) };
      },
    };
  }

  publish(input: NodePublishCall, run: EffectCall<NodePublishCall>): PluginWork<NodePublishAnswer> {
    const { node, tables, directories, undoing, paths, bootId } = this.#options;
    const target = this.#targetOf(input);
    const staging = this.#stagingOf(input);
    const targetPath = this.#told(input.plugin, target);
    const stagingPath = this.#told(input.plugin, staging);
    const pathsOf = () => ({
      targetPath: targetPath(),
      ...(input.isStaged && { stagingPath: stagingPath() }),
    });
    const published = async (client: unknown, bounds: CallBounds): Promise<NodePublishAnswer> => {
      const { csiId, capability, volumeContext, publishContext, readOnly } = input;
      const request = { csiId, ...pathsOf(), capability, volumeContext, publishContext, readOnly };
      await this.#tidied(target, node.publish(client, request, bounds));
      const table = await tables.table();
      const found = table.at(target.path).at(-1);
      if (!found) throw notMounted(target);
      const published = { call: input, staging, target, table, found };
      return { found: await asAsked(published, { ...this.#options, root: paths.root }), bootId };
    };
    /**
     * Unpublishes the mount that is at the target already: an unknown one would be taken for the new one, and a plugin
     * can't publish over a dead one.
     */
    const cleared = async (client: unknown, bounds: CallBounds): Promise<void> => {
      const request = { csiId: input.csiId, targetPath: targetPath() };
      const unpublish = (): Promise<void> => node.unpublish(client, request, bounds);
      await undoing.undo({ call: input, what: 'published', place: target, staging }, unpublish);
    };
    let wasFree = false;
    return {
      refusal: (observation) => modeRefusal(observation, [input.capability]),
      prepare: async () => {
        pathsOf();
        await this.#options.shared();
        const table = await tables.table();
        wasFree = !table.has(target.path);
        mustBeStaged(input, staging, table, input.staged);
        await directories.makeParent(target, table);
      },
      call: async (client, bounds) => {
        if (!wasFree && (!input.isRepeat || (await this.#isDeadAt(target)))) {
          await cleared(client, bounds);
          wasFree = true;
        }
        return this.#noting(run, { place: target, wasFree }, () => published(client, bounds));
      },
    };
  }

  unpublish(input: UnpublishCall): PluginWork<NodeUnpublishAnswer> {
    const { node, undoing } = this.#options;
    const target = this.#targetOf(input);
    const targetPath = this.#told(input.plugin, target);
    const { csiId } = input;
    return {
      prepare: async () => {
        targetPath();
        await undoing.refuseCovered(target, input.found);
      },
      call: async (client, bounds) => {
        const request = { csiId, targetPath: targetPath() };
        const unpublish = (): Promise<void> => node.unpublish(client, request, bounds);
        const toUndo = { call: input, what: 'published', place: target, staging: this.#stagingOf(input) } as const;
        return this.#removed(target, await undoing.undo(toUndo, unpublish));
      },
    };
  }

  unstage(input: UnstageCall): PluginWork<NodeUnpublishAnswer> {
    const { node, tables, undoing } = this.#options;
    const staging = this.#stagingOf(input);
    const stagingPath = this.#told(input.plugin, staging);
    const { csiId } = input;
    return {
      without: this.#unlessStaging(staging, async () => this.#removed(staging, { table: await tables.table() })),
      prepare: async () => {
        stagingPath();
        await undoing.refuseCovered(staging, input.found);
      },
      call: async (client, bounds) => {
        const request = { csiId, stagingPath: stagingPath() };
        const unstage = (): Promise<void> => node.unstage(client, request, bounds);
        return this.#removed(staging, await undoing.undo({ call: input, what: 'staged', place: staging }, unstage));
      },
    };
  }

  expand(input: NodeExpandCall): PluginWork<NodeExpandAnswer> {
    const { node, tables, claims, nodeId } = this.#options;
    const { plugin, key, uid, csiId, capability, capacity, isStaged, allocId } = input;
    const staging = this.#stagingOf(input);
    const stagingPath = this.#told(plugin, staging);
    const volumePath = allocId === undefined ? stagingPath : this.#told(plugin, this.#targetOf({ ...input, allocId }));
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
        await claims.expanded(key, { nodeId, uid, capacity, ...expanded }, { signal });
        return expanded;
      },
    };
  }

  #stagingOf({ plugin, key }: MountCall): MountPath {
    return this.#options.paths.staging(plugin, key);
  }

  #targetOf({ plugin, key, allocId }: TargetCall): MountPath {
    return this.#options.paths.target(plugin, key, allocId);
  }

  /** Path as the plugin sees it. Called before the call is made: for a path that drivers don't accept, none is. */
  #told(plugin: string, { path }: MountPath): () => string {
    let found: string | undefined;
    return () => {
      found ??= this.#options.paths.toPlugin(plugin, path, this.#options.baseDirOf(plugin));
      return found;
    };
  }

  /** Makes a call that mounts something. If it fails, a mount at a path that was free before is kept in the record. */
  async #noting<T>(
    run: EffectCall<MountCall>,
    { place, wasFree }: { place: MountPath; wasFree: boolean },
    call: () => Promise<T>,
  ): Promise<T> {
    const { tables, bootId } = this.#options;
    try {
      return await call();
    } catch (error) {
      const table = wasFree ? await tables.table().catch(() => undefined) : undefined;
      const entry = table?.at(place.path).at(-1);
      if (entry) run.send({ type: 'call.appeared', mount: { ...kernelMountOf(entry), bootId } });
      throw error;
    }
  }

  async #isDeadAt({ path }: MountPath, table?: MountTable): Promise<boolean> {
    const now = table ?? (await this.#options.tables.table());
    return servedAt(now, { path }) !== undefined && (await this.#options.isDead(path));
  }

  /** Refuses to work on a dead mount, which is unstaged first: it may have died since the last comparison. */
  async #mustNotBeDead(call: MountCall, place: MountPath, table: MountTable): Promise<void> {
    if (!(await this.#isDeadAt(place, table))) return;
    this.#options.lookSoon(call.plugin);
    throw stagingDead(call, place);
  }

  async #removed(place: MountPath, { table, unmounted }: Undone): Promise<NodeUnpublishAnswer> {
    const left = await this.#options.directories.remove(place, table);
    return { ...(unmounted && { unmounted: place.path }), ...(left && { leftBehind: `${left.path}: ${left.why}` }) };
  }

  /** Answer for a plugin that does not stage. An earlier driver may have staged: its staging is still undone. */
  #unlessStaging<T>(place: MountPath, otherwise: () => T | Promise<T>): (lacks: Lacks) => Promise<T> | undefined {
    return (lacks) => {
      if (!lacks('STAGE_UNSTAGE_VOLUME')) return undefined;
      return this.#options.tables.table().then((table) => {
        mustBeFree(table, place, (entry) => notToUnstage(place, entry));
        return otherwise();
      });
    };
  }

  /** Removes the directories of a call that is refused for good, unless something is there. */
  async #tidied(place: MountPath, call: Promise<void>): Promise<void> {
    try {
      await call;
    } catch (error) {
      if (error instanceof StagecraftError && error.final) await this.#options.directories.remove(place);
      throw error;
    }
  }
}

/**
 * Refuses to publish, expand or take as staged what is not ours.
 * @param found what the path has shown
 */
function mustBeOurs(call: MountCall, place: MountPath, table: MountTable, found: KernelMount | undefined): Seen {
  const seen = observedAt(table, { path: place.path, found });
  if (seen.is === 'covered') throw stagingCovered(call, seen.entry);
  if (seen.is === 'replaced') throw stagingReplaced(call, seen.entry);
  return seen;
}

/** @param found absent: the path has shown nothing */
function mustBeStaged(call: MountCall, place: MountPath, table: MountTable, found: KernelMount | undefined): void {
  if (found && mustBeOurs(call, place, table, found).is === 'gone') throw notStagedAnyMore(place);
}
