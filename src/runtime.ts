/**
 * The one place where everything is put together: ports with their defaults, machines with their effects, and the
 * order of coming up and going down. The walk of a call through the house: docs/architecture.md
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isClusterOwned, nodeOf, registryAddress } from '../machines/addresses.js';
import { defaultBackoff } from '../machines/backoff.js';
import { csiController } from './csi/controller.js';
import { csiDispensers } from './csi/dispenser.js';
import { csiSnapshots } from './csi/snapshots.js';
import type { QuarantinedActor } from './engine/actors.js';
import { pause, systemClock } from './engine/clock.js';

import { type ActorView, Engine } from './engine/engine.js';
import type { JournalEntry } from './engine/envelope.js';
import { silentLogger } from './engine/logger.js';
import { defaultPolicy } from './engine/policy.js';
import { systemRandom } from './engine/random.js';
import type { Replayed } from './engine/replay.js';
import { Waiters } from './engine/waiters.js';
import { messageOf, StagecraftError } from './errors.js';
import { type DataDir, openDataDir } from './host/data-dir.js';
import { pluginPort } from './plugin-port.js';
import { Clients } from './registry/clients.js';
import type { FingerprintLoopOptions, FingerprintTimes } from './registry/fingerprint-loop.js';
import { InstanceHealth } from './registry/instance-health.js';
import { pluginKinds } from './registry/kinds.js';
import { PluginRegistry } from './registry/plugin-registry.js';
import { Root, registryKind } from './root.js';
import { checkOptions, type RuntimeOptions } from './runtime-options.js';
import { lmdbStore } from './stores/lmdb.js';
import { taskKind } from './tasks/kinds.js';
import { TaskLogs } from './tasks/task-logs.js';
import { TaskSupervisor } from './tasks/task-supervisor.js';
import { capacityReader } from './volumes/capacity.js';
import { nodeKind } from './volumes/node-kind.js';
import { NodeManager } from './volumes/node-manager.js';
import { PluginAccess } from './volumes/plugin-access.js';
import { PluginCalls } from './volumes/plugin-calls.js';
import { Reconciler } from './volumes/reconciler.js';
import { noSecrets } from './volumes/secrets.js';
import { snapshotKinds } from './volumes/snapshot-kinds.js';
import { groupSnapshotManager, type SnapshotManager, snapshotManager } from './volumes/snapshot-manager.js';
import type { GroupSnapshotSpec, SnapshotSpec } from './volumes/snapshot-spec.js';
import type { GroupSnapshot, Snapshot } from './volumes/snapshot-view.js';
import { volumeKind } from './volumes/volume-kind.js';
import { VolumeManager } from './volumes/volume-manager.js';

/** `runtime.plugins`: what is left out belongs to the runtime itself. */
export type Plugins = Omit<PluginRegistry, 'close' | 'checked' | 'dependentsOf' | 'seen' | 'watch' | 'lookAgain'>;
/** `runtime.tasks`. */
export type Tasks = Omit<TaskSupervisor, 'close' | 'stopAll'>;

/** `runtime.volumes`. */
export type Volumes = Omit<VolumeManager, 'close' | 'fence'>;
/** `runtime.snapshots`. */
export type Snapshots = Omit<SnapshotManager<SnapshotSpec, Snapshot>, 'close'>;
/** `runtime.groupSnapshots`. */
export type GroupSnapshots = Omit<SnapshotManager<GroupSnapshotSpec, GroupSnapshot>, 'close'>;
/** `runtime.nodes`. */
export type Nodes = Omit<NodeManager, 'close' | 'target' | 'byCsiId'>;

export interface Runtime {
  readonly nodeId: string;
  readonly dataDir: string;
  readonly plugins: Plugins;
  readonly tasks: Tasks;
  readonly volumes: Volumes;
  readonly snapshots: Snapshots;
  readonly groupSnapshots: GroupSnapshots;
  readonly nodes: Nodes;
  readonly journal: Journal;
  readonly actors: ActorControl;
  /** How the store is now. */
  readonly store: StoreStatus;
  /** Resolves, with FENCED, if another runtime has taken over this node: nothing happens here from then on. Close it. */
  readonly lost: Promise<StagecraftError>;
  /**
   * Refuses new requests, finishes what is under way and leaves plugin processes running; with `release` it stops
   * them too. Twice is once.
   * @throws StagecraftError DRAIN_FAILED where not all could be released, as without the store; STORE_UNAVAILABLE where
   *   the store is gone and nothing was to be released; RUNTIME_CLOSED where a release comes too late
   */
  close(options?: { release?: boolean }): Promise<void>;
}

export interface StoreStatus {
  /** Whether it answers. Where it does not, what is read may be old, and changes are refused. */
  available: boolean;
  /** Since when it gives no answer, milliseconds since the epoch. */
  since?: number;
}

/**
 * Of the actors of this node, and of those that are gone as long as their journal is kept.
 * @throws StagecraftError ACTOR_NOT_FOUND, JOURNAL_BROKEN, STORE_UNAVAILABLE
 */
