/** Requests about the agent itself, its plugins and its tasks, and about all agents on one store. */
import { z } from 'zod';
import type { PluginInfo } from '../../machines/plugin/plugin.js';
import type { PluginStatus } from '../registry/plugin-statuses.js';
import type { AgentPlugin, AgentStatus, OwnerStatus } from '../runtime/cluster-overview.js';
import type { LogPart } from '../tasks/task-logs.js';
import type { TaskStatus } from '../tasks/task-supervisor.js';
import { type FieldsOf, forceBody, moment, texts } from './fields.js';
import { paths } from './paths.js';
import { route, timeoutQuery } from './route.js';

export const agentReport = z
  .object({
    version: z.string(),
    nodeId: z.string(),
    dataDir: z.string(),
    pid: z.int(),
    store: z.object({
      kind: z.enum(['lmdb', 'redis']),
      available: z.boolean(),
      since: moment.exactOptional().describe('Since when the store has not answered.'),
    }),
    leads: z.boolean().describe('Whether this agent works on volumes and nodes.'),
    reason: z.string().exactOptional().describe('Names the agent that does.'),
    isLeaderSilent: z.literal(true).exactOptional().describe('That agent is silent, and another takes over soon.'),
  })
  .meta({ id: 'Agent' });

const ok = z.object({ status: z.string().describe('ok') });

export const agentRoutes = {
  status: route(paths.agent.status, { summary: 'The agent and its store', answer: agentReport }),
  drain: route(paths.agent.drain, {
    summary: 'Releases all allocs, stops the plugin processes in order, then the agent',
  }),
  inspector: route(paths.agent.inspector, {
    summary: 'Link to the inspector page, with its token',
    answer: z.object({ url: z.string().exactOptional().describe('Absent: the page is not served.') }),
  }),
  openapi: route(paths.agent.openapi, {
    summary: 'This document',
    answer: z.custom<object>().meta({ type: 'object' }),
  }),
  metrics: route(paths.agent.metrics, {
    summary: 'Metrics for Prometheus: docs/metrics.md',
    answer: z.string(),
    contentType: 'text/plain',
  }),
  health: route(paths.agent.health, { summary: 'Whether the process answers', answer: ok }),
  ready: route(paths.agent.ready, { summary: 'Whether the store answers', answer: ok }),
};

const pluginInfo = z.object({
  type: z.string(),
  name: z.string(),
  allocId: z.string(),
  version: z.string().exactOptional(),
  connection: z.object({ socketPath: z.string() }),
  options: texts.exactOptional(),
} satisfies FieldsOf<PluginInfo>);

const registration = z.strictObject({
  type: z.string().describe('csi-controller or csi-node.'),
  name: z.string().describe('Name that volumes give to the plugin.'),
  allocId: z.string().describe('Names this instance among those of the same plugin.'),
  version: z.string().exactOptional(),
  connection: z.strictObject({ socketPath: z.string().describe('Absolute, on the host of the agent.') }),
  options: texts.exactOptional().describe('scope, controllers and stagePublishBaseDir, as those of a task.'),
});

export const pluginReport = z
  .object({
    info: pluginInfo.describe('The active instance.'),
    state: z.enum(['registering', 'fingerprinting', 'healthy', 'unhealthy', 'shutdown']),
    healthy: z.boolean(),
    description: z.string().describe('Reason of its health.'),
    fingerprint: z.object({
      pluginName: z.string().exactOptional(),
      vendorVersion: z.string().exactOptional(),
      capabilities: z.array(z.string()).optional().describe('Absent: not known yet.'),
      pluginCapabilities: z.array(z.string()).exactOptional(),
      nodeId: z.string().exactOptional(),
      maxVolumes: z.int().exactOptional(),
      topology: texts.exactOptional(),
      scope: z.enum(['shared', 'host']).exactOptional(),
    } satisfies FieldsOf<PluginStatus['fingerprint']>),
    checkedAt: moment.exactOptional().describe('End of the last check in this run of the agent.'),
    instances: z.int().describe('Number of instances of this name.'),
  } satisfies FieldsOf<PluginStatus & { instances: number }>)
  .meta({ id: 'Plugin' });

export const pluginRoutes = {
  list: route(paths.plugins.list, {
    summary: 'The active instance of each plugin',
    query: z.strictObject({ type: z.string().exactOptional(), name: z.string().exactOptional() }),
    answer: z.array(pluginReport),
  }),
  status: route(paths.plugins.status, {
    summary: 'The active instance of one plugin',
    query: timeoutQuery.extend({
      waitFor: z.enum(['registered', 'healthy']).exactOptional().describe('Answer once that is so.'),
    }),
    answer: pluginReport,
  }),
  register: route(paths.plugins.register, {
    summary: 'Registers an instance of a plugin that somebody else runs; the same again changes nothing',
    body: registration,
    bodyName: 'the plugin',
  }),
  deregister: route(paths.plugins.deregister, {
    summary: 'Forgets an instance of a plugin that somebody else runs; its process is left alone',
    body: z.strictObject({ allocId: z.string() }),
  }),
};

