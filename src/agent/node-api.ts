/** The part of the agent's API that is about nodes: what they have reported, and what becomes of those that do not. */
import type { FastifyInstance } from 'fastify';
import type { Runtime } from '../runtime.js';
import type { NodeStatus, NodeReport as Report } from '../volumes/node-manager.js';

/** What `GET /v1/nodes` tells of each node. */
export type NodeReport = NodeStatus;

type OfNode = { Params: { id: string } };

export function serveNodes(server: FastifyInstance, { nodes }: Runtime): void {
  server.get<OfNode>('/v1/nodes/:id', ({ params: { id } }): Promise<NodeReport> => nodes.status(id));
  server.post<OfNode & { Body: Pick<Report, 'plugins'> }>(
    '/v1/nodes/:id/report',
    async ({ params: { id }, body }, reply) => {
      await nodes.report({ ...body, id });
      return reply.code(204).send();
    },
  );
}
