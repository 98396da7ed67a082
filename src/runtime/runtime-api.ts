/** Types of a runtime: the public parts of its managers. */
import type { Allocations as AllocationManager } from '../allocs/allocations.js';
import type { StagecraftError } from '../errors.js';
import type { MountManager } from '../mounts/mount-manager.js';
import type { NodeManager } from '../nodes/node-manager.js';
import type { PluginRegistry } from '../registry/plugin-registry.js';
import type { TaskSupervisor } from '../tasks/task-supervisor.js';
import type { VolumeManager } from '../volumes/volume-manager.js';
import type { ActorControl, Journal } from './actor-records.js';
import type { ClusterOverview } from './cluster-overview.js';
import type { ControllerSide } from './controller-side.js';
import type { Leadership } from './leadership.js';
import type { FeedListener } from './options.js';
import type { Events } from './runtime-events.js';
import type { RuntimeStats } from './runtime-stats.js';

/** `runtime.plugins`. */
export type Plugins = Pick<
  PluginRegistry,
  | 'register'
  | 'deregister'
  | 'list'
  | 'instances'
  | 'forAlloc'
  | 'status'
  | 'has'
  | 'waitFor'
  | 'gone'
  | 'dispense'
  | 'updates'
>;
/** `runtime.tasks`. */
export type Tasks = Pick<
  TaskSupervisor,
  'start' | 'restart' | 'stop' | 'remove' | 'list' | 'status' | 'logs' | 'readLog' | 'updates'
>;
/** `runtime.volumes`. */
export type Volumes = Pick<
  VolumeManager,
  | 'create'
  | 'delete'
  | 'publish'
  | 'unpublish'
  | 'claim'
  | 'release'
  | 'setAvailability'
  | 'expand'
  | 'modify'
  | 'retry'
  | 'acknowledge'
  | 'reconcile'
  | 'orphans'
  | 'orphansFound'
  | 'get'
  | 'list'
  | 'capacity'
  | 'updates'
>;
export type SnapshotMethods = 'create' | 'delete' | 'retry' | 'acknowledge' | 'get' | 'list' | 'updates';
/** `runtime.snapshots`. */
export type Snapshots = Pick<ControllerSide['snapshots'], SnapshotMethods>;
/** `runtime.groupSnapshots`. */
export type GroupSnapshots = Pick<ControllerSide['groupSnapshots'], SnapshotMethods>;
/** `runtime.nodes`. */
export type Nodes = Pick<
  NodeManager,
  'report' | 'down' | 'fence' | 'remove' | 'reportUnstaged' | 'status' | 'list' | 'updates'
>;
/** `runtime.mounts`. */
export type Mounts = Pick<
  MountManager,
  'mount' | 'unmount' | 'list' | 'has' | 'stats' | 'retry' | 'orphans' | 'cleanOrphan' | 'updates'
>;
/** `runtime.allocations`. */
export type Allocations = Pick<AllocationManager, 'prepare' | 'release' | 'list' | 'status' | 'updates'>;

export interface Runtime {
  readonly nodeId: string;
  readonly dataDir: string;
  readonly plugins: Plugins;
  readonly tasks: Tasks;
  readonly volumes: Volumes;
  readonly snapshots: Snapshots;
  readonly groupSnapshots: GroupSnapshots;
  readonly nodes: Nodes;
  readonly mounts: Mounts;
  readonly allocations: Allocations;
  readonly events: Events;
  readonly journal: Journal;
  readonly actors: ActorControl;
  /**
   * Calls the listener for everything that the actors of this runtime do from now on: the live feed. A record shares its
   * data with the actor: change nothing in it. Keep the listener short, as it runs between a commit and what follows from
   * it; for a slow one, put the records into a queue with a limit.
   * @returns a function that ends it
   */
  inspect(listener: FeedListener): () => void;
  /** Counts since the start, for metrics. */
  readonly stats: RuntimeStats;
  /** Whether this runtime, of all on its store, works on volumes and nodes. */
  readonly leadership: Leadership;
  /** The agents on the store, with their plugins, and which of them works on volumes. */
  readonly cluster: ClusterOverview;
  /** State of the store. */
  readonly store: StoreStatus;
  /** Resolves with FENCED if another runtime has taken over this node: nothing happens here from then on. Close it. */
  readonly lost: Promise<StagecraftError>;
  /**
   * Refuses new requests, finishes what is under way and leaves mounts and plugin processes as they are; with `release` it
   * releases allocs, then stops the processes. Twice is once.
   * @throws StagecraftError DRAIN_FAILED where not all could be released, as without the store; STORE_UNAVAILABLE where
   *   the store is gone and nothing was to be released; RUNTIME_CLOSED where a release comes too late
   */
  close(options?: { release?: boolean }): Promise<void>;
}

export interface StoreStatus {
  /** Whether the store answers, and takes writes. If not, reads may be old, and changes are refused. */
  available: boolean;
  /** Since when it does not, milliseconds since the epoch. */
  since?: number;
}
