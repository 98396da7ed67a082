/** Types of a task (task.ts): its events, its record and its broadcasts. */
import type { BackoffPolicy } from '../kit/backoff.js';
import type { PluginScope, SecretRef } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';

export type TaskType = 'node' | 'controller' | 'monolith';

/** Spec of a task, with all defaults filled in. */
export interface TaskSpec {
  id: string;
  type: TaskType;
  /** Name that the plugin is registered under. */
  plugin: string;
  /** Program and arguments; absent with `socket`. */
  command?: string[] | undefined;
  /** Socket of a plugin that somebody else runs: it is registered and watched, never started or ended. */
  socket?: string | undefined;
  env: Record<string, TaskVariable>;
  /** Digest of all values that are not secrets, so that other values make another spec. Absent: there are none. */
  envDigest?: ValuesDigest | undefined;
  /** Directory of the socket as the process sees it, e.g. in a container; absent: as on this host. */
  mountDir?: string | undefined;
  /** Directory below which the plugin stages and publishes volumes, as it sees the path. */
  stagePublishBaseDir?: string | undefined;
  /** Scope of the plugin's volumes. Absent: as its driver says, else `shared`. */
  scope?: PluginScope | undefined;
  /** Which instances of the plugin, on all hosts, get controller calls. Absent: any. */
  controllers?: 'any' | 'one' | undefined;
  /** Limit of a start until the plugin answers, milliseconds. */
  healthTimeoutMs: number;
  restart: RestartPolicy;
}

/** Variable of a task's environment, as its record has it. */
export type TaskVariable =
  /** The value is given with each start, and is never in a record. */
  | { given: true }
  /** A reference: the value is fetched when the process is started. */
  | { secret: SecretRef }
  /** The value itself: the user has chosen to have it in the record. */
  | { stored: string };

export interface ValuesDigest {
  salt: string;
  digest: string;
}

export interface RestartPolicy {
  /** More ends within `windowMs` fail the task. */
  maxRestarts: number;
  windowMs: number;
  backoff: BackoffPolicy;
  /** `children`: processes that the process has started stay when it ends. Absent: they are ended with it. */
  keep?: 'children' | undefined;
}

/** One start of a task: committed before the process is spawned, so that the process can be found again. */
export interface TaskRun {
  allocId: string;
  /** Set in the environment of the process, to find it by. */
  token: string;
}

/** A process, told from later ones with the same pid by boot id and start time. */
export interface ProcessIdentity {
  pid: number;
  bootId: string;
  /** Clock ticks after boot, as in /proc/<pid>/stat. */
  startTime: number;
}

export interface SpawnedRun extends TaskRun {
  /** Absent for a plugin that somebody else runs. */
  process: ProcessIdentity | null;
  socketPath: string;
}

/** Answer to a spawn. `kept`: those of the runs to be kept of which something lives. */
export type Spawned = SpawnedRun & { kept?: string[] };

/** Run whose process is started and ended by its task. */
export type OwnRun = SpawnedRun & { process: ProcessIdentity };

/** End of a process; without code and signal if only its absence was seen. */
export interface ProcessEnd {
  code?: number;
  signal?: string;
  /** End of its log, if it ended before it was ready. */
  tail?: string;
}

export interface ReadyReport {
  /** Name that the driver gives itself. */
  pluginName: string;
  vendorVersion: string;
  /** The process, or one in its session, serves the socket. Absent: not known, as in a container. */
  isServing?: true;
}

/** Instances that a run is registered as. */
export interface Registered {
  allocId: string;
  types: string[];
}

/** Name of one instance of a plugin. */
export interface PluginKey {
  type: string;
  name: string;
  allocId: string;
}

/** Health of a running task's plugin: all instances together. */
export interface TaskHealth {
  healthy: boolean;
  description: string;
}

export interface TaskInput {
  node: string;
}

export interface TaskContext {
  node: string;
  spec: TaskSpec | null;
  run: TaskRun | null;
  spawned: SpawnedRun | null;
  /** Last spawned process, of this run or an earlier one, until it is known to have ended. */
  process: ProcessIdentity | null;
  /** Tokens of earlier runs whose children may live, and stay. Absent: none. */
  kept?: string[] | undefined;
  /** Registered instances, until another run replaces them. */
  registered: Registered | null;
  ready: ReadyReport | null;
  /** Health of the present run, once it was ready. */
  health: TaskHealth | null;
  /** Moments of the ends within the restart window, milliseconds since the epoch. */
  endedAtMs: number[];
  reason: string | null;
  /** Moment of the next start during a backoff, milliseconds since the epoch. */
  nextStartAtMs?: number | null;
}

export type HealthEvent = { type: 'health.changed'; health: TaskHealth };

export type TaskEvent = (
  | HealthEvent
  | { type: 'task.start'; spec: TaskSpec }
  | { type: 'task.restart' }
  /** `dependents`: users of the plugin, if it is stopped in spite of them. */
  | { type: 'task.stop'; dependents?: string[] }
  /** Removes a stopped task. */
  | { type: 'task.remove' }
) &
  Stamped;

/** Broadcasts. `plugin` is absent where it is the id of the task. */
export type TaskChanged = { id: string; plugin?: string } & (
  | { type: 'started' | 'healthy'; allocId: string }
  | { type: 'stopped' | 'removed' }
  | { type: 'exited'; allocId: string; end: ProcessEnd }
  | { type: 'unhealthy' | 'restarting' | 'failed'; reason: string }
);
