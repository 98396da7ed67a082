/** Context of a task: names of runs, ends that count, messages to plugins. Pure. */
import { pluginAddress, pluginsAddress } from '../kit/addresses.js';
import type { MessageParams, Stamped } from '../kit/host.js';
import type { PluginKey, ProcessEnd, SpawnedRun, TaskContext, TaskRun, TaskSpec, TaskType } from './task-types.js';

/** Plugin types that a task's process serves. */
export const pluginTypes: Record<TaskType, readonly string[]> = {
  node: ['csi-node'],
  controller: ['csi-controller'],
  monolith: ['csi-controller', 'csi-node'],
};

export const mustSpec = (context: TaskContext): TaskSpec => {
  if (!context.spec) throw new Error('the task has no spec yet');
  return context.spec;
};

export const mustRun = (context: TaskContext): TaskRun => {
  if (!context.run) throw new Error('the task has no run yet');
  return context.run;
};

export const mustSpawned = (context: TaskContext): SpawnedRun => {
  if (!context.spawned) throw new Error('nothing was spawned for the task yet');
  return context.spawned;
};

/** Names in a broadcast. */
export const namesOf = (context: TaskContext): { id: string; plugin?: string } => {
  const { id, plugin } = mustSpec(context);
  return plugin === id ? { id } : { id, plugin };
};

/** Short enough for a socket path, and never the same twice. */
export const newRun = (id: string, { at, random }: Stamped): TaskRun => {
  const suffix = Math.floor(random * 36 ** 8)
    .toString(36)
    .padStart(8, '0');
  const allocId = `${id}-${suffix}`;
  return { allocId, token: `${allocId}.${at.toString(36)}` };
};

/** Tokens of the runs whose children stay when the process ends. */
export function keptRuns({ spec, spawned, kept = [] }: TaskContext): string[] {
  if (spec?.restart.keep !== 'children') return [];
  return spawned?.process && !kept.includes(spawned.token) ? [...kept, spawned.token] : kept;
}

/** The same as part of a record, or of the input of an effect: nothing if there are none. */
export function keeping(context: TaskContext): Pick<TaskContext, 'kept'> {
  const kept = keptRuns(context);
  if (kept.length > 0) return { kept };
  return context.kept ? { kept: undefined } : {};
}

export const endsInWindow = (context: TaskContext, nowMs: number): number[] =>
  context.endedAtMs.filter((endedAt) => endedAt > nowMs - mustSpec(context).restart.windowMs);

/** Instances that the plugin of the task is registered as. */
export const registeredInstances = ({ registered, spec }: TaskContext): PluginKey[] =>
  (registered?.types ?? []).map((type) => ({ type, name: spec?.plugin ?? '', allocId: registered?.allocId ?? '' }));

/** @param dependents known users of the plugin */
export const deregistrations = (context: TaskContext, dependents?: string[]): MessageParams[] =>
  registeredInstances(context).map(({ type, name, allocId }) => ({
    to: pluginsAddress(context.node, type, name),
    event: { type: 'plugins.deregister', allocId, ...(dependents && { dependents }) },
  }));

/** Messages to the instances of a process that is gone or being ended: they are not healthy any more. */
export const losses = (context: TaskContext, description: string): MessageParams[] =>
  context.spawned?.process
    ? registeredInstances(context).map(({ type, name, allocId }) => ({
        to: pluginAddress(context.node, type, name, allocId),
        event: { type: 'plugin.lost', description },
      }))
    : [];

/** New instances are registered before the dead ones are deregistered: no other one is promoted in between. */
export const registrations = (context: TaskContext): MessageParams[] => {
  const { plugin, type, stagePublishBaseDir, scope, controllers } = mustSpec(context);
  const { allocId, socketPath } = mustSpawned(context);
  const version = context.ready?.vendorVersion;
  const options = {
    ...(stagePublishBaseDir && { stagePublishBaseDir }),
    ...(scope && { scope }),
    ...(controllers && { controllers }),
  };
  const more = {
    ...(version && { version }),
    ...(Object.keys(options).length > 0 && { options }),
  };
  const added = pluginTypes[type].map((pluginType) => ({
    to: pluginsAddress(context.node, pluginType, plugin),
    event: {
      type: 'plugins.register',
      info: { type: pluginType, name: plugin, allocId, connection: { socketPath }, ...more },
    },
  }));
  return [...added, ...deregistrations(context)];
};

const howEnded = ({ code, signal }: ProcessEnd): string => {
  if (signal !== undefined) return `the process was ended by ${signal}`;
  return code === undefined ? 'the process is gone' : `the process exited with code ${code}`;
};

/** Reason of a task that has failed because it ended too often. */
export const limitText = (context: TaskContext): string => {
  const { maxRestarts, windowMs } = mustSpec(context).restart;
  const often =
    maxRestarts === 0 ? 'no restart is allowed' : `it ended more than ${maxRestarts} times within ${windowMs} ms`;
  return `the limit of restarts is reached, ${often}; the last time: ${context.reason ?? 'unknown'}`;
};

export const exitText = (end: ProcessEnd): string =>
  end.tail === undefined ? howEnded(end) : `${howEnded(end)}; end of its log:\n${end.tail}`;
