/** The task machine, bound to what it does on this host. */
import { nodeOf } from '../../machines/addresses.js';
import {
  type ProcessIdentity,
  type Registered,
  type SpawnedRun,
  type TaskRun,
  type TaskSpec,
  taskMachine,
} from '../../machines/task.js';
import type { Clock } from '../engine/clock.js';
import type { ActorKind, EffectCall } from '../engine/effects.js';
import { awaitReady, type ProbePlugin } from './await-ready.js';
import { endProcesses } from './end-processes.js';
import type { TaskPaths } from './paths.js';
import { type Children, spawnRun } from './spawn.js';
import { watchProcess } from './watch-process.js';

export interface TaskKindOptions {
  paths: TaskPaths;
  clock: Clock;
  probe: ProbePlugin;
  /** Resolves when an instance that was deregistered has shut down. */
  gone(instance: { type: string; name: string; allocId: string }, signal: AbortSignal): Promise<void>;
}

export const tasksTopic = (node: string): string => `tasks/${encodeURIComponent(node)}`;

/** Beyond the health timeout: for a last probe and the end of the log. */
const readySlackMs = 10_000;

export function taskKind({ paths, clock, probe, gone }: TaskKindOptions): ActorKind {
  const children: Children = new Map();
  return {
    machine: taskMachine,
    begin: (address) => ({ node: nodeOf(address) }),
    topic: (address) => tasksTopic(nodeOf(address)),
    effects: {
      spawnProcess: {
        async run({
          input: { spec, run, previous },
          signal,
        }: EffectCall<{ spec: TaskSpec; run: TaskRun; previous: ProcessIdentity | null }>) {
          await endProcesses(paths, clock, { id: spec.id, known: previous, except: run, signal });
          signal.throwIfAborted(); // whoever has left the state looks for processes right now
          return spawnRun(paths, children, { spec, run });
        },
      },
      awaitReady: {
        deadlineMs: ({ spec }: { spec: TaskSpec }) => spec.healthTimeoutMs + readySlackMs,
        run: ({ input, signal }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun }>) =>
          awaitReady(paths, clock, probe, { ...input, signal }),
      },
      watchProcess: {
        deadlineMs: Number.POSITIVE_INFINITY,
        run: ({ input, signal }: EffectCall<{ spec: TaskSpec; spawned: SpawnedRun; withTail: boolean }>) =>
          watchProcess(paths, clock, children, { ...input, signal }),
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
