/**
 * The node side: mounts and allocs of this host, on the node's own engine. Reaches the controller side through claims
 * only. Order of its work: docs/architecture.md
 */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { addressParts, nodeOwnedPrefix } from '../../machines/kit/addresses.js';
import { defaultBackoff } from '../../machines/kit/backoff.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { AllocClient } from '../allocs/alloc-client.js';
import { AllocWorker, allocKind } from '../allocs/alloc-work.js';
import { Allocations } from '../allocs/allocations.js';
import { EarlierHolds } from '../allocs/earlier-holds.js';
import { SingleMounts } from '../allocs/single-mounts.js';
import { PluginAccess } from '../calls/plugin-access.js';
import { PluginCalls } from '../calls/plugin-calls.js';
import type { VolumeLocks } from '../calls/volume-locks.js';
import { csiNode } from '../csi-plugins/node.js';
import type { CommitNotice } from '../engine/actor/actor-ports.js';
import { type Clock, pause } from '../engine/clock.js';
import type { ActorKind } from '../engine/effects/effects.js';
import type { Engine } from '../engine/engine.js';
import { Gate } from '../engine/gate.js';
import type { Logger } from '../engine/logger.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import { messageOf, StagecraftError } from '../errors.js';
import { bootId as presentBootId } from '../host/boot-id.js';
import type { DataDir } from '../host/data-dir.js';
import type { MountTable } from '../host/mount-table.js';
import type { ClaimClient } from '../mounts/claim-client.js';
import { FormerMounts } from '../mounts/former-mounts.js';
import { blockDeviceAt, hostTool } from '../mounts/host-tool.js';
import type { MountClient } from '../mounts/mount-client.js';
import { hostMountDirectories } from '../mounts/mount-directories.js';
import { mountKind } from '../mounts/mount-kind.js';
import { MountManager } from '../mounts/mount-manager.js';
import { MountReconciler } from '../mounts/mount-reconciler.js';
import { MountSteps } from '../mounts/mount-steps.js';
import type { MountTables } from '../mounts/mount-tables.js';
import { MountUndoing } from '../mounts/mount-undoing.js';
import { OrphanedMounts } from '../mounts/orphaned-mounts.js';
import { mountPaths } from '../mounts/paths.js';
import { hostPropagation, type SharedPropagation } from '../mounts/propagation.js';
import { Stats } from '../mounts/volume-stats.js';
import { Expansions, LostClaims, VolumeWatch } from '../mounts/volume-watch.js';
import { noSecrets } from '../secrets/secrets.js';
import type { NodeNotice } from '../volumes/node-notices.js';
import { callLimitsOf, type RuntimeOptions } from './options.js';
import type { PluginSide } from './plugin-side.js';

interface NodeSideOptions {
  runtime: RuntimeOptions;
  dataDir: DataDir;
  /** Engine of this node, not open yet. */
  engine: Engine;
  client: MountClient;
  tables: MountTables;
  clock: Clock;
  logger: Logger;
  troubles: TroubleLog;
  claims: ClaimClient;
  /** Locks for all calls about volumes in this process. */
  locks: VolumeLocks;
  pluginSide: Pick<PluginSide, 'nodePort' | 'baseDirOf' | 'nodeProcesses'>;
}

const defaultStatsMs = 60_000;
/** Limit of a drain for the release of allocs. */
const releaseLimitMs = 60_000;
/** Limit of a start for the kernel and the store. */
const startLimitMs = 10_000;
const retryMs = 1_000;

export class NodeSide {
  /** Kinds of its actors, for the engine to host. */
  readonly kinds: ActorKind[];
  readonly mounter: MountManager;
  readonly allocations: Allocations;
  readonly #nodeId: string;
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #troubles: TroubleLog;
  readonly #propagation: SharedPropagation;
  readonly #root: string;
  readonly #mounting: MountSteps;
  readonly #watch: MountReconciler;
  readonly #volumeWatch: VolumeWatch;
  readonly #former: FormerMounts;
  readonly #singles: SingleMounts;
  readonly #holds: EarlierHolds;
  readonly #stats: Stats;
  /** Opens once the stored mounts have been compared with the kernel, and allocs recovered. */
  readonly #compared = new Gate();
  readonly #stopWatching: () => void;
  #isStarted = false;
  #isRefusing = false;

