/**
 * Parts of a runtime: ports with their defaults, two engines, and three sides on them. Each part is made of those
 * above it; those that need each other are connected then. How they start and stop: runtime-life.ts. The walk of a call:
 * docs/architecture.md
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isClusterOwned, nodeOf } from '../../machines/kit/addresses.js';
import { VolumeLocks } from '../calls/volume-locks.js';
import { Cluster, inboxOf } from '../cluster/cluster.js';
import { MessageCounts } from '../cluster/message-counts.js';
import { defaultPolicy } from '../engine/actor/policy.js';
import { systemClock } from '../engine/clock.js';
import { Engine } from '../engine/engine.js';
import { Feed } from '../engine/feed.js';
import { silentLogger } from '../engine/logger.js';
import { systemRandom } from '../engine/random.js';
import { SharedStore } from '../engine/storage/shared-store.js';
import { TroubleLog } from '../engine/storage/trouble-log.js';
import { storeLevel } from '../engine/store-level.js';
import { StagecraftError } from '../errors.js';
import { type DataDir, openDataDir } from '../host/data-dir.js';
import { packageVersion } from '../host/version.js';
import { MountClient } from '../mounts/mount-client.js';
import { MountTables, shownHere } from '../mounts/mount-tables.js';
import { mountPaths } from '../mounts/paths.js';
import { lmdbStore } from '../stores/lmdb/lmdb.js';
import { onNodeNotice } from '../volumes/node-notices.js';
import { actorControl, actorEngines, journalOf } from './actor-records.js';
import { actorsOnAnyAgent, claimsOnAnyAgent, onAnyAgent, wireOf } from './any-agent.js';
import { clusterOverview } from './cluster-overview.js';
import { ControllerSide } from './controller-side.js';
import { Election } from './election.js';
import { actorsTopic } from './event-topics.js';
import { routeIn } from './leadership.js';
import { localClaims } from './local-claims.js';
import { NodeSide } from './node-side.js';
import { checkedListener, checkRuntimeOptions, inspecting, type RuntimeOptions } from './options.js';
import { PluginSide, presenceOf } from './plugin-side.js';
import { requestsByHand } from './requests-by-hand.js';
import type { Runtime, StoreStatus } from './runtime-api.js';
import { PluginNames, RuntimeEvents } from './runtime-events.js';
import { LeftStore, RuntimeLife } from './runtime-life.js';
import { RuntimeCounters } from './runtime-stats.js';

export { type Shown, shown } from '../host/shown.js';
export type { InspectedActor, Journal } from './actor-records.js';
export { openJournalIn, openStoredJournal, type StoredJournal } from './actor-records.js';
export type { AgentPlugin } from './cluster-overview.js';
export type { EventTopic, RuntimeEvent } from './event-topics.js';
export { eventTopics } from './event-topics.js';
export type { LeadershipEvent } from './leadership.js';
export type { FeedListener } from './options.js';
export type {
  Allocations,
  GroupSnapshots,
  Mounts,
  Nodes,
  Plugins,
  Runtime,
  Snapshots,
  StoreStatus,
  Tasks,
  Volumes,
} from './runtime-api.js';
export { type EventFilter, type Events, isAskedFor } from './runtime-events.js';

/** Undefined if the address belongs to no node. */
function nodeIn(address: string): string | undefined {
  try {
    return nodeOf(address);
  } catch {
    return undefined;
  }
}

/** Time from the last sign of life of a node's runtime to the moment when another one may take over its actors. */
const nodeLeaseTtlMs = 15_000;

const openAsBefore = (path: string): string =>
  `all users of this host pass through ${path} to its volumes, whose paths /proc/self/mountinfo shows them, and a set-user-id program in one makes them root: set dataDirAccess to owner or to a group; or to everyone, and mount with nosuid`;

