/**
 * What is of no node, put together: volumes and nodes, under a lease of their own that one runtime of all holds. The
 * part of runtime.ts that comes and goes with that lease; why: docs/decisions/0010-one-engine-per-lease.md
 */
import { clusterOwnedPrefixes, isClusterOwned } from '../../machines/kit/addresses.js';
import { defaultBackoff } from '../../machines/kit/backoff.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { Homes } from '../calls/homes.js';
import { PluginAccess } from '../calls/plugin-access.js';
import { PluginCalls } from '../calls/plugin-calls.js';
import type { VolumeLocks } from '../calls/volume-locks.js';
import { csiController } from '../csi-plugins/controller.js';
import { csiSnapshots } from '../csi-plugins/snapshots.js';
import { pause } from '../engine/clock.js';
import type { Inbox } from '../engine/delivery/inbox.js';
import { Engine, type EngineOptions } from '../engine/engine.js';
import { ElectedEngine } from '../engine/lease/elected-engine.js';
import { StoredViews } from '../engine/storage/stored-views.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import type { Cursor } from '../engine/store.js';
import type { Topics } from '../engine/topics/topics.js';
import { messageOf, StagecraftError } from '../errors.js';
import { bootId } from '../host/boot-id.js';
import { NodeAdmission } from '../nodes/node-admission.js';
import { NodeFence } from '../nodes/node-fence.js';
import { nodeKind } from '../nodes/node-kind.js';
import { NodeManager } from '../nodes/node-manager.js';
import type { NodeTarget } from '../nodes/node-port.js';
import { NodeReporter } from '../nodes/node-reporter.js';
import { NodeReports } from '../nodes/node-reports.js';
import { observed } from '../nodes/observed-time.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import { noSecrets } from '../secrets/secrets.js';
import { snapshotKinds } from '../snapshots/snapshot-kinds.js';
import { groupSnapshotManager, type SnapshotManager, snapshotManager } from '../snapshots/snapshot-manager.js';
import type { GroupSnapshotSpec, SnapshotSpec } from '../snapshots/snapshot-spec.js';
import type { GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { capacityReader } from '../volumes/capacity.js';
import { IdOwners, snapshotIds, volumeIds } from '../volumes/id-owners.js';
import { Reconciler } from '../volumes/reconciler.js';
import { UnstagedWitness, type UnstagedWitnessOptions } from '../volumes/unstaged-witness.js';
import { type VolumeEvent, volumeEventOf } from '../volumes/volume-events.js';
import { volumeKind, volumesTopic } from '../volumes/volume-kind.js';
import { VolumeManager } from '../volumes/volume-manager.js';
import { type Leadership, leadershipOf, tellElected } from './leadership.js';
import type { RuntimeOptions } from './options.js';
import { type IsTasked, nodePluginsPort, pluginPort } from './plugin-port.js';

export interface ControllerSideOptions {
  runtime: RuntimeOptions;
  /** Ports and limits as all engines of the runtime have them. */
  engine: Pick<EngineOptions, 'store' | 'clock' | 'random' | 'logger' | 'policy'> & { troubles: TroubleLog };
  lease: Pick<EngineOptions['lease'], 'owner' | 'holder'>;
  /** Of the node's engine, which outlives every term here. */
  topics: Topics;
  /** Takes what is sent to the actors of this node. */
  node: Inbox;
  /** Tells of the commits of the actors of this node. */
  watched: Pick<Engine, 'observe' | 'epoch'>;
  plugins: PluginRegistry;
  isTasked: IsTasked;
  /** Paths where the kernel of this host shows a volume. @throws StagecraftError HOST_UNFIT */
  shownHere: UnstagedWitnessOptions['shownHere'];
  /** Of the calls about volumes in this process. */
  locks: VolumeLocks;
}

const defaultReconcileMs = 300_000;
const followRetryMs = 1_000;
/** One shard has them all. */
const leaseName = 'volumes/0';
/** From the last sign of life of the one that leads to the moment when another may. */
const leaseTtlMs = 6_000;

export class ControllerSide {
  readonly nodes: NodeManager;
  readonly volumes: VolumeManager;
  readonly snapshots: SnapshotManager<SnapshotSpec, Snapshot>;
  readonly groupSnapshots: SnapshotManager<GroupSnapshotSpec, GroupSnapshot>;
  readonly leadership: Leadership;
  readonly engine: ElectedEngine;
  readonly #options: ControllerSideOptions;
  readonly #reconciler: Reconciler;
  readonly #reports: NodeReports;
  readonly #ownNode: NodeReporter;

  constructor(options: ControllerSideOptions) {
    this.#options = options;
    const { runtime, plugins } = options;
    const { clock, random, logger, troubles } = options.engine;
    const { timeoutMs = 120_000, maxInFlightPerPlugin: maxInFlight = 64 } = runtime.calls ?? {};
    const port = pluginPort(() => plugins, options.isTasked);
    const access = new PluginAccess(port, { clock, maxInFlight });
    const controller = csiController({ timeoutMs });
    const secrets = runtime.secrets ?? noSecrets;
    const homes = new Homes({
      nodeId: runtime.nodeId,
      scopeOf: (plugin) => access.scope(plugin),
      nodesAt: (plugin, topology) => this.nodes.at(plugin, topology),
      stateOf: (nodeId) => this.nodes.stateOf(nodeId),
    });
    const calls = new PluginCalls({
      access,
      homes,
      secrets,
      clock,
      retry: { ...defaultBackoff, ...runtime.retry },
      locks: options.locks,
    });
    const kinds = [
      volumeKind({
        controller,
        calls,
        timeoutMs,
        ids: () => ids.volumes,
        hindered: (plugin) => this.#reconciler.lookSoon(plugin),
      }),
      ...snapshotKinds({ snapshots: csiSnapshots({ timeoutMs }), calls, timeoutMs, ids: () => ids.snapshots }),
      nodeKind({
        afterMs: runtime.fencing?.afterMs,
        after: (delayMs, signal) => observed(clock, delayMs, signal),
        release: (fencing) => fence.release(fencing),
        withdraw: (fencing) => fence.withdraw(fencing),
      }),
    ];
    this.engine = electedEngine(options, kinds, {
      hasControllers: () => plugins.list('csi-controller').length > 0,
      elected: () => {
        forget();
        this.#ownNode.begin();
      },
      resigned: () => {
        forget();
        for (const part of [this.volumes, this.snapshots, this.groupSnapshots]) part.interrupt();
      },
    });
    const ports = { engine: this.engine, clock };
    const ids = { volumes: new IdOwners(ports, volumeIds), snapshots: new IdOwners(ports, snapshotIds) };
    /** Drops all readings of records: each holds for one term only. */
    const forget = (): void => {
      for (const part of [admission, ids.volumes, ids.snapshots]) part.forget();
    };
    this.leadership = leadershipOf(this.engine);
    const witness = new UnstagedWitness({
      nodeId: runtime.nodeId,
      bootId: bootId(),
      shownHere: options.shownHere,
      stored: new StoredViews({
        store: options.engine.store,
        clock,
        versionOf: () => String(mountMachine.version ?? '1'),
        unreadable: (address, why) => {
          const message = `what its own agent says of ${address} can't be read here: ${why}; report it where that agent runs`;
          return new StagecraftError('VOLUME_IN_USE', message, { address });
        },
      }),
    });
    this.nodes = new NodeManager({
      ...{ ...ports, witness },
      ownReport: (id) => (id === runtime.nodeId ? this.#ownNode.report : undefined),
    });
    const target = (node: string, plugin: string): NodeTarget => {
      this.engine.leader();
      return this.nodes.target(node, plugin);
    };
    const admission = new NodeAdmission({ engine: this.engine, clock, random, target });
    const fence = new NodeFence({ engine: this.engine, clock, troubles, admission });
    const { nodeId } = runtime;
    const own = nodePluginsPort(nodeId, options.watched, plugins);
    this.#reports = new NodeReports({
      nodes: this.nodes,
      topics: options.topics,
      leads: () => this.engine.refusal === undefined,
      epoch: () => options.watched.epoch,
      clock,
      logger,
      troubles,
    });
    this.#ownNode = new NodeReporter({
      nodeId,
      plugins: own,
      nodes: this.nodes,
      reports: this.#reports,
      clock,
      logger,
    });
    this.#reconciler = new Reconciler({
      engine: this.engine,
      controller,
      access,
      nodesOf: (plugin) => this.nodes.byCsiId(plugin),
      isHere: (plugin, home) => homes.isHere(plugin, home),
      refusal: () => this.engine.refusal,
      clock,
      logger,
      troubles,
      intervalMs: runtime.reconcile?.intervalMs ?? defaultReconcileMs,
    });
    // Another agent leads, and may know plugins that this one does not: who is asked is told first.
    const isKnownPlugin = (plugin: string): boolean => {
      this.engine.leader();
      return port.isKnown(plugin);
    };
    const named = { engine: this.engine, clock, random, secrets, homes, namePrefix: runtime.volumeNamePrefix ?? 'sc' };
    this.snapshots = snapshotManager(named);
    this.groupSnapshots = groupSnapshotManager(named);
    this.volumes = new VolumeManager({
      ...named,
      ids: ids.volumes,
      driverOf: (plugin) => port.sight(plugin).driver,
      reconciler: this.#reconciler,
      isKnownPlugin,
      needsPublish: (plugin) => access.offers(plugin, 'PUBLISH_UNPUBLISH_VOLUME'),
      admission,
      target,
      // Changes nothing: whoever has the plugin may ask it.
      capacity: capacityReader({
        access,
        controller,
        timeoutMs,
        isKnownPlugin: (plugin) => port.isKnown(plugin) || isKnownPlugin(plugin),
      }),
    });
  }

  /** Calls back with what happens to volumes, whoever leads; the answer ends that. */
  onVolumeEvent(callback: (event: VolumeEvent) => void): () => void {
    const { topics, engine } = this.#options;
    const end = new AbortController();
    void (async () => {
      let from: Cursor | 'now' = 'now';
      while (!end.signal.aborted) {
        try {
          for await (const row of topics.follow(volumesTopic, from, end.signal)) {
            from = row.cursor;
            callback(volumeEventOf(row));
          }
        } catch (error) {
          engine.logger.debug({}, `events of volumes can't be read now: ${messageOf(error)}`);
          await pause(engine.clock, followRetryMs, end.signal);
        }
      }
    })();
    return () => end.abort();
  }

  /** Resolves when it leads, all brought back, or stands by. */
  async start(): Promise<void> {
    await this.engine.start();
    this.#reconciler.start();
    this.#reports.start();
    this.#ownNode.start();
  }

  /** Nothing is taken any more. */
  refuse(reason?: StagecraftError): void {
    this.#reconciler.stop();
    this.#ownNode.stop();
    this.#reports.stop();
    for (const part of [this.volumes, this.snapshots, this.groupSnapshots, this.nodes]) part.close(reason);
  }

  /** Ends what is under way and gives the lease back: who stands by takes over. */
  stop(): Promise<void> {
    return this.engine.stop();
  }
}