  constructor(options: NodeSideOptions) {
    const { runtime, dataDir, engine, client, tables, clock, logger, troubles, claims, locks, pluginSide } = options;
    const { nodeId, retry, stats, secrets = noSecrets } = runtime;
    this.#nodeId = nodeId;
    this.#engine = engine;
    this.#clock = clock;
    this.#logger = logger;
    this.#troubles = troubles;
    const bootId = presentBootId();
    const tool = hostTool(clock);
    const paths = mountPaths({ ...dataDir, dataDir: dataDir.path });
    const readTable = (): Promise<MountTable> => tables.table();
    this.#root = paths.root;
    this.#propagation = hostPropagation({ root: paths.root, readTable, tool });
    const shared = (): Promise<void> => this.#propagation.ensureShared();
    const isDead = async (path: string): Promise<boolean> => (await tool.isAlive(path)) === 'dead';

    const { nodeTimeoutMs: timeoutMs, maxInFlight } = callLimitsOf(runtime.calls);
    const node = csiNode({ timeoutMs });
    const access = new PluginAccess(pluginSide.nodePort, { clock, maxInFlight });
    const baseDirOf = (plugin: string): string | undefined => pluginSide.baseDirOf(plugin);

    const orphans = new OrphanedMounts({ nodeId, engine, paths, tables, tool, logger });
    const place = { id: dataDir.id, dataDir: dataDir.path, host: hostname() };
    const former = new FormerMounts({ nodeId, place, engine, clock, logger });
    this.#former = former;
    this.#stats = new Stats({
      ...{ nodeId, engine, node, access, locks, paths, former, baseDirOf, clock, logger, timeoutMs },
      intervalMs: stats?.intervalMs ?? defaultStatsMs,
    });
    const mounting = new MountSteps({
      client,
      clock,
      claims,
      secrets,
      paths,
      tables,
      access,
      former,
      baseDirOf,
      shared,
    });
    this.#mounting = mounting;
    this.#watch = new MountReconciler({
      ...{ nodeId, engine, paths, tables, orphans, former, bootId, clock, logger, troubles, isDead },
      onPluginLoss: runtime.onPluginLoss ?? 'remount',
    });
    const compare = (volumes: readonly VolumeKey[]): Promise<void> => this.#watch.compare(volumes);
    const allocs = new AllocClient({ node: nodeId, engine, clock });
    const singles = new SingleMounts({ client: allocs, logger, bootId, mounting, compare });
    this.#singles = singles;
    this.#holds = new EarlierHolds({ engine, client, mounting, singles, claims, clock, logger });
    this.mounter = new MountManager({
      ...{ client, singles, paths, tables, access, orphans, former, compare },
      holds: this.#holds,
      stats: this.#stats,
    });
    this.allocations = new Allocations({
      ...{ client: allocs, engine, claims, bootId, former, compare, singles },
      mounts: (volumes) => this.mounter.told(volumes),
    });
    this.#volumeWatch = new VolumeWatch({
      ...{ nodeId, claims, clock, troubles },
      concerns: [new LostClaims(engine), new Expansions(engine), former],
    });

    const compared = (): Promise<void> | undefined => this.#compared.whenOpen();
    this.kinds = [
      mountKind({
        ...{
          nodeId,
          node,
          claims,
          paths,
          tables,
          baseDirOf,
          bootId,
          timeoutMs,
          compared,
          former,
          shared,
          isDead,
          logger,
        },
        processes: pluginSide.nodeProcesses,
        calls: new PluginCalls({ access, secrets, clock, locks, retry: { ...defaultBackoff, ...retry } }),
        directories: hostMountDirectories({ root: paths.root, readTable, tool }),
        undoing: new MountUndoing({ tables, tool, bootId, logger }),
        isClosed: dataDir.isClosed,
        blockDeviceAt: (path) => blockDeviceAt(path, tool),
        lookSoon: (plugin) => this.#lookSoon(plugin),
      }),
      allocKind(new AllocWorker({ node: nodeId, claims, clock, mounting, compared })),
    ];
    // Mounts that the plugin's process served may have gone with it.
    this.#stopWatching = engine.observe((notice) => {
      const plugin = this.#pluginBack(notice);
      if (plugin !== undefined) this.#lookSoon(plugin);
    });
  }

  /**
   * Compares the mounts of a plugin with the kernel, after a check of the claims: what is in use elsewhere is not
   * mounted again. The start does so for all.
   */
  #lookSoon(plugin: string): void {
    const checked = this.#isStarted ? this.#volumeWatch.lookAtAll() : Promise.resolve();
    void checked.then(() => this.#watch.lookSoon(plugin));
  }

  /** Plugin that another process may serve from here on: an instance is healthy again, or has replaced another one. */
  #pluginBack({ address, state, entry }: CommitNotice): string | undefined {
    const isOf = (kind: string): boolean => address.startsWith(`${nodeOwnedPrefix(kind, this.#nodeId)}csi-node/`);
    const isBack =
      (entry.event?.type === 'fingerprint.changed' && state === 'healthy' && isOf('plugin')) ||
      (entry.event?.type === 'plugins.deregister' && isOf('plugins'));
    return isBack ? addressParts(address)[3] : undefined;
  }

  /**
   * Starts the node side once all actors are restored. Resolves when the mounts in the records have been compared
   * with the kernel, and calls may begin; if the store or the kernel delays that, after a while, and it goes on.
   */
  async start(): Promise<void> {
    const begun = new AbortController();
    void this.#begin().finally(() => begun.abort());
    await pause(this.#clock, startLimitMs, begun.signal);
  }

  async #begin(): Promise<void> {
    // Records of an earlier version are written anew first: until then nobody sees their mounts.
    await this.#engine.inService('');
    if (this.#isRefusing) return;
    const mounts = this.#former.present();
    await this.#untilDone('the place of the mounts', () => this.#former.place(mounts));
    if (this.#isRefusing) return;
    await this.#watch.start();
    await this.#untilDone('the recovery of allocs', () => this.allocations.recover());
    if (this.#isRefusing) return;
    this.#compared.open();
    this.#isStarted = true;
    for (const part of [this.#volumeWatch, this.#singles, this.#holds, this.#stats]) part.start();
  }

  /** Repeats a part of the start until the store takes it. */
  async #untilDone(subject: string, work: () => Promise<void>): Promise<void> {
    while (!this.#isRefusing) {
      try {
        await work();
        this.#troubles.over(this);
        break;
      } catch (error) {
        this.#troubles.failed(this, {
          subject,
          message: `${subject} can't be committed yet: ${messageOf(error)}`,
          cause: error,
        });
        await pause(this.#clock, retryMs);
      }
    }
    this.#troubles.abandon(this);
  }

  /** Looks at once at a volume that has grown, or that this node has lost. The start looks at all. */
  noticed({ volume }: NodeNotice): void {
    if (this.#isStarted && !this.#isRefusing) void this.#volumeWatch.noticed(volume);
  }

  /**
   * Accepts no new work and releases all allocs.
   * @throws StagecraftError DRAIN_FAILED naming what was not released
   */
  async release(): Promise<void> {
    this.allocations.refuse(draining());
    await this.#mounting.hasten();
    await this.allocations.releaseAll(releaseLimitMs);
  }

  /** Makes the directory of mounts visible elsewhere, as in containers, before they start. */
  async share(): Promise<void> {
    await this.#propagation.ensureShared().catch((error: unknown) => {
      // A request for a mount gets the error.
      this.#logger.warn({}, `mounts can't be made here: ${messageOf(error)}`);
    });
  }

  /** Undoes `share` if no mount is left, so that the data directory can be removed. */
  async unshare(): Promise<void> {
    // If nothing was ever mounted, there is nothing to look for.
    if (!existsSync(this.#root)) return;
    const left = await this.#propagation.undoShared();
    if (left) this.#logger.debug({ path: left.path }, `cannot unmount the directory of mounts: ${left.why}`);
  }

  /** Accepts nothing more. */
  refuse(reason?: StagecraftError): void {
    this.#isRefusing = true;
    this.#stopWatching();
    for (const part of [this.#watch, this.#volumeWatch, this.#holds, this.#stats]) part.stop();
    for (const part of [this.mounter, this.allocations]) part.close(reason);
  }
}

const draining = (): StagecraftError =>
  new StagecraftError('RUNTIME_CLOSED', 'this runtime releases all allocs and then ends: it accepts nothing new');
