/** Binds the task machine to what it does on this host. */
import { nodeOf } from '../../machines/kit/addresses.js';
import { taskMachine } from '../../machines/task/task.js';
import type {
  PluginKey,
  ProcessIdentity,
  Registered,
  SpawnedRun,
  TaskHealth,
  TaskRun,
  TaskSpec,
} from '../../machines/task/task-types.js';
import { untilAborted } from '../abort.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind, EffectCall } from '../engine/effects/effects.js';
import type { Logger } from '../engine/logger.js';
import { awaitReady, type ProbePlugin } from './await-ready.js';
import { endProcesses } from './end-processes.js';
import type { TaskEnvironments } from './environments.js';
import { taskMigrations } from './migrations.js';
import { type TaskPaths, taskMark } from './paths.js';
import { livingRuns, programNames } from './processes.js';
import { type Children, spawnRun, watchProcess } from './spawn.js';
import type { TaskLogs } from './task-logs.js';

interface TaskKindOptions {
  paths: TaskPaths;
  logs: TaskLogs;
  environments: TaskEnvironments;
  clock: Clock;
  logger: Logger;
  probe: ProbePlugin;
  /** Prepares this host for the process. */
  prepareHost(spec: TaskSpec): Promise<void> | undefined;
  /** Resolves when a deregistered instance has shut down. */
  gone(instance: PluginKey, signal: AbortSignal): Promise<void>;
  /** Reports the health of all instances together, whenever it changes. */
  watchHealth(
    instances: PluginKey[],
    options: { signal: AbortSignal; wereThere: boolean },
    tell: (health: TaskHealth) => void,
  ): void;
}

export const tasksTopic = (node: string): string => `tasks/${encodeURIComponent(node)}`;

/** Slack beyond the health timeout: for a last probe and the end of the log. */
const readySlackMs = 10_000;

export function taskKind(options: TaskKindOptions): ActorKind {
  const { paths, logs, environments, clock, logger, prepareHost, probe, gone, watchHealth } = options;
  const children: Children = new Map();
  const tellOthers = (id: string) => (pids: number[]) => {
    const named = programNames(pids).map((name, at) => `${name} (${pids[at]})`);
    const message = `task ${id}: with its process, what that has started is ended, ${named.join(', ')}: mounts that it serves, as FUSE daemons do, are dead. restart.keep: children leaves it`;
    logger.warn({ task: id, pids }, message);
  };
  return {
    machine: taskMachine,
    migrations: taskMigrations,
    begin: (address) => ({ node: nodeOf(address) }),
    topic: (address) => tasksTopic(nodeOf(address)),
    effects: {
      spawnProcess: {
        async run({
          input: { spec, run, previous, kept },
          signal,
        }: EffectCall<{ spec: TaskSpec; run: TaskRun; previous: ProcessIdentity | null; kept?: string[] }>) {
          const others = tellOthers(spec.id);
          await endProcesses(paths, clock, { id: spec.id, known: previous, except: run, kept, others, signal });
          await logs.bound(spec.id);
          await prepareHost(spec);
          if (spec.socket !== undefined) return { ...run, process: null, socketPath: spec.socket };
          const spawned = await spawnRun({ paths, children, environments }, { spec, run, signal });
          return kept ? { ...spawned, kept: await livingRuns(taskMark(paths, spec.id), kept) } : spawned;
        },
      },
      awaitReady: {
        deadlineMs: ({ spec }: { spec: TaskSpec }) => spec.healthTimeoutMs + readySlackMs,
        run: ({ input, signal }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun }>) =>
          awaitReady({ paths, clock, probe, environments }, { ...input, signal }),
      },
      watchProcess: {
        deadlineMs: Number.POSITIVE_INFINITY,
        run({
          input: { spec, spawned, withTail },
          signal,
        }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }>) {
          const { process } = spawned;
          if (process === null) return untilAborted(signal); // run by somebody else: there is nothing to watch
          return watchProcess(
            { logs, clock, children, environments },
            { spec, spawned: { ...spawned, process }, withTail, signal },
          );
        },
      },
      watchHealth: {
        deadlineMs: 'loop',
        run({ input, signal, send, recovered }: EffectCall<{ instances: PluginKey[] }>) {
          const tell = (health: TaskHealth): void => send({ type: 'health.changed', health });
          watchHealth(input.instances, { signal, wereThere: recovered }, tell);
          return untilAborted(signal);
        },
      },
      endProcesses: {
        async run({
          input: { spec, registered, process, kept, isFailed },
          signal,
        }: EffectCall<{
          spec: TaskSpec;
          registered: Registered | null;
          process: ProcessIdentity | null;
          kept?: string[];
          isFailed?: boolean;
        }>) {
          const { types, allocId } = registered ?? { types: [], allocId: '' };
          await Promise.all(types.map((type) => gone({ type, name: spec.plugin, allocId }, signal)));
          signal.throwIfAborted();
          const isStopped = registered !== null && !isFailed;
          const others = isStopped ? {} : { others: tellOthers(spec.id) };
          await endProcesses(paths, clock, { id: spec.id, known: process, kept, ...others, signal });
          children.delete(spec.id);
        },
      },
    },
  };
}