/**
 * Brings up a runtime: takes the data directory, restores every actor of this node, resumes what was under way.
 * @throws StagecraftError INVALID_ARGUMENT, DATA_DIR_LOCKED (another runtime has it), DATA_DIR_UNUSABLE,
 *   NODE_IN_USE (another runtime has this nodeId), STORE_TOO_NEW (a newer version wrote what is stored), STORE_DAMAGED,
 *   STORE_UNUSABLE (the embedded store cannot be opened), STORE_UNAVAILABLE (another one gives no answer), START_FAILED
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkRuntimeOptions(options);
  const dataDir = openDataDir(options.dataDir, options.dataDirAccess);
  try {
    const parts = partsOf(options, dataDir);
    // Serves requests of other agents before they can come: from the start of the cluster on.
    const runtime = runtimeOf(parts);
    await parts.life.start();
    return runtime;
  } catch (error) {
    dataDir.unlock();
    throw error;
  }
}

/** Makes all parts, and connects them. */
function partsOf(options: RuntimeOptions, dataDir: DataDir) {
  const { nodeId, clock = systemClock, random = systemRandom, logger = silentLogger, retention = {} } = options;
  if (dataDir.isOpenAsBefore) logger.warn({ dataDir: dataDir.path }, openAsBefore(dataDir.path));
  const shared = new SharedStore(options.store ?? lmdbStore(join(dataDir.path, 'state')));
  const troubles = new TroubleLog({ clock, logger });
  const feed = new Feed(clock, logger);
  if (options.inspect) inspecting(feed, options.inspect);
  const policy = {
    topic: actorsTopic(nodeId),
    journal: { ...defaultPolicy.journal, ...(retention.journalEntries && { keep: retention.journalEntries }) },
  };
  const ports = { clock, random, logger, troubles, policy, feed };

  // The actors of this node, on an engine of their own.
  const lease = {
    // The earlier holder of this lock is dead: its leases need not lapse first.
    owner: dataDir.holderId,
    holder: `the runtime of ${dataDir.path} on ${hostname()}, pid ${process.pid}`,
    reads: { level: storeLevel, version: packageVersion() },
  };
  const covers = (address: string): boolean => !isClusterOwned(address) && nodeIn(address) === nodeId;
  const engine = new Engine({
    ...{ ...ports, store: shared.handle() },
    topics: retention.topicEvents ? { keep: retention.topicEvents } : {},
    lease: { ...lease, name: `node/${nodeId}`, ttlMs: nodeLeaseTtlMs, covers },
  });
  const messages = new MessageCounts();
  const stats = new RuntimeCounters(messages);
  const mounts = new MountClient({ node: nodeId, engine, clock });
  const tables = new MountTables();
  const { socketRoot, salt } = dataDir;
  const paths = { dataDir: dataDir.path, socketRoot, ...(salt !== undefined && { salt }) };
  const pluginSide = new PluginSide({ runtime: options, paths, engine, mounts, stats, clock, logger });
  const { plugins, tasks } = pluginSide;

  // The actors of all nodes, on the engine of the agent that is elected.
  const store = shared.handle();
  const wire = wireOf(store, options.cluster, messages);
  const run = randomUUID();
  const election = new Election({
    ...{ runtime: options, ports: { ...ports, store: shared.handle() }, lease, topics: engine.topics, node: engine },
    ...{ inbox: wire && inboxOf(nodeId, run), plugins, port: pluginSide.controllerPort },
  });
  const elected = election.engine;
  const cluster =
    wire &&
    new Cluster({
      ...{ wire, messages, nodeId, run, clock, logger },
      route: () => routeIn(store),
      refusal: () => elected.uncertainty,
      epoch: () => election.term?.epoch,
      released: () => elected.hurry(),
    });
  const locks = new VolumeLocks();
  const controllerSide = new ControllerSide({
    ...{ runtime: options, ports: { ...ports, store: shared.handle() }, election, node: engine, cluster, locks },
    ...{ plugins, port: pluginSide.controllerPort },
    mounted: () => mounts.committed().map(({ context }) => context.key),
    shownHere: (key, allocId) => shownHere({ paths: mountPaths(paths), tables }, key, allocId),
  });

  // Mounts and allocs of this node, which reach the controller side through claims only.
  const nodeSide = new NodeSide({
    ...{ runtime: options, dataDir, engine, client: mounts, tables, clock, logger, troubles, locks, pluginSide },
    claims: options.claims ?? claimsOnAnyAgent(localClaims(controllerSide.volumes), cluster),
  });

  engine.connect(elected);
  for (const one of [engine, elected]) one.observe((notice) => stats.committed(notice));
  onNodeNotice(elected, (node, notice) => {
    if (node === nodeId) nodeSide.noticed(notice);
    else void cluster?.notify(node, notice);
  });
  const presence = presenceOf({
    ...{ nodeId, engine, plugins, clock, port: pluginSide.controllerPort, nodeSide: pluginSide.nodePort },
  });
  const leftStore = options.store && new LeftStore(dataDir.path, logger);
  const life = new RuntimeLife({
    ...{ options, dataDir, engine, pluginSide, controllerSide, nodeSide, cluster, presence, leftStore, clock, logger },
  });
  return {
    ...{ nodeId, dataDir, clock, feed, engine, plugins, tasks, stats, store },
    ...{ election, cluster, controllerSide, nodeSide, presence, life },
  };
}

/** The runtime as its users have it. */
function runtimeOf(parts: ReturnType<typeof partsOf>): Runtime {
  const { nodeId, dataDir, clock, feed, engine, plugins, tasks, stats, store } = parts;
  const { election, cluster, controllerSide, nodeSide, presence, life } = parts;
  const { engine: elected, leadership } = election;
  const { mounter: mounts, allocations } = nodeSide;
  const { volumes, snapshots, groupSnapshots, nodes, former } = controllerSide;
  const engines = (): Engine[] => actorEngines(engine, elected);
  const actors = actorControl(nodeId, {
    ...{ own: engine, elected, former },
    sendByHand: requestsByHand({ volumes, snapshots, groupSnapshots, nodes, tasks, plugins, mounts, allocations }),
  });
  return {
    ...{ nodeId, dataDir: dataDir.path, plugins, tasks, mounts, allocations, leadership },
    ...onAnyAgent(controllerSide, cluster),
    cluster: clusterOverview({
      ...{ nodeId, entry: presence.entry, leadership, store, cluster },
      term: () => election.term,
    }),
    events: new RuntimeEvents({
      ...{ node: nodeId, topics: engine.topics, pluginOf: new PluginNames(engine, elected).of },
      refusal: () => (life.isClosing ? new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed') : undefined),
    }),
    actors: actorsOnAnyAgent(actors, cluster),
    journal: journalOf(engine, elected, clock),
    inspect: (listener) => inspecting(feed, checkedListener(listener)),
    stats: { counts: () => stats.counts(engines()), onCall: (listener) => stats.onCall(listener) },
    get store() {
      return storeStatusOf([engine, elected.engine]);
    },
    lost: engine.lost,
    close: (options) => life.close(options),
  };
}

/** Since when the store gives no answers, or takes no writes, as far as these engines have noticed. */
function storeStatusOf(engines: readonly Pick<Engine, 'silentSince' | 'refusedSince'>[]): StoreStatus {
  const since = Math.min(
    ...engines.flatMap(({ silentSince, refusedSince }) => [silentSince ?? [], refusedSince ?? []].flat()),
  );
  return Number.isFinite(since) ? { available: false, since } : { available: true };
}
