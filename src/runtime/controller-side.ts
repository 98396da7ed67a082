/**
 * The controller side: volumes, snapshots and nodes, under a lease of their own that one of all runtimes holds. Comes
 * and goes with that lease; why: docs/decisions/0010-one-engine-per-lease.md
 */
import { addressParts, isClusterOwned, pluginsAddress } from '../../machines/kit/addresses.js';
import { defaultBackoff } from '../../machines/kit/backoff.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { registryMachine } from '../../machines/registry/registry.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { Homes } from '../calls/homes.js';
import { PluginAccess } from '../calls/plugin-access.js';
import { PluginCalls } from '../calls/plugin-calls.js';
import type { PluginPort, PluginTarget } from '../calls/plugin-port.js';
import type { VolumeLocks } from '../calls/volume-locks.js';
import { startMs } from '../cluster/call-limits.js';
import type { Cluster } from '../cluster/cluster.js';
import { forwarded } from '../cluster/forwarded.js';
import { clusterPluginPort } from '../cluster/instances.js';
import { csiController } from '../csi-plugins/controller.js';
import { csiSnapshots } from '../csi-plugins/snapshots.js';
import type { Inbox } from '../engine/delivery/inbox.js';
import { Engine } from '../engine/engine.js';
import type { EngineOptions } from '../engine/engine-options.js';
import { ElectedEngine } from '../engine/lease/elected-engine.js';
import { HostedMachine } from '../engine/machine/hosted-machine.js';
import { StoredViews } from '../engine/storage/stored-views.js';
import type { TroubleLog } from '../engine/storage/trouble-log.js';
import type { Topics } from '../engine/topics/topics.js';
import { StagecraftError } from '../errors.js';
import { bootId } from '../host/boot-id.js';
import { mountMigrations } from '../mounts/migrations.js';
import { NodeAdmission, type NodeTarget } from '../nodes/node-admission.js';
import { NodeFence } from '../nodes/node-fence.js';
import { nodeKind } from '../nodes/node-kind.js';
import { NodeManager } from '../nodes/node-manager.js';
import { NodeReporter } from '../nodes/node-reporter.js';
import { NodeReports } from '../nodes/node-reports.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import { noSecrets } from '../secrets/secrets.js';
import { snapshotKinds } from '../snapshots/snapshot-kinds.js';
import { groupSnapshotManager, type SnapshotManager, snapshotManager } from '../snapshots/snapshot-manager.js';
import type { GroupSnapshotSpec, SnapshotSpec } from '../snapshots/snapshot-variants.js';
import type { GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { capacityReader } from '../volumes/capacity.js';
import { CopySources } from '../volumes/copy-sources.js';
import { IdOwners, snapshotIds, volumeIds } from '../volumes/id-owners.js';
import { type NodeNotice, onNodeNotice } from '../volumes/node-notices.js';
import { FormerHolders, UnstagedWitness, type UnstagedWitnessOptions } from '../volumes/node-records.js';
import { type OrphanedVolume, OrphanedVolumes, toldOfOrphans } from '../volumes/orphaned-volumes.js';
import { Reconciler } from '../volumes/reconciler.js';
import type { KnownPlugins } from '../volumes/volume-checks.js';
import { volumeKind } from '../volumes/volume-kind.js';
import { VolumeManager } from '../volumes/volume-manager.js';
import { actorsTopic } from './event-topics.js';
import { callsAnywhere, callsOf } from './far-calls.js';
import { keepTelling, type Leadership, leadershipOf, type Term, tellElected } from './leadership.js';
import type { RuntimeOptions } from './options.js';
import { nodePluginsPort, pluginPort, type TaskIdOf } from './plugin-port.js';

interface ControllerSideOptions {
  runtime: RuntimeOptions;
  /** Ports and limits that all engines of the runtime share. */
  engine: Pick<EngineOptions, 'store' | 'clock' | 'random' | 'logger' | 'policy' | 'feed'> & { troubles: TroubleLog };
  lease: Pick<EngineOptions['lease'], 'owner' | 'holder' | 'reads'>;
  /** Topics of the node's engine, which outlives every term. */
  topics: Topics;
  /** Inbox of the actors of this node. */
  node: Inbox;
  /** Commits of the actors of this node. */
  watched: Pick<Engine, 'observe' | 'epoch'>;
  plugins: PluginRegistry;
  taskIdOf: TaskIdOf;
  /**
   * Paths where the kernel of this host shows a volume.
   * @throws StagecraftError HOST_UNFIT
   */
  shownHere: UnstagedWitnessOptions['shownHere'];
  /** Takes notices for this node. */
  noticed(notice: NodeNotice): void;
  /** Volumes that are mounted on this host, or may be. */
  mounted(): VolumeKey[];
  /** Other agents on the store; undefined: the store is of one process. */
  cluster: Cluster | undefined;
  /** Locks for all calls about volumes in this process. */
  locks: VolumeLocks;
}

const defaultReconcileMs = 300_000;
/** One lease for all volumes. */
const leaseName = 'volumes/0';
/** Time from the leader's last sign of life to the moment when another agent may lead. */
const leaseTtlMs = 6_000;
/** Pauses between requests for the lease: agents without healthy controllers, which may be many, ask less often. */
const retryMs = { able: 250, unable: 1_000 };

export class ControllerSide {
  readonly nodes: NodeManager;
  readonly volumes: VolumeManager;
  readonly snapshots: SnapshotManager<SnapshotSpec, Snapshot>;
  readonly groupSnapshots: SnapshotManager<GroupSnapshotSpec, GroupSnapshot>;
  readonly leadership: Leadership;
  readonly engine: ElectedEngine;
  /** Nodes that may have a volume mounted by an agent at another place. */
  readonly former: FormerHolders;
  /** Plugins of this node as their controller calls see them. */
  readonly plugins: PluginPort;
  readonly #options: ControllerSideOptions;
  readonly #reconciler: Reconciler;
  readonly #ownNode: NodeReporter;
  readonly #orphans: OrphanedVolumes;
  /** Number of the last event about orphaned volumes in this term. */
  #orphanEvents = 0;
  #term: Term | undefined;
  #isLeaderSilent = false;

  constructor(options: ControllerSideOptions) {
    this.#options = options;
    const { runtime, plugins, taskIdOf, locks } = options;
    const { nodeId, calls: limits = {}, secrets = noSecrets } = runtime;
    const { clock, random, logger, troubles } = options.engine;
    const { timeoutMs = 120_000, maxInFlightPerPlugin: maxInFlight = 64 } = limits;
    const { cluster } = options;
    const local = pluginPort(plugins, taskIdOf);
    this.plugins = local;
    const engine = electedEngine(options, {
      hasControllers: () => plugins.registered('csi-controller').length > 0,
      canCall: () =>
        plugins.registered('csi-controller').some(({ name }) => local.observation(name).trouble === undefined),
      refused: (isSilent) => {
        this.#isLeaderSilent = isSilent;
      },
      elected: (term) => {
        this.#term = term;
        this.#orphanEvents = 0;
        forget();
        this.#ownNode.begin();
      },
      resigned: () => {
        cluster?.roster.unfollow();
        cluster?.termOver();
        forget();
        for (const part of [this.volumes, this.snapshots, this.groupSnapshots]) part.interrupt();
      },
    });
    this.engine = engine;
    this.leadership = leadershipOf(engine, () => this.#isLeaderSilent);

    const ids = {
      volumes: new IdOwners({ engine, clock }, volumeIds),
      snapshots: new IdOwners({ engine, clock }, snapshotIds),
    };
    const sources = new CopySources(ids);
    const stored = this.#recordsOfNodes();
    const former = new FormerHolders({ stored, clock, trouble: () => engine.storeTrouble() });
    this.former = former;
    this.nodes = new NodeManager({
      ...{ engine, clock },
      witness: new UnstagedWitness({ nodeId, bootId: bootId(), shownHere: options.shownHere, stored, former }),
      ownReport: (id) => (id === nodeId ? this.#ownNode.report : undefined),
    });
    const target = (node: string, plugin: string): NodeTarget => {
      engine.leader();
      return this.nodes.target(node, plugin);
    };
    const admission = new NodeAdmission({ engine, clock, random, target });
    const fence = new NodeFence({ engine, clock, logger, troubles, admission });
    /** Drops all indexes of records: each holds for one term only. */
    const forget = (): void => {
      for (const part of [admission, ids.volumes, ids.snapshots, this.#orphans]) part.forget();
    };
    const { watched } = options;
    const reports = new NodeReports({ nodes: this.nodes, owner: cluster, epoch: () => watched.epoch, troubles });
    this.#ownNode = new NodeReporter({
      ...{ nodeId, reports, clock, logger, mounted: options.mounted },
      nodes: cluster ? { find: forwarded(this.nodes, 'nodes', cluster).read('find', this.nodes.find) } : this.nodes,
      plugins: nodePluginsPort(nodeId, watched, plugins),
    });

    const port = cluster ? clusterPluginPort({ local, roster: cluster.roster, nodeId }) : local;
    const access = new PluginAccess(port, { clock, maxInFlight });
    const own = { controller: csiController({ timeoutMs }), snapshots: csiSnapshots({ timeoutMs }) };
    cluster?.serveCalls({ access, locks, secrets, methods: new Map(callsOf(own)) });
    const { controller, snapshots } = cluster ? callsAnywhere(own, { calls: cluster.calls, timeoutMs }) : own;
    const far = cluster ? { startMs } : {};
    const homes = new Homes({
      nodeId,
      scopeOf: (plugin) => access.scope(plugin),
      nodesAt: (plugin, topology) => this.nodes.at(plugin, topology),
      stateOf: (id) => this.nodes.stateOf(id),
      ...(cluster && {
        troubleAt: (plugin: string, node: string) => access.troubleAt(plugin, node === nodeId ? undefined : node),
        nodeFor: (target: PluginTarget) => access.nodeFor(target),
        hasInstance: (plugin: string, node: string) => access.hasInstance(plugin, node === nodeId ? undefined : node),
      }),
    });
    const orphans = new OrphanedVolumes({ changed: (plugin, found) => this.#tellOrphans(plugin, found) });
    this.#orphans = orphans;
    this.#reconciler = new Reconciler({
      ...{ engine, controller, access, clock, logger, troubles, orphans },
      homes: (plugin) => (access.scope(plugin) === 'host' ? access.nodes(plugin).map((node) => node ?? nodeId) : []),
      plugins: () => [
        ...plugins.registered('csi-controller').map(({ name }) => name),
        ...[...(cluster?.roster.members.values() ?? [])].flatMap((member) => Object.keys(member.plugins)),
      ],
      nodesOf: (plugin) => this.nodes.byCsiId(plugin),
      isAt: (plugin, home, node) => homes.isAt(plugin, home, node),
      refusal: () => engine.refusal,
      intervalMs: runtime.reconcile?.intervalMs ?? defaultReconcileMs,
    });
    const known: KnownPlugins = {
      // Refuses first if another agent leads: that agent may know plugins that this agent does not.
      isKnownPlugin: (plugin) => {
        engine.leader();
        return port.isKnown(plugin);
      },
      ...(cluster && { refresh: () => cluster.refresh() }),
    };
    const named = { engine, clock, random, secrets, homes, sources, namePrefix: runtime.volumeNamePrefix ?? 'sc' };
    this.snapshots = snapshotManager(named);
    this.groupSnapshots = groupSnapshotManager(named);
    this.volumes = new VolumeManager({
      ...{ ...named, ids: ids.volumes, reconciler: this.#reconciler, orphans, former, ...known, admission, target },
      driverOf: (plugin) => access.driver(plugin),
      publishesHere: (plugin) => access.offers(plugin, 'PUBLISH_UNPUBLISH_VOLUME') && !homes.isFar({ plugin }),
      capacity: capacityReader({ access, controller, timeoutMs, ...known }),
    });

    const retry = { ...defaultBackoff, ...runtime.retry };
    const calls = new PluginCalls({ access, homes, secrets, clock, retry, locks });
    engine.host([
      volumeKind({
        ...{ controller, calls, timeoutMs, ...far, ids: ids.volumes, sources },
        topologiesOf: (plugin) => this.nodes.topologiesOf(plugin),
        lookSoon: (plugin) => this.#reconciler.lookSoon(plugin),
      }),
      ...snapshotKinds({ snapshots, calls, timeoutMs, ...far, ids: ids.snapshots, sources }),
      nodeKind({ afterMs: runtime.fencing?.afterMs, clock, fence }),
    ]);
    onNodeNotice(engine, (node, notice) => {
      if (node === nodeId) options.noticed(notice);
      else void cluster?.notify(node, notice);
    });
  }

  /** The term in which this runtime leads; undefined: it does not. */
  get term(): Term | undefined {
    return this.leadership.isOurs ? this.#term : undefined;
  }

  /** Reads what the agents of all nodes have in their records. */
  #recordsOfNodes(): StoredViews {
    const { store, clock, logger } = this.#options.engine;
    const readers = new Map([
      ['mount', { machine: HostedMachine.of(mountMachine), kind: { migrations: mountMigrations } }],
      ['registry', { machine: HostedMachine.of(registryMachine), kind: {} }],
    ]);
    return new StoredViews({
      ...{ store, clock, logger, readerOf: (address: string) => readers.get(addressParts(address)[0] ?? '') },
      unreadable: (address, why) => {
        const message = `what its own agent says of ${address} can't be read here: ${why}; report it where that agent runs`;
        return new StagecraftError('VOLUME_IN_USE', message, { address });
      },
    });
  }

  /** Logs volumes that no record has, and emits an event of this node's agent. */
  #tellOrphans(plugin: string, found: readonly OrphanedVolume[]): void {
    const { topics, runtime } = this.#options;
    const { clock, logger } = this.#options.engine;
    const reason = toldOfOrphans(plugin, found);
    logger[found.length > 0 ? 'warn' : 'info']({ plugin }, `${reason}: see 'stagecraft volume orphans'`);
    const event = {
      type: 'actor.orphaned-volumes',
      at: clock.now(),
      address: pluginsAddress(runtime.nodeId, 'csi-controller', plugin),
      reason,
    };
    this.#orphanEvents += 1;
    // Another runtime leads if there is no term: its comparison finds them again.
    const place = { source: `orphans/${plugin}`, seq: this.#term?.epoch ?? 0, index: this.#orphanEvents };
    void topics.append(actorsTopic(runtime.nodeId), { ...place, text: JSON.stringify(event) });
  }

  /** Resolves when this runtime leads and all actors are restored, or when it stands by. */
  async start(): Promise<void> {
    await this.engine.start();
    this.#reconciler.start();
    this.#ownNode.start();
  }

  /** Accepts nothing more. */
  refuse(reason?: StagecraftError): void {
    this.#reconciler.stop();
    this.#ownNode.stop();
    for (const part of [this.volumes, this.snapshots, this.groupSnapshots, this.nodes]) part.close(reason);
  }

  /** Ends what is under way and gives the lease back: another agent takes over. */
  async stop(): Promise<void> {
    const isLeading = this.leadership.isOurs;
    await this.engine.stop();
    if (isLeading) await this.#options.cluster?.handOver();
  }
}

function electedEngine(
  { engine: ports, lease: { owner, ...lease }, topics, node, runtime, cluster }: ControllerSideOptions,
  { hasControllers, canCall, refused, elected, resigned }: Campaign,
): ElectedEngine {
  const { clock, random, logger, troubles, store } = ports;
  const { nodeId } = runtime;
  const holder = `node ${nodeId}, ${lease.holder}`;
  const engine: ElectedEngine = new ElectedEngine({
    engine: () =>
      new Engine({
        ...ports,
        topics,
        lease: {
          ...{ ...(owner !== undefined && { owner }), name: leaseName, holder, ttlMs: leaseTtlMs },
          ...{ ...(lease.reads && { reads: lease.reads }), standsBy: true },
          ...{ covers: isClusterOwned, wants: canCall },
          inUse: (by, isSilent, tooOld) => {
            refused(isSilent);
            return notLeader(by, { isSilent, isForwarded: cluster !== undefined, tooOld });
          },
          wanted: () => {
            if (!hasControllers()) engine.yield(yielding());
          },
        },
        elsewhere: node,
      }),
    stored: new StoredViews({
      store,
      clock,
      logger,
      readerOf: (address) => engine.engine.readerOf(address),
      unreadable: (address, why) =>
        new StagecraftError(
          'NOT_LEADER',
          `only the agent that leads can read ${address} (${why}): ask that one, or update this one`,
          {
            address,
          },
        ),
    }),
    topics,
    clock,
    random,
    logger,
    troubles,
    never: runtime.cluster?.own === 'never' ? neverOwns() : undefined,
    retryMs: () => (!cluster || canCall() ? retryMs.able : retryMs.unable),
    prepare: async () => cluster?.roster.follow(),
    elected: ({ epoch, tookOver, ended }) => {
      // An agent that leads from its start has nothing new to log.
      logger[tookOver ? 'info' : 'debug']({ epoch }, 'this agent leads: it works on volumes and nodes from here on');
      const at = clock.now();
      elected({ sinceMs: at, epoch });
      const event = { at, nodeId, leader: holder, epoch, ...(cluster && { inbox: cluster.inbox }) };
      void tellElected(topics, { lease: leaseName, event });
      if (cluster) void keepTelling({ store, clock }, { lease: leaseName, event }, ended);
    },
    resigned,
  });
  return engine;
}

/** An agent's part in the choice of the one that leads. */
interface Campaign {
  /** Whether a controller plugin is registered. */
  hasControllers(): boolean;
  /** Whether a controller plugin can be called. */
  canCall(): boolean;
  /** Called when another agent has the lease. `isSilent`: it has missed its renewals for half of the lease's time. */
  refused(isSilent: boolean): void;
  elected(term: Term): void;
  resigned(): void;
}

interface Refused {
  isSilent: boolean;
  /** Whether requests made here go to the leader. */
  isForwarded: boolean;
  /** Why this agent can't take over. */
  tooOld: StagecraftError | undefined;
}

function notLeader(holder: string, { isSilent, isForwarded, tooOld }: Refused): StagecraftError {
  const half = Math.ceil(leaseTtlMs / 2_000);
  if (isSilent) {
    const next = `${tooOld ? `an agent that is not older than it` : 'another'} takes over once its lease lapses, within ${half} s`;
    const message = `the agent that works on volumes (${holder}) has been silent for more than ${half} s; ${next}`;
    return new StagecraftError('NOT_LEADER', isForwarded ? message : `${message}: ask again then`, { cause: tooOld });
  }
  const advice = isForwarded ? 'requests made here go there' : 'ask that agent';
  const until = `this one takes over when that one stops, or has been silent for ${leaseTtlMs / 1_000} s`;
  const then = tooOld?.message ?? until;
  return new StagecraftError('NOT_LEADER', `${holder}, works on volumes: ${advice}; ${then}`, { cause: tooOld });
}

const neverOwns = (): StagecraftError =>
  new StagecraftError('NOT_LEADER', 'no agent is known that works on volumes: this one never does (cluster.own)');

const yielding = (): StagecraftError =>
  new StagecraftError(
    'NOT_LEADER',
    'this agent has no controller plugins: another one that has takes over the work on volumes, within seconds',
  );
