/** What the task machine (task.ts) is given, keeps and tells. */
import type { BackoffPolicy } from '../kit/backoff.js';
import type { PluginScope } from '../kit/csi-types.js';
import type { Stamped } from '../kit/host.js';

export type TaskType = 'node' | 'controller' | 'monolith';

/** What to run and how to keep it up; complete, all defaults filled in. */
export interface TaskSpec {
  id: string;
  type: TaskType;
  /** Program and arguments; absent where `socket` is given. */
  command?: string[] | undefined;
  /** Of a plugin that somebody else runs: it is registered and watched, never started or ended. */
  socket?: string | undefined;
  env: Record<string, string>;
  /** Where the process, e.g. in a container, has the directory of its socket; absent: at its path on this host. */
  mountDir?: string | undefined;
  /** Below which the plugin is told to stage and publish volumes, as it sees the path. */
  stagePublishBaseDir?: string | undefined;
  /** Scope of the volumes that the plugin can work on. Absent: as its driver says, else `shared`. */
  scope?: PluginScope | undefined;
  /** How long a start may take until the plugin answers, in milliseconds. */
  healthTimeoutMs: number;
  restart: RestartPolicy;
}

export interface RestartPolicy {
  /** More ends than this within `windowMs` fail the task. */
  maxRestarts: number;
  windowMs: number;
  backoff: BackoffPolicy;
}

/** One start of a task: committed before anything is spawned, so that what was spawned can be found again. */
export interface TaskRun {
  allocId: string;
  /** In the environment of the process: tells ours from all others. */
  token: string;
}

/** A process, told from a later one with the same pid by boot id and start time. */
export interface ProcessIdentity {
  pid: number;
  bootId: string;
  /** Clock ticks after boot, as /proc/<pid>/stat has it. */
  startTime: number;
}

export interface SpawnedRun extends TaskRun {
  /** Absent for a plugin that somebody else runs. */
  process: ProcessIdentity | null;
  socketPath: string;
}

/** A run whose process is our own to start and end. */
export type OwnRun = SpawnedRun & { process: ProcessIdentity };

/** How a process ended; code and signal are absent where only its absence was seen. */
export interface ProcessEnd {
  code?: number;
  signal?: string;
  /** The end of its log, where it ended before it was ready. */
  tail?: string;
}

export interface ReadyReport {
  /** The driver's own name. */
  pluginName: string;
  vendorVersion: string;
  /** Its process serves its socket itself, or one in its session does. Absent: not known, as where that is in a container. */
  isServing?: true;
}

/** The instances that a run is registered as. */
export interface Registered {
  allocId: string;
  types: string[];
}

/** Names one instance of a plugin. */
export interface PluginKey {
  type: string;
  name: string;
  allocId: string;
}

/** Of the plugin of a running task: its instances taken together. */
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
  /** The last process that was spawned, of this run or one before it, until it is known to be ended. */
  process: ProcessIdentity | null;
  /** What is registered as plugins, until another run took its place. */
  registered: Registered | null;
  ready: ReadyReport | null;
  /** Of the present run, once it was ready. */
  health: TaskHealth | null;
  /** When the ends within the restart window happened, milliseconds since the epoch. */
  endedAtMs: number[];
  reason: string | null;
  /** While it backs off: when the next start comes, milliseconds since the epoch. */
  nextStartAtMs?: number | null;
}

export type HealthEvent = { type: 'health.changed'; health: TaskHealth };

export type TaskEvent = (
  | HealthEvent
  | { type: 'task.start'; spec: TaskSpec }
  | { type: 'task.restart' }
  /** `dependents`: what uses the plugin, where it is stopped in spite of that. */
  | { type: 'task.stop'; dependents?: string[] }
  /** Forgets a stopped one. */
  | { type: 'task.remove' }
) &
  Stamped;

/** Broadcast when something happens to a task, its process or the health of its plugin. */
export type TaskChanged =
  | { type: 'started' | 'healthy'; id: string; allocId: string }
  | { type: 'stopped' | 'removed'; id: string }
  | { type: 'exited'; id: string; allocId: string; end: ProcessEnd }
  | { type: 'unhealthy' | 'restarting' | 'failed'; id: string; reason: string };
