/** Describes events and states of plugins and tasks for a person, one line each. */
import type { NodeInfo } from '../../machines/plugin/plugin.js';
import type { PluginEvent } from '../registry/plugin-events.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { TaskStatus, TaskUpdate } from '../tasks/task-supervisor.js';

/** Time of day (UTC) of an event, for the beginning of a line. */
export const timeOfDay = (at: number): string => new Date(at).toISOString().slice(11, 19);

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

const pluginAt = (at: number, { name, type }: PluginEvent['info']): string =>
  `${timeOfDay(at)} plugin ${name} (${type})`;

function describeNode({ nodeId, topology, maxVolumes }: NodeInfo): string {
  const places = Object.entries(topology ?? {}).map(([key, value]) => `${key}=${value}`);
  const parts = [...places, ...(maxVolumes === undefined ? [] : [`at most ${maxVolumes} volumes`])];
  return `node ${nodeId ?? 'unnamed'}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

/**
 * Describes events of plugins and of the tasks that run them, in order. A task and all its instances report the same
 * reason to be unhealthy: the reason is printed once.
 */
export function pluginTellers(): { plugin(event: PluginEvent): string; task(update: TaskUpdate): string } {
  /** Reason to be unhealthy that was printed last, by name. */
  const described = new Map<string, string>();
  const isTold = (name: string, reason: string): boolean => {
    const before = described.get(name);
    described.set(name, reason);
    return before === reason;
  };
  const describeUpdate = taskTeller();
  return {
    plugin: (event) => {
      const { at, kind, info, healthy, description = '' } = event;
      if (kind === 'registered' || healthy) described.delete(info.name);
      const isRepeated = kind === 'health' && !healthy && isTold(info.name, description);
      return isRepeated ? `${pluginAt(at, info)}: unhealthy too` : describePluginEvent(event);
    },
    task: (update) => {
      const { at, change } = update;
      const line = describeUpdate(update);
      const isRepeated = change.type === 'unhealthy' && isTold(change.plugin ?? change.id, change.reason);
      return isRepeated ? `${timeOfDay(at)} task ${change.id}: unhealthy too` : line;
    },
  };
}

/** Describes events of tasks, in order. If the reason was printed right before, leaves out the end of the log. */
function taskTeller(): (update: TaskUpdate) => string {
  const described = new Map<string, string>();
  return ({ at, change, ...update }) => {
    const reason = 'reason' in change ? change.reason : undefined;
    const before = described.get(change.id);
    const isTold = reason !== undefined && before !== undefined && reason.endsWith(before);
    if (reason === undefined) described.delete(change.id);
    else described.set(change.id, reason);
    const inShort = isTold ? { ...change, reason: partsOf(reason).what } : change;
    return describeTaskUpdate({ ...update, at, change: inShort });
  };
}

/** Splits a reason into what happened and the lines of the log that it ends with, if any. */
export function partsOf(reason: string): { what: string; said: string[] } {
  const [what = '', log] = reason.split(/;? ?end of its log:\n/);
  const said = log === undefined || log === '(it wrote nothing)' ? [] : log.trimEnd().split('\n');
  return { what, said };
}

/** Finds the line that best explains why a process ended: the panic of a Go program above its stacks, else the last line. */
export function tellingLine(said: string[]): string | undefined {
  const isReason = (line: string): boolean => /^(panic|fatal error): /.test(line);
  const stacksAt = said.findIndex((line) => /^goroutine \d+ \[/.test(line));
  const above = said.slice(0, Math.max(stacksAt, 0)).filter((line) => line.trim() !== '');
  return above.findLast(isReason) ?? above.at(-1) ?? said.at(-1);
}

/** Reason for a task's state, with the end of its log if it has one. */
export const taskReason = ({ state, spec, reason, healthy, description }: TaskStatus): string | undefined => {
  if (state === 'waiting' && spec.socket !== undefined) return `for an answer at ${spec.socket}`;
  return reason ?? (healthy === false ? description : undefined);
};

export function describeTaskUpdate({ at, change }: TaskUpdate): string {
  const task = `${timeOfDay(at)} task ${change.id}`;
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

/** Summarizes a plugin's state as an earlier agent left it. This agent has not checked it yet. */
export const describeStatus = ({ info, state, description }: PluginStatus): string =>
  `plugin ${info.name} (${info.type}): ${state}: ${description}`;

/** Recognizes the health event of an instance that was just deregistered: no news, as that event was printed. */
export const isLastWord = ({ kind, healthy, description }: PluginEvent): boolean =>
  kind === 'health' && !healthy && description === 'shut down';

/** Summarizes a task that an earlier agent left. @param lives whether its process was found */
export function describeTask(task: TaskStatus, lives: boolean): string {
  const { id, state, spec, pid } = task;
  const reason = taskReason(task);
  if (state === 'running' && spec.socket !== undefined) return `task ${id}: running, not started by Stagecraft`;
  if (state === 'running')
    return `task ${id}: ${lives ? 'running' : 'was running'}, pid ${pid}${lives ? ', found again' : ''}`;
  return `task ${id}: ${state}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Summarizes a task at the end of a drain. */
export const describeAtEnd = (task: TaskStatus): string =>
  task.state === 'running' && task.spec.socket === undefined
    ? `task ${task.id}: not stopped, pid ${task.pid}`
    : describeTask(task, false);
