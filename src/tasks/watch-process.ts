/**
 * Waits for the end of a process, a child or one that an earlier runtime has started, and keeps its log bounded
 * meanwhile.
 */
import type { OwnRun, ProcessEnd, TaskSpec } from '../../machines/task/task-types.js';
import { untilAborted } from '../abort.js';
import { type Clock, pause } from '../engine/clock.js';
import type { TaskEnvironments } from './environments.js';
import { tailOf } from './log-tail.js';
import { isAlive } from './processes.js';
import type { Children } from './spawn.js';
import type { TaskLogs } from './task-logs.js';

interface WatchRequest {
  spec: TaskSpec;
  spawned: OwnRun;
  /** Whether the end of the log explains the end of the process. */
  withTail: boolean;
  signal: AbortSignal;
}

/** Interval of looks at a process that is no child. */
const lookEveryMs = 250;

interface WatchPorts {
  logs: TaskLogs;
  clock: Clock;
  children: Children;
  environments: Pick<TaskEnvironments, 'knownValues'>;
}

export async function watchProcess(
  { logs, clock, children, environments }: WatchPorts,
  { spec, spawned, withTail, signal }: WatchRequest,
): Promise<ProcessEnd> {
  const child = children.get(spec.id);
  const ended = child?.token === spawned.token ? child.ended : undefined;
  const over = new AbortController();
  const watched = AbortSignal.any([signal, over.signal]);
  const logged = logs.watch(spec.id, spawned.process, watched);
  void ended?.then(() => over.abort());
  while (isAlive(spawned.process) && !signal.aborted) await pause(clock, lookEveryMs, watched);
  over.abort();
  await logged;
  const end = (await Promise.race([ended, untilAborted(signal)])) ?? {};
  signal.throwIfAborted();
  return withTail ? { ...end, tail: tailOf(logs.pathOf(spec.id), await environments.knownValues(spec, signal)) } : end;
}
