/**
 * Puts a runtime together: ports with their defaults, machines with their effects, the order of start and stop. The
 * walk of a call through the house: docs/architecture.md
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isClusterOwned, nodeOf, registryAddress } from '../../machines/kit/addresses.js';
import { pluginTypes } from '../../machines/task/task-context.js';
import { VolumeLocks } from '../calls/volume-locks.js';
import { Cluster } from '../cluster/cluster.js';
import { MessageCounts } from '../cluster/message-counts.js';
import { csiDispensers } from '../csi-plugins/dispenser.js';
import { defaultPolicy } from '../engine/actor/policy.js';
import { systemClock } from '../engine/clock.js';
import { Engine } from '../engine/engine.js';
import { Feed } from '../engine/feed.js';
import { silentLogger } from '../engine/logger.js';
import { systemRandom } from '../engine/random.js';
import { SharedStore } from '../engine/storage/shared-store.js';
import { TroubleLog } from '../engine/storage/trouble-log.js';
import { storeLevel } from '../engine/store-level.js';
import { Waiters } from '../engine/waiters.js';
import { messageOf, StagecraftError } from '../errors.js';
import { type DataDir, openDataDir } from '../host/data-dir.js';
import { packageVersion } from '../host/version.js';
import { MountClient } from '../mounts/mount-client.js';
import { MountTables } from '../mounts/mount-tables.js';
import { mountPaths } from '../mounts/paths.js';
import { shownHere } from '../mounts/shown-here.js';
import { Clients } from '../registry/clients.js';
import { InstanceHealth } from '../registry/instance-health.js';
import { pluginKinds } from '../registry/kinds.js';
import { PluginRegistry } from '../registry/plugin-registry.js';
import { defaultTimes } from '../requests/settings.js';
import { noSecrets, resolveSecrets } from '../secrets/secrets.js';
import { lmdbStore } from '../stores/lmdb/lmdb.js';
import { TaskEnvironments } from '../tasks/environments.js';
import { taskKind } from '../tasks/kinds.js';
import { haveNodeCallsEnded, nodeCallsProcess } from '../tasks/own-process.js';
import { TaskLogs } from '../tasks/task-logs.js';
import { type TaskStatus, TaskSupervisor } from '../tasks/task-supervisor.js';
import { actorControl, actorEngines, journalOf } from './actor-records.js';
import { actorsOnAnyAgent, claimsOnAnyAgent, onAnyAgent, wireOf } from './any-agent.js';
import { asFault, bothOf, closedWithoutStore, tooLate, unreleased } from './close-errors.js';
import { clusterOverview } from './cluster-overview.js';
import { ControllerSide } from './controller-side.js';
import { actorsTopic } from './event-topics.js';
import { checkedListener, inspecting } from './inspecting.js';
import { routeIn } from './leadership.js';
import { warnOfLeftStore } from './left-store.js';
import { localClaims } from './local-claims.js';
import { NodeSide } from './node-side.js';
import { checkOptions, type RuntimeOptions } from './options.js';
import { PluginNames } from './plugin-names.js';
import { nodeSidePort, type TaskIdOf } from './plugin-port.js';
import { presenceOf } from './presence-of.js';
import { RegistryActor, registryKind } from './registry-actor.js';
import { requestsByHand } from './requests-by-hand.js';
import type { Runtime } from './runtime-api.js';
import { RuntimeEvents } from './runtime-events.js';
import { RuntimeCounters } from './runtime-stats.js';

export { type Shown, shown } from '../host/shown.js';
export type { InspectedActor, Journal } from './actor-records.js';
export type { AgentPlugin } from './cluster-overview.js';
export type { EventTopic, RuntimeEvent } from './event-topics.js';
export { eventTopics } from './event-topics.js';
export type { FeedListener } from './inspecting.js';
export type { LeadershipEvent } from './leadership.js';
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
export { openJournalIn, openStoredJournal, type StoredJournal } from './stored-journal.js';

/** Undefined if the address belongs to no node. */
function nodeIn(address: string): string | undefined {
  try {
    return nodeOf(address);
  } catch {
    return undefined;
  }
}

