/** The task machine, bound to what it does on this host. */
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
import type { ActorKind, EffectCall, Migration } from '../engine/effects/effects.js';
import { awaitReady, type ProbePlugin } from './await-ready.js';
import { endProcesses } from './end-processes.js';
import type { TaskPaths } from './paths.js';
import { type Children, spawnRun } from './spawn.js';
import type { TaskLogs } from './task-logs.js';
import { watchProcess } from './watch-process.js';

export interface TaskKindOptions {
  paths: TaskPaths;
  logs: TaskLogs;
  clock: Clock;
  probe: ProbePlugin;
  /** What has to be so on this host before its process is spawned. */
  prepareHost(spec: TaskSpec): Promise<void> | undefined;
  /** Resolves when an instance that was deregistered has shut down. */
  gone(instance: PluginKey, signal: AbortSignal): Promise<void>;
  /** Tells how the instances are, taken together, whenever that changes. */
  watchHealth(
    instances: PluginKey[],
    options: { signal: AbortSignal; wereThere: boolean },
    tell: (health: TaskHealth) => void,
  ): void;
}

export const tasksTopic = (node: string): string => `tasks/${encodeURIComponent(node)}`;

/** Beyond the health timeout: for a last probe and the end of the log. */
const readySlackMs = 10_000;

export function taskKind({ paths, logs, clock, prepareHost, probe, gone, watchHealth }: TaskKindOptions): ActorKind {
  const children: Children = new Map();
  return {
    machine: taskMachine,
    migrations: [healthKept],
    begin: (address) => ({ node: nodeOf(address) }),
    topic: (address) => tasksTopic(nodeOf(address)),
    effects: {
      spawnProcess: {
        async run({
          input: { spec, run, previous },
          signal,
        }: EffectCall<{ spec: TaskSpec; run: TaskRun; previous: ProcessIdentity | null }>) {
          await endProcesses(paths, clock, { id: spec.id, known: previous, except: run, signal });
          await logs.bound(spec.id);
          await prepareHost(spec);
          if (spec.socket !== undefined) return { ...run, process: null, socketPath: spec.socket };
          return spawnRun(paths, children, { spec, run, signal });
        },
      },
      awaitReady: {
        deadlineMs: ({ spec }: { spec: TaskSpec }) => spec.healthTimeoutMs + readySlackMs,
        run: ({ input, signal }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun }>) =>
          awaitReady(paths, clock, probe, { ...input, signal }),
      },
      watchProcess: {
        deadlineMs: Number.POSITIVE_INFINITY,
        run({
          input: { spec, spawned, withTail },
          signal,
        }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }>) {
          const { process } = spawned;
          if (process === null) return untilAborted(signal); // somebody else's: there is nothing to watch
          return watchProcess(logs, clock, children, { spec, spawned: { ...spawned, process }, withTail, signal });
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
          input: { spec, registered, process },
          signal,
        }: EffectCall<{ spec: TaskSpec; registered: Registered | null; process: ProcessIdentity | null }>) {
          const { types, allocId } = registered ?? { types: [], allocId: '' };
          await Promise.all(types.map((type) => gone({ type, name: spec.id, allocId }, signal)));
          signal.throwIfAborted();
          await endProcesses(paths, clock, { id: spec.id, known: process, signal });
          children.delete(spec.id);
        },
      },
    },
  };
}

/** Version 2 follows the health of a running task's plugin; one that runs was healthy when that began. */
export const healthKept: Migration = {
  name: 'health is kept',
  from: '1',
  to: '2',
  migrate: ({ context, ...snapshot }) => ({
    ...snapshot,
    context: { ...context, health: snapshot.value === 'running' ? { healthy: true, description: 'ready' } : null },
  }),
};
