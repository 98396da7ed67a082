/** Waits for the end of a process, our own child or one that an earlier incarnation of this runtime has started. */
import type { ProcessEnd, SpawnedRun, TaskSpec } from '../../machines/task.js';
import { type Clock, pause } from '../engine/clock.js';
import { tailOf } from './log-tail.js';
import { logPathOf, type TaskPaths } from './paths.js';
import { isAlive } from './processes.js';
import type { Children } from './spawn.js';

export interface WatchRequest {
  spec: TaskSpec;
  spawned: SpawnedRun;
  /** Whether the end of the log belongs to how it ended. */
  withTail: boolean;
  signal: AbortSignal;
}

/** A process that is not our child can only be looked at. */
const lookEveryMs = 250;

export async function watchProcess(
  paths: TaskPaths,
  clock: Clock,
  children: Children,
  { spec, spawned, withTail, signal }: WatchRequest,
): Promise<ProcessEnd> {
  const child = children.get(spec.id);
  const ended = child?.token === spawned.token ? child.ended : undefined;
  const look = new AbortController();
  void ended?.then(() => look.abort());
  // Once for all looks: a signal keeps count of every one that was made of it.
  const wake = AbortSignal.any([signal, look.signal]);
  while (isAlive(spawned.process) && !signal.aborted) await pause(clock, lookEveryMs, wake);
  signal.throwIfAborted();
  const end = (await ended) ?? {};
  return withTail ? { ...end, tail: tailOf(logPathOf(paths, spec.id)) } : end;
}
