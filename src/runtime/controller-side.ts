/**
 * The controller side: volumes, snapshots and nodes, on the engine that one of all runtimes is elected to have. Comes
 * and goes with its terms.
 */
import { addressParts, pluginsAddress } from '../../machines/kit/addresses.js';
import { defaultBackoff } from '../../machines/kit/backoff.js';
import { mountMachine } from '../../machines/mount/mount.js';
import { registryMachine } from '../../machines/registry/registry.js';
import type { VolumeKey } from '../../machines/volume/wishes.js';
import { Homes } from '../calls/homes.js';
import { PluginAccess } from '../calls/plugin-access.js';
import { PluginCalls } from '../calls/plugin-calls.js';
import type { PluginPort, PluginTarget } from '../calls/plugin-port.js';
import type { VolumeLocks } from '../calls/volume-locks.js';
import { type CallMethod, startMs } from '../cluster/call-server.js';
import type { Cluster } from '../cluster/cluster.js';
import { forwarded } from '../cluster/forwarded.js';
import { anywhere, callMethods, clusterPluginPort, type FarCalls } from '../cluster/instances.js';
import { csiController } from '../csi-plugins/controller.js';
import { csiSnapshots } from '../csi-plugins/snapshots.js';
import type { Engine } from '../engine/engine.js';
import { HostedMachine } from '../engine/machine/hosted-machine.js';
import { StoredViews } from '../engine/storage/stored-views.js';
import { StagecraftError } from '../errors.js';
import { bootId } from '../host/boot-id.js';
import { mountMigrations } from '../mounts/migrations.js';
import { NodeAdmission, type NodeTarget } from '../nodes/node-admission.js';
import { NodeFence, nodeKind } from '../nodes/node-kind.js';
import { NodeManager } from '../nodes/node-manager.js';
import { NodeReporter } from '../nodes/node-reporter.js';
import { NodeReports } from '../nodes/node-reports.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import { noSecrets } from '../secrets/secrets.js';
import { snapshotKinds } from '../snapshots/snapshot-kinds.js';
import { groupSnapshotManager, type SnapshotManager, snapshotManager } from '../snapshots/snapshot-manager.js';
import type { SnapshotPort } from '../snapshots/snapshot-port.js';
import type { GroupSnapshotSpec, SnapshotSpec } from '../snapshots/snapshot-variants.js';
import type { GroupSnapshot, Snapshot } from '../snapshots/snapshot-view.js';
import { capacityReader } from '../volumes/capacity.js';
import type { ControllerPort } from '../volumes/controller-port.js';
import { CopySources } from '../volumes/copy-sources.js';
import { IdOwners, snapshotIds, volumeIds } from '../volumes/id-owners.js';
import { FormerHolders, UnstagedWitness, type UnstagedWitnessOptions } from '../volumes/node-records.js';
import { type OrphanedVolume, OrphanedVolumes, toldOfOrphans } from '../volumes/orphaned-volumes.js';
import { Reconciler } from '../volumes/reconciler.js';
import type { KnownPlugins } from '../volumes/volume-checks.js';
import { volumeKind } from '../volumes/volume-kind.js';
import { VolumeManager } from '../volumes/volume-manager.js';
import type { Election, EnginePorts } from './election.js';
import { actorsTopic } from './event-topics.js';
import { callLimitsOf, type RuntimeOptions } from './options.js';
import { nodePluginsPort } from './plugin-port.js';

interface ControllerSideOptions {
  runtime: RuntimeOptions;
  ports: EnginePorts;
  election: Election;
  /** Engine of this node, for events and commits of its actors. */
  node: Pick<Engine, 'observe' | 'epoch' | 'topics'>;
  plugins: PluginRegistry;
  /** Plugins as their controller calls see them. */
  port: PluginPort;
  /**
   * Paths where the kernel of this host shows a volume.
   * @throws StagecraftError HOST_UNFIT
   */
  shownHere: UnstagedWitnessOptions['shownHere'];
  /** Volumes that are mounted on this host, or may be. */
  mounted(): VolumeKey[];
  /** Other agents on the store; undefined: the store is of one process. */
  cluster: Cluster | undefined;
  /** Locks for all calls about volumes in this process. */
  locks: VolumeLocks;
}

