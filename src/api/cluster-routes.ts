/** Request about all agents on one store. */
import { z } from 'zod';
import type { AgentPlugin, AgentStatus, OwnerStatus } from '../runtime/cluster-overview.js';
import { type FieldsOf, moment } from './fields.js';
import { paths } from './paths.js';
import { route } from './route.js';

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