export interface Journal {
  /** What the actor at this address was given, oldest first. */
  entries(address: string, options?: { from?: number; to?: number }): AsyncIterable<JournalEntry>;
  /** The actor as it was after entry `to`, rebuilt from its journal; no effect runs. */
  replay(address: string, options?: { to?: number }): Promise<Replayed>;
}

export interface ActorControl {
  /** The actors of this node, by address. */
  list(): ActorStatus[];
  /** Those out of service: they crashed too often, or their record can't be read. Their records are left as they are. */
  quarantined(): QuarantinedActor[];
  /**
   * Takes one back into service: what is owed to it comes, its timers and effects go on. Nothing where it is.
   * @throws StagecraftError ACTOR_QUARANTINED if its record still can't be read; ACTOR_NOT_FOUND
   */
  release(address: string): Promise<void>;
}

export interface ActorStatus extends Pick<ActorView, 'seq' | 'state'> {
  address: string;
}

/** Absent where the address is none of ours. */
function nodeIn(address: string): string | undefined {
  try {
    return nodeOf(address);
  } catch {
    return undefined;
  }
}

const leaseTtlMs = 15_000;
const defaultReconcileMs = 300_000;
const defaultTimes: FingerprintTimes = { intervalMs: 30_000, timeoutMs: 30_000 };
/**
 * Brings up a runtime: takes the data directory, restores every actor of this node, resumes what was under way.
 * @throws StagecraftError INVALID_ARGUMENT, DATA_DIR_LOCKED (another runtime has it), DATA_DIR_UNUSABLE,
 *   NODE_IN_USE (another runtime has this nodeId), START_FAILED
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkOptions(options);
  const dataDir = openDataDir(options.dataDir);
  try {
    return await compose(options, dataDir);
  } catch (error) {
    dataDir.unlock();
    throw error;
  }
}

async function compose(options: RuntimeOptions, dataDir: DataDir): Promise<Runtime> {
  const { nodeId, clock = systemClock, random = systemRandom, logger = silentLogger, retention = {} } = options;
  const store = options.store ?? lmdbStore(join(dataDir.path, 'state'));
  const clients = new Clients({ ...csiDispensers(), ...options.dispensers }, { clock, logger });
  const paths = { dataDir: dataDir.path, socketRoot: dataDir.socketRoot };
  const logs = new TaskLogs({ paths, clock, logger, ...options.logs });
  const times = { ...defaultTimes, ...options.fingerprint };
  const asked = new Waiters();
  const checked: FingerprintLoopOptions['checked'] = (address, seen) => plugins.checked(address, seen);
  const controllers = pluginPort(() => plugins);
  const { timeoutMs = 120_000, maxInFlightPerPlugin: maxInFlight = 64 } = options.calls ?? {};
  const access = new PluginAccess(controllers, { clock, maxInFlight });
  const controller = csiController({ timeoutMs });
  const calls = new PluginCalls({
    access,
    secrets: options.secrets ?? noSecrets,
    clock,
    retry: { ...defaultBackoff, ...options.retry },
  });
  let released = false;
  let drained: 'kept' | 'released' | undefined;
  // Read when it comes to it: until then a close may still become one that releases.
  const drain = async (asked: boolean): Promise<void> => {
    drained = released || asked ? 'released' : 'kept';
    if (drained === 'released') await tasks.stopAll();
  };
  const covers = (address: string): boolean => isClusterOwned(address) || nodeIn(address) === nodeId;
  const engine: Engine = new Engine({
    store,
    clock,
    random,
    logger,
    policy: {
      topic: `actors/${encodeURIComponent(nodeId)}`,
      journal: { ...defaultPolicy.journal, ...(retention.journalEntries && { keep: retention.journalEntries }) },
    },
    topics: retention.topicEvents ? { keep: retention.topicEvents } : {},
    // Whoever held this lock before is dead: its lease need not lapse first.
    lease: {
      name: `node/${nodeId}`,
      owner: dataDir.holderId,
      covers,
      holder: `the runtime of ${dataDir.path} on ${hostname()}, pid ${process.pid}`,
      ttlMs: leaseTtlMs,
    },
    kinds: [
      registryKind(dataDir, () => engine, { drain }),
      ...pluginKinds({ ...times, clients, clock, asked, checked }),
      taskKind({
        paths,
        logs,
        clock,
        probe: (info, signal) => clients.look(info, signal),
        gone: (instance, signal) => plugins.gone(instance, signal),
        watchHealth: (instances, options, tell) => health.watch(instances, options, tell),
      }),
      volumeKind({ controller, calls, timeoutMs }),
      ...snapshotKinds({ snapshots: csiSnapshots({ timeoutMs }), calls, timeoutMs }),
      nodeKind({
        afterMs: options.fencing?.afterMs,
        after: (delayMs, signal) => pause(clock, delayMs, signal),
        release: (nodeId, reason, signal) => volumes.fence(nodeId, reason, signal),
      }),
    ],
  });
  const plugins: PluginRegistry = new PluginRegistry({
    node: nodeId,
    engine,
    clients,
    clock,
    logger,
    dependents: options.dependents,
    asked,
  });
  const health = new InstanceHealth({ node: nodeId, engine });
  const tasks = new TaskSupervisor({
    node: nodeId,
    engine,
    logs,
    dependents: (instances) => plugins.dependentsOf(instances),
  });
  const nodes = new NodeManager(engine);
  const reconciler = new Reconciler({
    engine,
    controller,
    access,
    nodesOf: (plugin) => nodes.byCsiId(plugin),
    clock,
    logger,
    intervalMs: options.reconcile?.intervalMs ?? defaultReconcileMs,
  });
  const volumes: VolumeManager = new VolumeManager({
    reconciler,
    engine,
    clock,
    random,
    namePrefix: options.volumeNamePrefix ?? 'sc',
    isKnownPlugin: (plugin) => controllers.isKnown(plugin),
    target: (node, plugin) => nodes.target(node, plugin),
    capacity: capacityReader({ access, controller, timeoutMs, isKnownPlugin: (plugin) => controllers.isKnown(plugin) }),
  });
  const naming = { engine, clock, random, namePrefix: options.volumeNamePrefix ?? 'sc' };
  const snapshots = snapshotManager(naming);
  const groupSnapshots = groupSnapshotManager(naming);
  const root = new Root(engine, registryAddress(nodeId), clock);

  await engine.open();
  await root.start().catch(async (error: unknown) => {
    // Why it could not start counts more than how it ended.
    const tell = (fault: unknown): void => logger.error({}, `after a start that failed: ${messageOf(fault)}`);
    await engine.stop().catch(tell);
    clients.end();
    throw error;
  });
  reconciler.start();
  /** @throws StagecraftError ACTOR_NOT_FOUND where it neither is nor has left a journal */
  const demand = async (address: string): Promise<void> => {
    if (engine.has(address)) return;
    for await (const _ of engine.journal(address)) return;
    throw new StagecraftError('ACTOR_NOT_FOUND', `there is no actor ${address}, nor a journal of one`, { address });
  };
  async function* journalOf(address: string, from?: number): AsyncGenerator<JournalEntry, void> {
    await demand(address);
    yield* engine.journal(address, from);
  }
  let closing: Promise<void> | undefined;
  /** A stop that is not written down is not begun. */
  const withoutStore = (error: unknown): never => {
    if (!(error instanceof StagecraftError && error.code === 'STORE_UNAVAILABLE')) throw error;
    drained = released ? 'released' : 'kept';
    throw closedWithoutStore(error, released);
  };
  void engine.lost.then((reason) => {
    reconciler.stop();
    for (const part of [plugins, tasks, volumes, snapshots, groupSnapshots, nodes]) part.close(reason);
  });
  return {
    nodeId,
    dataDir: dataDir.path,
    plugins,
    tasks,
    volumes,
    snapshots,
    groupSnapshots,
    nodes,
    actors: {
      list: () => [...engine.views('')].map(([address, { seq, state }]) => ({ address, seq, state })),
      quarantined: () => engine.quarantined(),
      release: (address) => engine.release(address),
    },
    journal: {
      entries: (address, { from, to } = {}) => upTo(journalOf(address, from), to),
      replay: async (address, { to } = {}) => {
        await demand(address);
        return withoutEnvironment(await engine.replay(address, to));
      },
    },
    get store() {
      const since = engine.silentSince;
      return since === undefined ? { available: true } : { available: false, since };
    },
    lost: engine.lost,
    close: ({ release = false } = {}) => {
      if (release && drained === 'kept') return Promise.reject(tooLate());
      released ||= release;
      closing ??= (async () => {
        reconciler.stop();
        for (const part of [plugins, tasks, volumes, snapshots, groupSnapshots, nodes]) part.close();
        try {
          await root
            .stop(release, () => tasks.list())
            .catch(withoutStore)
            .finally(() => engine.stop());
        } finally {
          clients.end();
          dataDir.unlock();
        }
      })();
      return closing;
    },
  };
}