export const taskReport = z
  .object({
    id: z.string(),
    state: z.enum(['stopped', 'starting', 'waiting', 'running', 'backing-off', 'stopping', 'failed']),
    spec: z.object({
      id: z.string(),
      type: z.enum(['node', 'controller', 'monolith']),
      plugin: z.string().describe('Name that its plugin is registered under.'),
      command: z.array(z.string()).optional(),
      socket: z.string().optional(),
      env: z.array(z.string()).describe('Names alone: the values may be secrets.'),
      mountDir: z.string().optional(),
      stagePublishBaseDir: z.string().optional(),
      scope: z.enum(['shared', 'host']).optional(),
      controllers: z.enum(['any', 'one']).optional(),
      healthTimeoutMs: z.int(),
      restart: z.object({
        maxRestarts: z.int(),
        windowMs: z.int(),
        backoff: z.object({ initialMs: z.number(), maxMs: z.number() }),
      }),
    } satisfies FieldsOf<TaskStatus['spec']>),
    allocId: z.string().exactOptional().describe('Of the present run; its plugins are registered with it.'),
    pid: z.int().exactOptional(),
    pluginName: z.string().exactOptional().describe('Name that the driver gives itself.'),
    healthy: z.boolean().exactOptional(),
    description: z.string().exactOptional(),
    logPath: z.string().exactOptional(),
    reason: z.string().exactOptional().describe('Why the last run ended, if that was not asked for.'),
    nextStartAtMs: moment.exactOptional(),
  } satisfies FieldsOf<TaskStatus>)
  .meta({ id: 'Task' });

export const taskRoutes = {
  list: route(paths.tasks.list, { summary: 'The plugin processes of this node', answer: z.array(taskReport) }),
  status: route(paths.tasks.status, { summary: 'One task', answer: taskReport }),
  logs: route(paths.tasks.logs, {
    summary: 'The last lines of its log, or the whole lines since a place in it',
    query: z.strictObject({
      lines: z.coerce.number<number>().int().exactOptional().describe('Default: 100.'),
      after: z.coerce.number<number>().int().exactOptional().describe('`next` of the answer before.'),
    }),
    answer: z.object({ text: z.string(), next: z.int() } satisfies FieldsOf<LogPart>).meta({ id: 'Log' }),
  }),
  stop: route(paths.tasks.stop, { summary: 'Stops the task, in order', body: forceBody }),
  remove: route(paths.tasks.remove, { summary: 'Stops and forgets the task', body: forceBody }),
  restart: route(paths.tasks.restart, { summary: 'Ends the process and starts it anew' }),
};

export type AgentReport = z.output<typeof agentReport>;
export type PluginReport = z.output<typeof pluginReport>;
export type TaskReport = z.output<typeof taskReport>;
export type LogReport = z.output<typeof taskRoutes.logs.answer>;
export type InspectorReport = z.output<typeof agentRoutes.inspector.answer>;

const silentSinceMs = moment.exactOptional().describe('Last sign of life. Absent: it is not away.');

const agent = z.object({
  nodeId: z.string(),
  host: z.string().describe('Name of its host.'),
  version: z.string(),
  level: z.int().exactOptional().describe('Level of what is stored that it reads. Absent: it is older than levels.'),
  startedAtMs: moment,
  isThis: z.boolean().describe('Whether it is the one that answers.'),
  ownsVolumes: z.boolean().describe('Whether it works on volumes.'),
  silentSinceMs,
  plugins: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      healthy: z.boolean(),
      trouble: z.string().exactOptional().describe("Why it can't be called."),
      driver: z.string().exactOptional().describe('Name that the driver gives itself.'),
      scope: z.enum(['shared', 'host']).exactOptional(),
    } satisfies FieldsOf<AgentPlugin>),
  ),
} satisfies FieldsOf<AgentStatus>);

const clusterReport = z
  .object({
    agents: z.array(agent),
    owner: z
      .object({
        nodeId: z.string(),
        sinceMs: moment,
        epoch: z.int().describe('Rises with each agent that takes over.'),
        silentSinceMs,
      } satisfies FieldsOf<OwnerStatus>)
      .exactOptional()
      .describe('The agent that works on volumes. Absent: none does now.'),
    tooOld: z
      .string()
      .exactOptional()
      .describe('Why this agent can never work on volumes: what is stored was written by a newer version.'),
    requestsUnderWay: z
      .int()
      .describe('Requests made at this agent that the owner, another one, has not answered yet.'),
  })
  .meta({ id: 'Cluster' });

export const clusterRoutes = {
  status: route(paths.cluster.status, {
    summary: 'All agents on the store, with their plugins, and the one that works on volumes',
    answer: clusterReport,
  }),
};

export type ClusterReport = z.output<typeof clusterReport>;