const defaultReconcileMs = 300_000;
export class ControllerSide {
  readonly nodes: NodeManager;
  readonly volumes: VolumeManager;
  readonly snapshots: SnapshotManager<SnapshotSpec, Snapshot>;
  readonly groupSnapshots: SnapshotManager<GroupSnapshotSpec, GroupSnapshot>;
  /** Nodes that may have a volume mounted by an agent at another place. */
  readonly former: FormerHolders;
  readonly #options: ControllerSideOptions;
  readonly #reconciler: Reconciler;
  readonly #ownNode: NodeReporter;
  /** Number of the last event about orphaned volumes in this term. */
  #orphanEvents = 0;

  constructor(options: ControllerSideOptions) {
    this.#options = options;
    const { runtime, plugins, port: local, locks, cluster, election } = options;
    const { nodeId, secrets = noSecrets } = runtime;
    const { clock, random, logger, troubles } = options.ports;
    const { timeoutMs, maxInFlight } = callLimitsOf(runtime.calls);
    const { engine } = election;

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
    const reports = new NodeReports({ nodes: this.nodes, owner: cluster, epoch: () => options.node.epoch, troubles });
    this.#ownNode = new NodeReporter({
      ...{ nodeId, reports, clock, logger, mounted: options.mounted },
      nodes: cluster ? { find: forwarded(this.nodes, 'nodes', cluster).read('find', this.nodes.find) } : this.nodes,
      plugins: nodePluginsPort(nodeId, options.node, plugins),
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
    /** Drops all indexes of records: each holds for one term only. */
    const forget = (): void => {
      for (const part of [admission, ids.volumes, ids.snapshots, orphans]) part.forget();
    };
    election.observe({
      prepare: async () => cluster?.roster.follow(),
      began: () => {
        this.#orphanEvents = 0;
        forget();
        this.#ownNode.begin();
      },
      ended: () => {
        cluster?.roster.unfollow();
        cluster?.termOver();
        forget();
        for (const part of [this.volumes, this.snapshots, this.groupSnapshots]) part.interrupt();
      },
    });
  }

  /** Reads what the agents of all nodes have in their records. */
  #recordsOfNodes(): StoredViews {
    const { store, clock, logger } = this.#options.ports;
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
    const { node, runtime, election } = this.#options;
    const { clock, logger } = this.#options.ports;
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
    const place = { source: `orphans/${plugin}`, seq: election.lastEpoch, index: this.#orphanEvents };
    void node.topics.append(actorsTopic(runtime.nodeId), { ...place, text: JSON.stringify(event) });
  }

  /** Resolves when this runtime leads and all actors are restored, or when it stands by. */
  async start(): Promise<void> {
    await this.#options.election.engine.start();
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
    const { election, cluster } = this.#options;
    const isLeading = election.leadership.isOurs;
    await election.engine.stop();
    if (isLeading) await cluster?.handOver();
  }
}

interface ControllerCalls {
  controller: ControllerPort;
  snapshots: SnapshotPort;
}

const controllerNames = [
  'createVolume',
  'validateVolume',
  'deleteVolume',
  'controllerPublish',
  'controllerUnpublish',
  'controllerExpand',
  'controllerModify',
  'listVolumes',
  'getCapacity',
] as const;

const snapshotNames = [
  'createSnapshot',
  'deleteSnapshot',
  'getSnapshot',
  'listedSnapshot',
  'groupCapabilities',
  'createGroup',
  'deleteGroup',
  'getGroup',
] as const;

/** Makes the calls on the host that has the plugin, by its agent. */
const callsAnywhere = ({ controller, snapshots }: ControllerCalls, far: FarCalls): ControllerCalls => ({
  controller: anywhere(controller, controllerNames, far),
  snapshots: anywhere(snapshots, snapshotNames, far),
});

/** Lists the calls that other agents may have made here, by name. */
const callsOf = ({ controller, snapshots }: ControllerCalls): [string, CallMethod][] => [
  ...callMethods(controller, controllerNames),
  ...callMethods(snapshots, snapshotNames),
];