const leaseTtlMs = 15_000;

const openAsBefore = (path: string): string =>
  `all users of this host pass through ${path} to its volumes, whose paths /proc/self/mountinfo shows them, and a set-user-id program in one makes them root: set dataDirAccess to owner or to a group; or to everyone, and mount with nosuid`;

/**
 * Brings up a runtime: takes the data directory, restores every actor of this node, resumes what was under way.
 * @throws StagecraftError INVALID_ARGUMENT, DATA_DIR_LOCKED (another runtime has it), DATA_DIR_UNUSABLE,
 *   NODE_IN_USE (another runtime has this nodeId), STORE_TOO_NEW (a newer version wrote what is stored), STORE_DAMAGED,
 *   STORE_UNUSABLE (the embedded store cannot be opened), STORE_UNAVAILABLE (another one gives no answer), START_FAILED
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkOptions(options);
  const dataDir = openDataDir(options.dataDir, options.dataDirAccess);
  try {
    return await compose(options, dataDir);
  } catch (error) {
    dataDir.unlock();
    throw error;
  }
}

async function compose(options: RuntimeOptions, dataDir: DataDir): Promise<Runtime> {
  const { nodeId, clock = systemClock, random = systemRandom, logger = silentLogger, retention = {} } = options;
  const troubles = new TroubleLog({ clock, logger });
  const shared = new SharedStore(options.store ?? lmdbStore(join(dataDir.path, 'state')));
  const feed = new Feed(clock, logger);
  if (options.inspect) inspecting(feed, options.inspect);
  const policy = {
    topic: actorsTopic(nodeId),
    journal: { ...defaultPolicy.journal, ...(retention.journalEntries && { keep: retention.journalEntries }) },
  };
  // The earlier holder of this lock is dead: its leases need not lapse first.
  const lease = {
    owner: dataDir.holderId,
    holder: `the runtime of ${dataDir.path} on ${hostname()}, pid ${process.pid}`,
    ttlMs: leaseTtlMs,
    reads: { level: storeLevel, version: packageVersion() },
  };
  const covers = (address: string): boolean => !isClusterOwned(address) && nodeIn(address) === nodeId;
  const engine: Engine = new Engine({
    ...{ store: shared.handle(), clock, random, logger, troubles, policy, feed },
    topics: retention.topicEvents ? { keep: retention.topicEvents } : {},
    lease: { ...lease, name: `node/${nodeId}`, covers },
    // The two engines send messages to each other's actors.
    elsewhere: { append: (address, message) => controllerSide.engine.append(address, message) },
    troubleElsewhere: (forMs) => controllerSide.engine.storeTrouble(forMs),
  });

  // First everything that asks and watches actors.
  const mounts = new MountClient({ node: nodeId, engine, clock });
  const messages = new MessageCounts();
  const stats = new RuntimeCounters(() => actorEngines(engine, controllerSide.engine), messages);
  const dispensers = csiDispensers({ onCall: (info, call) => stats.called(info, call) });
  const clients = new Clients({ ...dispensers, ...options.dispensers }, { clock, logger });
  const asked = new Waiters();
  const plugins = new PluginRegistry({
    ...{ node: nodeId, engine, clients, clock, logger, asked },
    dependents: options.dependents,
    needing: ({ type, name }) => (type === 'csi-node' ? mounts.needing(name) : []),
  });
  if (dataDir.isOpenAsBefore) logger.warn({ dataDir: dataDir.path }, openAsBefore(dataDir.path));
  const { socketRoot, salt } = dataDir;
  const paths = { dataDir: dataDir.path, socketRoot, ...(salt !== undefined && { salt }) };
  const logs = new TaskLogs({ paths, clock, logger, ...options.logs });
  const { secrets = noSecrets } = options;
  const environments = new TaskEnvironments({
    clock,
    resolve: (refs, signal) => resolveSecrets(secrets, refs, { clock, signal }),
  });
  const tasks = new TaskSupervisor({
    ...{ node: nodeId, engine, logs, environments },
    dependents: (instances) => plugins.dependentsOf(instances),
    mounted: (plugin) => mounts.needing(plugin),
  });
  const taskOf = (type: string, plugin: string): TaskStatus | undefined =>
    tasks.list().find(({ spec }) => spec.plugin === plugin && pluginTypes[spec.type].includes(type));
  const taskIdOf: TaskIdOf = (type, plugin) => taskOf(type, plugin)?.id;
  const locks = new VolumeLocks();
  const tables = new MountTables();
  const store = shared.handle();
  const wire = wireOf(store, options.cluster, messages);
  const cluster: Cluster | undefined =
    wire &&
    new Cluster({
      ...{ wire, messages, nodeId, run: randomUUID(), clock, logger },
      route: () => routeIn(store),
      refusal: () => controllerSide.engine.uncertainty,
      epoch: () => (controllerSide.engine.uncertainty ? undefined : controllerSide.term?.epoch),
      released: () => controllerSide.engine.hurry(),
      noticed: (notice) => nodeSide.noticed(notice),
    });
  const controllerSide: ControllerSide = new ControllerSide({
    ...{ runtime: options, cluster },
    engine: { store: shared.handle(), clock, random, logger, troubles, policy, feed },
    ...{ lease, plugins, taskIdOf, locks },
    topics: engine.topics,
    node: engine,
    watched: engine,
    noticed: (notice) => nodeSide.noticed(notice),
    mounted: () => mounts.committed().map(({ context }) => context.key),
    shownHere: (key, allocId) => shownHere({ paths: mountPaths(paths), tables }, key, allocId),
  });
  const nodeSide: NodeSide = new NodeSide({
    ...{ runtime: options, dataDir, engine, client: mounts, tables, clock, logger, troubles, locks, plugins, taskIdOf },
    claims: options.claims ?? claimsOnAnyAgent(localClaims(controllerSide.volumes), cluster),
    baseDirOf: (plugin) => taskOf('csi-node', plugin)?.spec.stagePublishBaseDir,
    processes: {
      of: (plugin) => nodeCallsProcess(engine, nodeId, plugin),
      hasEnded: haveNodeCallsEnded,
    },
  });
  const root = new RegistryActor(engine, registryAddress(nodeId), clock);
  const health = new InstanceHealth({ node: nodeId, engine });
  for (const one of [engine, controllerSide.engine]) one.observe((notice) => stats.committed(notice));

  // Then the kinds: their effects use all of that.
  const kinds = [
    ...pluginKinds({
      ...{ ...defaultTimes, ...options.fingerprint, clients, clock, asked },
      checked: (address, seen) => plugins.checked(address, seen),
    }),
    taskKind({
      ...{ paths, logs, environments, clock, logger },
      prepareHost: ({ stagePublishBaseDir }) => (stagePublishBaseDir === undefined ? undefined : nodeSide.share()),
      probe: (info, signal) => clients.look(info, signal),
      gone: (instance, signal) => plugins.gone(instance, signal),
      watchHealth: (instances, options, tell) => health.watch(instances, options, tell),
    }),
    ...nodeSide.kinds,
  ];
  let released = false;
  let drained: 'kept' | 'released' | undefined;
  // Read only when it runs: until then a close may still become one that releases.
  const drain = async (asked: boolean): Promise<void> => {
    drained = released || asked ? 'released' : 'kept';
    if (drained === 'released') await tasks.stopAll();
  };
  engine.host([registryKind({ dataDir, engine, restored: kinds, drain }), ...kinds]);

  await engine.open();
  const tell = (fault: unknown): void => logger.error({}, `not ended in order: ${messageOf(fault)}`);
  await root.start().catch(async (error: unknown) => {
    // The reason of the failed start counts more than that of a failed stop.
    await engine.stop().catch(tell);
    clients.end();
    throw error;
  });
  const anyAgent = onAnyAgent(controllerSide, cluster);
  const { volumes, snapshots, groupSnapshots, nodes } = controllerSide;
  const ownActors = actorControl(nodeId, {
    own: engine,
    elected: controllerSide.engine,
    sendByHand: requestsByHand({
      ...{ volumes, snapshots, groupSnapshots, nodes, tasks, plugins },
      ...{ mounts: nodeSide.mounter, allocations: nodeSide.allocations },
    }),
    former: controllerSide.former,
  });
  const actors = actorsOnAnyAgent(ownActors, cluster);
  const nodeSidePlugins = nodeSidePort(plugins, taskIdOf);
  const presence = presenceOf({
    ...{ nodeId, engine, plugins, clock },
    ...{ port: controllerSide.plugins, nodeSide: nodeSidePlugins },
  });
  await cluster?.start(presence);
  await controllerSide.start();
  await nodeSide.start();
  const silences = (): number[] =>
    [engine, controllerSide.engine.engine]
      .flatMap(({ silentSince, refusedSince }) => [silentSince ?? [], refusedSince ?? []].flat())
      .sort((a, b) => a - b);
  let closing: Promise<void> | undefined;
  /** A stop that can't be committed is not begun. */
  const withoutStore = (error: unknown): never => {
    if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) throw error;
    drained = released ? 'released' : 'kept';
    throw closedWithoutStore(error, released);
  };
  const refuse = (reason?: StagecraftError): void => {
    for (const part of [plugins, tasks]) part.close(reason);
    nodeSide.refuse(reason);
    cluster?.refuse(reason);
    controllerSide.refuse(reason);
  };
  void engine.lost.then(async (reason) => {
    refuse(reason);
    await controllerSide.stop().catch(tell);
  });
  const reading = new AbortController();
  const warn = (line: string): void => logger.warn({ dataDir: dataDir.path }, line);
  const leftStore = options.store && warnOfLeftStore(dataDir.path, { warn, signal: reading.signal });
  return {
    nodeId,
    dataDir: dataDir.path,
    plugins,
    tasks,
    ...anyAgent,
    mounts: nodeSide.mounter,
    allocations: nodeSide.allocations,
    leadership: controllerSide.leadership,
    cluster: clusterOverview({
      ...{ nodeId, entry: presence.entry, leadership: controllerSide.leadership, store, cluster },
      term: () => controllerSide.term,
    }),
    events: new RuntimeEvents({
      ...{ node: nodeId, topics: engine.topics, pluginOf: new PluginNames(engine, controllerSide.engine).of },
      refusal: () => (closing ? new StagecraftError('RUNTIME_CLOSED', 'the runtime was closed') : undefined),
    }),
    actors,
    journal: journalOf(engine, controllerSide.engine, clock),
    inspect: (listener) => inspecting(feed, checkedListener(listener)),
    stats,
    get store() {
      const [since] = silences();
      return since === undefined ? { available: true } : { available: false, since };
    },
    lost: engine.lost,
    close: ({ release = false } = {}) => {
      if (release && drained === 'kept') return Promise.reject(tooLate());
      released ||= release;
      closing ??= (async () => {
        // Released while the controller side still runs.
        const held = released ? await nodeSide.release().then(undefined, asFault) : undefined;
        refuse();
        try {
          await controllerSide.stop().catch(tell);
          await cluster?.stop();
          await root
            .stop(release, () => tasks.list())
            .catch(withoutStore)
            .finally(() => engine.stop());
        } catch (error) {
          // Plugins could not be stopped because allocs were not released.
          throw held && error instanceof StagecraftError ? bothOf(held, error) : error;
        } finally {
          // A plugin that runs on may use the directory of mounts as it is now.
          if (drained === 'released') await nodeSide.unshare().catch(tell);
          clients.end();
          reading.abort();
          await leftStore;
          dataDir.unlock();
        }
        if (held) throw unreleased(held);
      })();
      return closing;
    },
  };
}
