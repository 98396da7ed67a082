/** What happens, in words for a person: one line each. */
import type { NodeInfo } from '../../machines/plugin/plugin.js';
import type { PluginEvent } from '../registry/plugin-events.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { TaskStatus, TaskUpdate } from '../tasks/task-supervisor.js';

/** Of an event, for the beginning of its line. */
export const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 19);

export function describePluginEvent(event: PluginEvent): string {
  const { at, kind, info, healthy, description, before, dependents } = event;
  const plugin = pluginAt(at, info);
  switch (kind) {
    case 'health':
      return `${plugin}: ${healthy ? 'healthy' : 'unhealthy'}: ${description}`;
    case 'node-info':
      return `${plugin}: on ${describeNode(event)}${before ? `; before, on ${describeNode(before)}` : ''}`;
    case 'deregistered':
      return `${plugin}: deregistered ${info.allocId}${dependents ? `, still used by ${dependents.join(', ')}` : ''}`;
    case 'promoted':
      return `${plugin}: ${info.allocId} is active now`;
    default:
      return `${plugin}: ${kind} ${info.allocId}`;
  }
}

const pluginAt = (at: number, { name, type }: PluginEvent['info']): string => `${timeOf(at)} plugin ${name} (${type})`;

function describeNode({ nodeId, topology, maxVolumes }: NodeInfo): string {
  const places = Object.entries(topology ?? {}).map(([key, value]) => `${key}=${value}`);
  const parts = [...places, ...(maxVolumes === undefined ? [] : [`at most ${maxVolumes} volumes`])];
  return `node ${nodeId ?? 'unnamed'}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

/**
 * Describes what happens to plugins and to the tasks that run them, each in its order: why one is unhealthy, which its
 * instances and its task all say, is told once.
 */
export function pluginTellers(): { plugin(event: PluginEvent): string; task(update: TaskUpdate): string } {
  /** By name: why it is unhealthy, as it was told last. */
  const told = new Map<string, string>();
  const isTold = (name: string, reason: string): boolean => {
    const before = told.get(name);
    told.set(name, reason);
    return before === reason;
  };
  const describeUpdate = taskTeller();
  return {
    plugin: (event) => {
      const { at, kind, info, healthy, description = '' } = event;
      if (kind === 'registered' || healthy) told.delete(info.name);
      const isRepeated = kind === 'health' && !healthy && isTold(info.name, description);
      return isRepeated ? `${pluginAt(at, info)}: unhealthy too` : describePluginEvent(event);
    },
    task: (update) => {
      const { at, change } = update;
      const line = describeUpdate(update);
      const isRepeated = change.type === 'unhealthy' && isTold(change.id, change.reason);
      return isRepeated ? `${timeOf(at)} task ${change.id}: unhealthy too` : line;
    },
  };
}

/** Describes what happens to tasks, in its order: of a reason that was told right before, only what happened. */
function taskTeller(): (update: TaskUpdate) => string {
  const told = new Map<string, string>();
  return ({ at, change, ...update }) => {
    const reason = 'reason' in change ? change.reason : undefined;
    const before = told.get(change.id);
    const isTold = reason !== undefined && before !== undefined && reason.endsWith(before);
    if (reason === undefined) told.delete(change.id);
    else told.set(change.id, reason);
    const inShort = isTold ? { ...change, reason: partsOf(reason).what } : change;
    return describeTaskUpdate({ ...update, at, change: inShort });
  };
}

/** What happened, and what the process had said by then: the end of its log, where a reason has it. */
export function partsOf(reason: string): { what: string; said: string[] } {
  const [what = '', log] = reason.split(/;? ?end of its log:\n/);
  const said = log === undefined || log === '(it wrote nothing)' ? [] : log.trimEnd().split('\n');
  return { what, said };
}

/** The line that says most of why a process ended: of a Go program that above its stacks, else the last one. */
export function tellingLine(said: string[]): string | undefined {
  const isReason = (line: string): boolean => /^(panic|fatal error): /.test(line);
  const stacksAt = said.findIndex((line) => /^goroutine \d+ \[/.test(line));
  const above = said.slice(0, Math.max(stacksAt, 0)).filter((line) => line.trim() !== '');
  return above.findLast(isReason) ?? above.at(-1) ?? said.at(-1);
}

/** Why a task is as it is, with the end of its log where it has that. */
export const reasonOf = ({ state, spec, reason, healthy, description }: TaskStatus): string | undefined => {
  if (state === 'waiting' && spec.socket !== undefined) return `for an answer at ${spec.socket}`;
  return reason ?? (healthy === false ? description : undefined);
};

export function describeTaskUpdate({ at, change }: TaskUpdate): string {
  const task = `${timeOf(at)} task ${change.id}`;
  switch (change.type) {
    case 'started':
      return `${task}: process started for ${change.allocId}`;
    case 'healthy':
      return `${task}: ${change.allocId} answers`;
    case 'exited': {
      const { code, signal } = change.end;
      return `${task}: process of ${change.allocId} ended${signal ? ` by ${signal}` : code === undefined ? '' : ` with code ${code}`}`;
    }
    case 'stopped':
    case 'removed':
      return `${task}: ${change.type}`;
    default:
      return `${task}: ${change.type}: ${change.reason}`;
  }
}

/** The one-line summary of a plugin's state as an earlier agent has left it: it was not looked at since. */
export const describeStatus = ({ info, state, description }: PluginStatus): string =>
  `plugin ${info.name} (${info.type}): ${state}: ${description}`;

/** What an instance says of itself when it was deregistered, which was told already, is no news of its health. */
export const isLastWord = ({ kind, healthy, description }: PluginEvent): boolean =>
  kind === 'health' && !healthy && description === 'shut down';

/** The one-line summary of a task that an earlier agent has left. @param lives whether its process was found */
export function describeTask(task: TaskStatus, lives: boolean): string {
  const { id, state, spec, pid } = task;
  const reason = reasonOf(task);
  if (state === 'running' && spec.socket !== undefined) return `task ${id}: running, by somebody else`;
  if (state === 'running')
    return `task ${id}: ${lives ? 'running' : 'was running'}, pid ${pid}${lives ? ', found again' : ''}`;
  return `task ${id}: ${state}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The one-line summary of a task as a drain has left it. */
export const describeAtEnd = (task: TaskStatus): string =>
  task.state === 'running' && task.spec.socket === undefined
    ? `task ${task.id}: not stopped, pid ${task.pid}`
    : describeTask(task, false);
