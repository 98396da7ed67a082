/** API of nodes: their reports, and the fencing and removal of lost nodes. */
import type { FastifyInstance } from 'fastify';
import type { NodeStatus, NodeReport as Report, UnstagedReport } from '../nodes/node-manager.js';
import type { VolumeKeyInput } from '../requests/fields.js';
import type { Runtime } from '../runtime/runtime.js';
import { textIn } from './requests.js';

/** One node in the answer of `GET /v1/nodes`. */
export type NodeReport = NodeStatus;

interface OfNode {
  Params: { id: string };
}

interface Unstaged extends UnstagedReport {
  volume: VolumeKeyInput;
}

export function serveNodes(server: FastifyInstance, { nodes }: Runtime): void {
  server.get('/v1/nodes', (): Promise<NodeReport[]> => nodes.list());
  server.get<OfNode>('/v1/nodes/:id', ({ params: { id } }): Promise<NodeReport> => nodes.status(id));
  // The type of the body is unchecked here: the runtime validates it.
  server.post<OfNode & { Body: Pick<Report, 'plugins'> }>(
    '/v1/nodes/:id/report',
    async ({ params: { id }, body }, reply) => {
      await nodes.report({ ...body, id });
      return reply.code(204).send();
    },
  );
  server.post<OfNode>('/v1/nodes/:id/fence', async ({ params: { id }, body }, reply) => {
    await nodes.fence(id, textIn(body, 'reason'));
    return reply.code(204).send();
  });
  for (const request of ['down', 'remove'] as const) {
    server.post<OfNode>(`/v1/nodes/:id/${request}`, async ({ params: { id } }, reply) => {
      await nodes[request](id);
      return reply.code(204).send();
    });
  }
  server.post<OfNode & { Body: Unstaged }>('/v1/nodes/:id/unstaged', async ({ params: { id }, body }, reply) => {
    const { volume, ...report } = body;
    await nodes.reportUnstaged(id, volume, report);
    return reply.code(204).send();
  });
}