const tooLate = (): StagecraftError =>
  new StagecraftError('RUNTIME_CLOSED', 'it was closed without releasing: create it again, then close it with release');

function closedWithoutStore({ address, outcome, cause }: StagecraftError, released: boolean): StagecraftError {
  const details = { ...(address && { address }), ...(outcome && { outcome }), cause };
  const why = `the store takes nothing now (${messageOf(cause)})`;
  const advice = 'plugin processes run on; start it again once the store answers';
  if (released)
    return new StagecraftError('DRAIN_FAILED', `nothing was stopped: ${why}; ${advice}, then drain`, details);
  return new StagecraftError('STORE_UNAVAILABLE', `closed with work under way: ${why}; ${advice}`, details);
}

async function* upTo(
  entries: AsyncIterable<JournalEntry>,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<JournalEntry, void> {
  for await (const entry of entries) {
    if (entry.seq > to) return;
    yield withoutEnvironment(entry);
  }
}

/** Values of a task's `env` may be secrets: only their names are shown. */
const withoutEnvironment = <T extends object>(value: T): T =>
  JSON.parse(JSON.stringify(value), (key, inner) =>
    key === 'env' && inner instanceof Object
      ? Object.fromEntries(Object.keys(inner).map((name) => [name, '***']))
      : inner,
  );
