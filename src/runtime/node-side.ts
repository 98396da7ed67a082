/**
 * The node side, put together: mounts and allocs of this host, on the node's own engine. The controller side is reached
 * through claims only. What is done when: docs/architecture.md
 */
import { existsSync } from 'node:fs';
import { addressParts, nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import { defaultBackoff } from '../../machines/kit/backoff.js';
import type { VolumeKey } from '../../machines/volume/types.js';
import { allocKind } from '../allocs/alloc-kind.js';
import { AllocWorker } from '../allocs/alloc-work.js';
import { Allocations } from '../allocs/allocations.js';
import { PluginAccess } from '../calls/plugin-access.js';
import { PluginCalls } from '../calls/plugin-calls.js';
import type { VolumeLocks } from '../calls/volume-locks.js';
import { csiNode } from '../csi-plugins/node.js';
import type { CommitNotice } from '../engine/actor/actor-ports.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ActorKind } from '../engine/effects/effects.js';
import type { Engine } from '../engine/engine.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import { bootId as presentBootId } from '../host/boot-id.js';
import type { DataDir } from '../host/data-dir.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import { ClaimWatch } from '../mounts/claim-watch.js';
import { isBlockDevice } from '../mounts/device-access.js';
import { Expansions } from '../mounts/expansions.js';
import { Holds } from '../mounts/holds.js';
import { hostTool } from '../mounts/host-tool.js';
import { MountClient } from '../mounts/mount-client.js';
import { mountKind, type NodeProcesses } from '../mounts/mount-kind.js';
import { MountManager } from '../mounts/mount-manager.js';
import { MountReconciler } from '../mounts/mount-reconciler.js';
import { MountSteps } from '../mounts/mount-steps.js';
import { MountTables } from '../mounts/mount-tables.js';
import { MountUndoing } from '../mounts/mount-undoing.js';
import type { MountStatus } from '../mounts/mount-view.js';
import { OrphanedMounts } from '../mounts/orphaned-mounts.js';
import { mountPaths } from '../mounts/paths.js';
import { hostPlaces } from '../mounts/places.js';
import { hostPropagation, type Propagation } from '../mounts/propagation.js';
import { shownHere } from '../mounts/shown-here.js';
import { Stats } from '../mounts/volume-stats.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import { noSecrets } from '../secrets/secrets.js';
import type { VolumeEvent } from '../volumes/volume-events.js';
import type { RuntimeOptions } from './options.js';
import { type IsTasked, nodeSidePort } from './plugin-port.js';

export interface NodeSideOptions {
  runtime: RuntimeOptions;
  dataDir: DataDir;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
  claims: ClaimClient;
  /** Of the calls about volumes in this process. */
  locks: VolumeLocks;
  /** Calls back with what happens to volumes; the answer ends that. */
  onVolumeEvent(callback: (event: VolumeEvent) => void): () => void;
  /** Made by the time it is asked. */
  plugins(): PluginRegistry;
  isTasked: IsTasked;
  /** Where a plugin sees what is its own on this host, if elsewhere. */
  baseDirOf(plugin: string): string | undefined;
  processes: NodeProcesses;
}

/** Node calls have at least this: some drivers take half a minute to answer for a busy mount. */
const leastNodeTimeoutMs = 60_000;
const defaultTimeoutMs = 120_000;
const defaultStatsMs = 60_000;
/** How long a drain waits for allocs to be released. */
const releaseLimitMs = 60_000;
/** How long a start waits for the kernel and the store. */
const startLimitMs = 10_000;
const retryMs = 1_000;

interface Parts {
  mounting: MountSteps;
  mounter: MountManager;
  allocations: Allocations;
  watch: MountReconciler;
  claimWatch: ClaimWatch;
  expansions: Expansions;
  holds: Holds;
  stats: Stats;
}

export class NodeSide {
  readonly kinds: ActorKind[];
  readonly #nodeId: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles: TroubleLog;
  readonly #propagation: Propagation;
  readonly #root: string;
  /** Paths where the kernel of this host shows a volume. @throws StagecraftError HOST_UNFIT */
  readonly shownHere: (key: VolumeKey, allocId?: string) => Promise<string[]>;
  readonly #parts: (engine: Engine) => Parts;
  #attached: Parts | undefined;
  /** What was believed in is compared with the kernel. */
  #tellCompared: () => void = () => {};
  #stopWatching: () => void = () => {};
  #unsubscribe: () => void = () => {};
  readonly #onVolumeEvent: NodeSideOptions['onVolumeEvent'];
  #isRefusing = false;

  constructor(options: NodeSideOptions) {
    const { runtime, dataDir, clock, logger, troubles, claims, baseDirOf } = options;
    const { nodeId, calls = {}, retry, stats } = runtime;
    this.#nodeId = nodeId;
    this.#onVolumeEvent = options.onVolumeEvent;
    this.#clock = clock;
    const bootId = presentBootId();
    let comparing: Promise<void> | undefined = new Promise<void>((resolve) => {
      this.#tellCompared = () => {
        comparing = undefined;
        resolve();
      };
    });
    const maxInFlight = calls.maxInFlightPerPlugin ?? 64;
    const access = new PluginAccess(nodeSidePort(options.plugins, options.isTasked), { clock, maxInFlight });
    const secrets = runtime.secrets ?? noSecrets;
    const tool = hostTool(clock);
    const tables = new MountTables();
    const paths = mountPaths({ dataDir: dataDir.path, socketRoot: dataDir.socketRoot });
    const isDead = async (path: string): Promise<boolean> => (await tool.isAlive(path)) === 'dead';
    const timeoutMs = calls.nodeTimeoutMs ?? Math.max(calls.timeoutMs ?? defaultTimeoutMs, leastNodeTimeoutMs);
    const node = csiNode({ timeoutMs });
    this.#logger = logger;
    this.#troubles = troubles;
    this.#root = paths.root;
    this.shownHere = (key, allocId) => shownHere({ paths, tables }, key, allocId);
    this.#propagation = hostPropagation({ root: paths.root, readTable: () => tables.table(), tool });
    const worker = new AllocWorker({
      ...{ node: nodeId, claims, clock },
      mounting: () => this.mounting,
      compared: () => comparing,
    });
    this.kinds = [
      mountKind({
        ...{ nodeId, node, claims, paths, tables, baseDirOf, bootId, timeoutMs, processes: options.processes },
        calls: new PluginCalls({
          access,
          secrets,
          clock,
          retry: { ...defaultBackoff, ...retry },
          locks: options.locks,
        }),
        places: hostPlaces({ root: paths.root, readTable: () => tables.table(), tool }),
        undoing: new MountUndoing({ tables, tool, bootId, logger }),
        compared: () => comparing,
        shared: () => this.#propagation.ensureShared(),
        isDead,
        isDevice: (path) => isBlockDevice(path, tool),
        lookSoon: (plugin) => this.#lookSoon(plugin),
      }),
      allocKind(worker),
    ];
    this.#parts = (engine) => {
      const intervalMs = stats?.intervalMs ?? defaultStatsMs;
      const orphans = new OrphanedMounts({ nodeId, engine, paths, tables, tool, logger });
      const volumeStats = new Stats({
        nodeId,
        engine,
        node,
        access,
        locks: options.locks,
        paths,
        baseDirOf,
        clock,
        logger,
        intervalMs,
        timeoutMs,
      });
      const client = new MountClient({ node: nodeId, engine, clock });
      const mounting = new MountSteps({
        ...{ client, clock, claims, secrets, paths, tables, access, baseDirOf },
        shared: () => this.#propagation.ensureShared(),
      });
      const watch = new MountReconciler({
        ...{ nodeId, engine, paths, tables, orphans, bootId, clock, logger, troubles, isDead },
        onPluginLoss: runtime.onPluginLoss ?? 'remount',
      });
      const compare = (volumes: readonly VolumeKey[]): Promise<void> => watch.compare(volumes);
      const holds = new Holds({ nodeId, engine, client, claims, clock, logger });
      const mounter = new MountManager({
        ...{ client, mounting, holds, engine, claims, paths, tables, access, orphans, compare },
        stats: volumeStats,
      });
      const mounts = (volumes?: readonly VolumeKey[]): Promise<MountStatus[]> => mounter.told(volumes);
      return {
        stats: volumeStats,
        holds,
        expansions: new Expansions({
          ...{ nodeId, engine, claims, clock, logger },
          onExpanded: (callback) =>
            options.onVolumeEvent((event) => {
              if (event.kind === 'expanded' && event.nodeExpansionRequired) callback(event.key);
            }),
        }),
        mounting,
        mounter,
        allocations: new Allocations({ node: nodeId, engine, clock, claims, bootId, mounts, compare }),
        claimWatch: new ClaimWatch({ nodeId, engine, claims, clock, logger }),
        watch,
      };
    };
  }

  get mounter(): MountManager {
    return this.#attachedParts.mounter;
  }

  get mounting(): MountSteps {
    return this.#attachedParts.mounting;
  }

  get allocations(): Allocations {
    return this.#attachedParts.allocations;
  }

  /** @param engine has its kinds */
  attach(engine: Engine): void {
    this.#attached = this.#parts(engine);
    // What was mounted through its process may have gone with that.
    this.#stopWatching = engine.observe((notice) => {
      const plugin = this.#pluginBack(notice);
      if (plugin !== undefined) this.#lookSoon(plugin);
    });
  }

  /** Has the mounts of a plugin compared with the kernel. What is known by then to be in use elsewhere is not mounted again. */
  #lookSoon(plugin: string): void {
    const { watch, claimWatch } = this.#attachedParts;
    void claimWatch.look().then(() => watch.lookSoon(plugin));
  }

  /** Which plugin another process may be behind from here on: one of its instances is well, or has taken the place of another. */
  #pluginBack({ address, state, entry }: CommitNotice): string | undefined {
    const isOf = (kind: string): boolean => address.startsWith(`${nodeOwnedPrefix(kind, this.#nodeId)}csi-node/`);
    const isBack =
      (entry.event?.type === 'fingerprint.changed' && state === 'healthy' && isOf('plugin')) ||
      (entry.event?.type === 'plugins.deregister' && isOf('plugins'));
    return isBack ? addressParts(address)[3] : undefined;
  }

  /**
   * Once all is restored. Resolves when what was believed in has been compared with the kernel, and calls may begin; where
   * the store or the kernel don't let that be, after a while, and it goes on.
   */
  async start(): Promise<void> {
    const begun = new AbortController();
    void this.#begin().finally(() => begun.abort());
    await pause(this.#clock, startLimitMs, begun.signal);
  }

  async #begin(): Promise<void> {
    const { watch, claimWatch, allocations, expansions, holds, stats } = this.#attachedParts;
    await watch.start();
    while (!this.#isRefusing) {
      try {
        await allocations.recover();
        this.#troubles.over(this);
        break;
      } catch (error) {
        const message = `allocs can't be recovered yet: ${messageOf(error)}`;
        this.#troubles.failed(this, { subject: 'the recovery of allocs', message, cause: error });
        await pause(this.#clock, retryMs);
      }
    }
    this.#troubles.abandon(this);
    await holds.look();
    if (this.#isRefusing) return;
    this.#tellCompared();
    this.#unsubscribe = this.#onVolumeEvent((event) => this.#noticed(event));
    claimWatch.start();
    expansions.start();
    holds.start();
    stats.start();
  }

  /** Looks at once after this node has lost a volume, to unmount it. */
  #noticed(event: VolumeEvent): void {
    if ((event.kind !== 'claim' && event.kind !== 'hold') || event.nodeId !== this.#nodeId) return;
    if (event.fenced === undefined) return;
    const { claimWatch, holds } = this.#attachedParts;
    void (event.kind === 'claim' ? claimWatch.look() : holds.look());
  }

  /** Takes no new work; releases all. @throws StagecraftError DRAIN_FAILED naming what was not released */
  async release(): Promise<void> {
    const { allocations, mounting } = this.#attachedParts;
    allocations.refuse(draining());
    await mounting.hasten();
    await allocations.releaseAll(releaseLimitMs);
  }

  /** Whoever sees our directory elsewhere, as a container does, has to find it as it will be. */
  async share(): Promise<void> {
    await this.#propagation.ensureShared().catch((error: unknown) => {
      // Whoever asks for a mount is told.
      this.#logger.warn({}, `mounts can't be made here: ${messageOf(error)}`);
    });
  }

  /** What was made for all mounts goes where none is left, so that the data directory can be removed. */
  async unshare(): Promise<void> {
    // Where nothing was ever mounted there is nothing to look for.
    if (!existsSync(this.#root)) return;
    const left = await this.#propagation.undoShared();
    if (left) this.#logger.debug({ path: left.path }, `the directory of mounts stays a mount: ${left.why}`);
  }

  /** Nothing is taken any more. */
  refuse(reason?: StagecraftError): void {
    const { mounter, allocations, watch, claimWatch, expansions, holds, stats } = this.#attachedParts;
    this.#isRefusing = true;
    this.#stopWatching();
    this.#unsubscribe();
    watch.stop();
    claimWatch.stop();
    expansions.stop();
    holds.stop();
    stats.stop();
    for (const part of [mounter, allocations]) part.close(reason);
  }

  get #attachedParts(): Parts {
    if (!this.#attached) throw new Error('the node side has no engine yet');
    return this.#attached;
  }
}

const draining = (): StagecraftError =>
  new StagecraftError(
    'RUNTIME_CLOSED',
    'all that is here is being released, and the runtime ends then: nothing new is begun',
  );