function electedEngine(
  { engine: ports, lease: { owner, ...lease }, topics, node, runtime }: ControllerSideOptions,
  kinds: EngineOptions['kinds'],
  { hasControllers, elected, resigned }: { hasControllers: () => boolean; elected: () => void; resigned: () => void },
): ElectedEngine {
  const { clock, random, logger, troubles, store } = ports;
  const { nodeId } = runtime;
  const holder = `node ${nodeId}, ${lease.holder}`;
  const versions = new Map(kinds.map(({ machine }) => [machine.id, String(machine.version ?? '1')]));
  const engine: ElectedEngine = new ElectedEngine({
    engine: () =>
      new Engine({
        ...ports,
        kinds,
        topics,
        lease: {
          ...{ ...(owner !== undefined && { owner }), name: leaseName, holder, ttlMs: leaseTtlMs },
          ...{ covers: isClusterOwned, inUse: notLeader, wants: hasControllers },
          wanted: () => {
            if (!hasControllers()) engine.yield(yielding());
          },
        },
        elsewhere: node,
      }),
    prefixes: clusterOwnedPrefixes,
    stored: new StoredViews({
      store,
      clock,
      versionOf: (address) => versions.get(address.slice(0, address.indexOf('/'))),
      unreadable: (address, why) =>
        new StagecraftError('NOT_LEADER', `only the agent that leads can read ${address} (${why}): ask that one`, {
          address,
        }),
    }),
    topics,
    clock,
    random,
    logger,
    troubles,
    elected: ({ epoch, tookOver }) => {
      // One that leads as it comes up has nothing new to say.
      logger[tookOver ? 'info' : 'debug']({ epoch }, 'this agent leads: it works on volumes and nodes from here on');
      elected();
      void tellElected(topics, leaseName, { at: clock.now(), nodeId, leader: holder, epoch });
    },
    resigned,
  });
  return engine;
}

function notLeader(holder: string, isSilent: boolean): StagecraftError {
  const half = Math.ceil(leaseTtlMs / 2_000);
  const message = isSilent
    ? `nobody is known to lead volumes now: ${holder} led last, and has been silent for more than ${half} s; another agent takes over once its lease lapses, within ${half} s: ask again then`
    : `volumes are led by ${holder}: ask that agent; this one takes over when that one stops, or has been silent for ${leaseTtlMs / 1_000} s`;
  return new StagecraftError('NOT_LEADER', message);
}

const yielding = (): StagecraftError =>
  new StagecraftError(
    'NOT_LEADER',
    'this agent has no controller plugins, and lets another one lead that has: nobody leads until that takes over, within seconds; ask again then',
  );
